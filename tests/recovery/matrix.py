"""The kill matrix: whoever is killed, whatever the job is doing, what comes out is the same.

    matrix P [PATTERN ...]      names are WHO-at-PHASE

A kill is aimed: processes are held in a superstep by the program itself, or what shows a phase from
outside is waited for: a file of a snapshot that appears, a process that is being restored.  Where
the phase was over before the kill, that is seen and the next superstep is taken.
"""
import random
import signal

from harness import *
from directories import Directories
import trials

SUPERSTEPS = 30
AT = 7  # the superstep of the (first) kill
WORDS = (SUPERSTEPS, "-i")
ATTEMPTS = 15
STAGING = b"BSPZERO_RESTORE="


def input_of_lines():
    """More than what is on its way at any time, in lines of all lengths."""
    generator = random.Random(7)
    return b"".join(bytes(generator.choices(b"abcdefgh ", k=generator.randrange(8000))) + b"\n"
                    for _ in range(SUPERSTEPS + 5))


INPUT = input_of_lines()


class Aim(trials.Aim):
    """One job and one victim."""

    def __init__(self, place, p, who, ballast):
        words = (*WORDS, "-m", ballast)
        super().__init__(place, p, words, Reference.of(p, *words, stdin=INPUT))
        self.who = who
        self.pid = {"rank 0": 0, "other rank": p - 1}.get(who, 0)

    def start(self):
        self.job = self.place.ticker(self.p, *self.words, stdin=INPUT)

    def victim(self, superstep):
        if self.who == "agent":
            return self.job.agent()
        if self.who == "bsprun":
            return self.job.os_pid
        return self.place.executed(self.pid, superstep)[-1]


# ---- Phases: each starts the job and kills the victim in that phase ------------------------------

def in_compute(aim):
    aim.place.hold(aim.pid, AT)
    aim.start()
    aim.wait_held(AT)
    aim.place.kill(aim.victim(AT))
    aim.place.release(aim.pid, AT)


def in_barrier(aim):
    """The victim waits in bsp_sync for another process; one that is alone, for the agent."""
    held = (aim.pid + 1) % aim.p
    aim.place.hold(held, AT)
    aim.start()
    aim.wait_held(AT)
    rank, agent = aim.place.executed(aim.pid, AT)[-1], aim.job.agent()
    if aim.p == 1:
        os.kill(agent, signal.SIGSTOP)
        aim.place.release(held, AT)
        aim.place.hold(held, AT + 1)  # so that it cannot have gone on
    wait_until(lambda: blocked_in_futex(rank), "the rank in bsp_sync")
    aim.place.kill(aim.victim(AT))
    send(agent, signal.SIGCONT)
    aim.place.release(held, AT + 1 if aim.p == 1 else AT)


def blocked_in_futex(os_pid):
    """Sleeps, and not to pass time: where the kernel tells what in, it is a futex."""
    if state_of(os_pid) != "S":
        return False
    try:
        with open(f"/proc/{os_pid}/syscall") as file:
            return file.read().split()[0] == "202"
    except (OSError, IndexError):
        return True


def snapshot_of(path, superstep):
    """Whether a path lies in a snapshot of that superstep."""
    return os.path.basename(os.path.dirname(path)).split(".")[0] == str(superstep)


def at_file(aim, wanted, missed):
    """Kills the victim when a file of a snapshot appears: wanted(path, superstep).  The agent
    stands still while it is looked whether the phase is over already: missed(path)."""
    aim.hold_all(AT)
    aim.start()
    aim.wait_held(AT)
    store = aim.place.store
    for superstep in range(AT + 1, AT + 1 + ATTEMPTS):
        with Directories(os.path.join(store, jobs(store)[0])) as directories:
            aim.hold_all(superstep)
            rank, agent = aim.victim(superstep - 1), aim.job.agent()
            aim.release_all(superstep - 1)
            path = directories.wait_for(lambda path: snapshot_of(path, superstep) and
                                    wanted(path, superstep), PATIENCE)
            check(path, "no file of snapshot", superstep)
            os.kill(agent, signal.SIGSTOP)
            hit = not missed(path)
            if hit:
                aim.place.kill(rank)
            send(agent, signal.SIGCONT)
        if hit:
            aim.release_all(superstep)
            return
        aim.wait_held(superstep)
    raise Failed("the phase was over each time before it could be hit")


def in_capture(aim):
    """The victim's image is being written, or at least the snapshot is not complete."""
    name = str(aim.pid)
    at_file(aim, lambda path, _: os.path.basename(path).split(".")[0] == name,
            lambda path: os.path.exists(os.path.join(os.path.dirname(path), "manifest")))


def in_commit(aim):
    """The manifest is being written, or has just been: either is a commit that must be coped with.
    """
    at_file(aim, lambda path, _: os.path.basename(path).startswith("manifest"), lambda path: False)


def being_restored(agent, pid):
    """The process that is to become the rank and still prepares for it."""
    for child in children_of(agent):
        for word in environment_of(child):
            if word.startswith(STAGING + b"%d:" % pid):
                return child
    return None


def in_restore(aim):
    """A first fault loses a rank and its frozen copy; while it is restored from its image, the
    victim is killed."""
    place = aim.place
    aim.hold_all(AT)
    aim.start()
    aim.wait_held(AT)
    agent = aim.job.agent()
    kill_copies(agent)
    place.kill(place.executed(aim.pid, AT)[-1])
    restored = wait_until(lambda: being_restored(agent, aim.pid), "a process that is restored")
    place.kill({"agent": agent, "bsprun": aim.job.os_pid}.get(aim.who, restored))
    aim.release_all(AT)


PHASES = {"compute": in_compute, "barrier": in_barrier, "capture": in_capture,
          "commit": in_commit, "restore": in_restore}
BALLAST = {"capture": 8, "restore": 8}  # MiB: so that it takes long enough to be seen


def after_bsprun(aim):
    """Nothing is left of the job, and it can be gone on with."""
    aim.job.wait(-signal.SIGKILL)
    wait_until(lambda: not marked(aim.place.mark), "the end of all processes", 10)
    check(aim.reference.out.startswith(aim.job.out()), "stdout until then", aim.job)
    job = aim.place.restart(stdin=INPUT)
    job.check_tail(aim.reference)


def trial(p, who, phase):
    with Place() as place:
        trials.try_it(Aim(place, p, who, BALLAST.get(phase, 0)), PHASES[phase],
                      after_bsprun if who == "bsprun" else None)


def cells(p):
    for who in ["rank 0", "other rank", "agent", "bsprun"]:
        for phase in PHASES:
            if p > 1 or who != "other rank":
                yield (f"{who.replace(' ', '-')}-at-{phase}",
                       lambda who=who, phase=phase: trial(p, who, phase))


if __name__ == "__main__":
    P = int(sys.argv.pop(1))
    main(cells(P), together=3)
