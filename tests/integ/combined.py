"""Options of bsprun in combinations that nobody thought of: programs of each kind, random options that are right each
alone, perhaps commands of bspctl and a fault.  A job ends with the right answer, or says in its messages why it does
not; it never hangs, and leaves nothing.

combined.py [SEED]: programs, options and faults come from the seed, which is printed; without one from the clock.
COMBINED_JOBS=N: so many jobs, by hand.  Each prints its own seed; COMBINED_ONLY=SEED runs that one.  COMBINED_FAULT=NAME:
that fault instead of the one that is drawn.
"""
import os
import random
import re
import signal
import time

from harness import BIN, BSPRUN, RSH, Failed, Job, bsprun, check, committed, expect, main, run, wait_until
from kills import chance, new_store, ranks_of, seed

OBJECTS = os.environ["INTEG_OBJECTS"]
CASES = os.environ["INTEG_MPI"]
BSPCTL = os.path.join(BIN, "bspctl")
JOBS = int(os.environ.get("COMBINED_JOBS", "12"))
ONLY = os.environ.get("COMBINED_ONLY")
FAULT = os.environ.get("COMBINED_FAULT")

P = 4
PROGRAMS = {"dataspace": [OBJECTS, "work", "120"], "supersteps": [OBJECTS, "steps", "30"], "messages": [CASES, "work", "60"]}
PAUSES = ("0", "2000", "8000")
PLACES = ([], ["--launcher", RSH, "--hosts", "h0:2,h1:2"], ["--launcher", RSH, "--hosts", "h0:1,h1:2,h2:1"],
          ["--launcher", RSH, "--hosts", "h0:2,h1:2,h2:2,h3:2"], ["--launcher", RSH, "--hosts", "h0:4,h1:4,h2:4"])
# What may be given to any job; of an option with several values one is drawn.
ANYWHERE = (("--map-by", "slot", "node"), ("--bind-to", "none", "core"), ("--balance", "auto", "off"), ("--encrypt",),
            ("--report",), ("-v",), ("-vv",), ("--oversubscribe",), ("--progress",), ("--dataspace-memory", "1M", "1G"),
            ("--heartbeat", "5", "20"), ("--spares", "0", "1"), ("--rejoin", "off", "1"), ("--load",),
            ("--timeout", "50"), ("--replicas", "1", "2", "0=2", "1-2=2"), ("--replica-log", "1M"), ("--replica-files", "allow"),
            ("--on-mismatch", "end", "continue", "rollback"), ("--precopy", "off", "auto"), ("--tag-output",))
SAVED = (("--every", "1", "2", "5", "0.01s", "0.1s", "auto"), ("--overhead", "1%", "50%"), ("--async", "auto", "on", "off"),
         ("--keep", "1", "3", "all"), ("--max-restarts", "1", "10"), ("--copies", "1", "2", "3"),
         ("--on-refuse", "continue", "stop"), ("--recover", "one", "all"), ("--mtbf", "10s", "300h"), ("--no-history",))
FAULTS = ("none", "rank", "agent", "stopped", "bsprun killed", "paused", "jolted", "one after another")
PAUSE = 0.7  # seconds, less than any time after which somebody is taken for lost
JOLTS = 40
JOLT = (0, 0.001, 0.01, 0.05, 0.2)
COMMANDS = ("save", "drain HOST", "remove HOST", "add HOST", "add HOST:2", "move PID HOST", "rebalance", "replicas K", "hosts",
            "stacks")
REFUSED = 2    # bad usage
STOPPED = 123  # after a snapshot
# Why a job with snapshots does not outlive a process.
IN_VAIN = r"before there was a snapshot|no restarts are left|reached the end of the job|after bsp_end"

wanted = {}


def answer(kind):
    """The output, in any order, of a job that nothing happens to."""
    if kind not in wanted:
        wanted[kind] = sorted(expect(bsprun("-np", P, *PROGRAMS[kind], "0"), 0, no_err=True).out.splitlines())
    return wanted[kind]


def drawn(draw, options, share):
    words = []
    for name, *values in options:
        if draw.random() < share:
            words += [name, draw.choice(values)] if values else [name]
    return words


class Case:
    """What one seed stands for."""

    def __init__(self, number):
        draw = random.Random(number)
        self.number, self.draw = number, draw
        self.kind = draw.choice(sorted(PROGRAMS))
        drawn_fault = draw.choice(FAULTS)
        self.fault = FAULT or drawn_fault
        self.store = new_store() if draw.random() < 0.75 or self.fault == "stopped" else None
        anywhere = [option for option in ANYWHERE if self.kind != "messages" or not option[0].startswith("--replica")]
        self.options = ["-np", str(P), *draw.choice(PLACES), *drawn(draw, anywhere, 0.12)]
        # Else few of the jobs whose options are drawn could be saved at the calls of replicas.
        if self.kind == "dataspace" and "--hosts" in self.options and "--replicas" not in self.options and draw.random() < 0.5:
            self.options += ["--replicas", "2"]
        if self.store:
            self.options += [f"--ckpt={self.store}", *drawn(draw, SAVED, 0.3)]
        self.program = [*PROGRAMS[self.kind], draw.choice(PAUSES)]
        self.after = draw.random() * 0.6
        self.tagged = "--tag-output" in self.options
        self.again = [] if "--replicas" in self.options else draw.choice(PLACES)
        self.commands = [self.drawn_command() for _ in range(draw.choice((0, 0, 1, 2, 4)))]

    def drawn_command(self):
        values = {"HOST": f"h{self.draw.randrange(5)}", "PID": str(self.draw.randrange(P)),
                  "K": self.draw.choice(("1", "2", "3", "0=2"))}
        words = re.sub("[A-Z]+", lambda name: values[name.group()], self.draw.choice(COMMANDS)).split()
        return (["--wait"] if self.draw.random() < 0.5 else []), words

    def command(self):
        return [BSPRUN, *self.options, *self.program]

    def __str__(self):
        told = "; ".join(" ".join([*wait, *words]) for wait, words in self.commands)
        return f"COMBINED_ONLY={self.number} {self.fault}: {' '.join(self.command())}{' | bspctl ' if told else ''}{told}"


def shown(case, text):
    lines = (re.sub(r"^\[\d+\] ?", "", line.rstrip("\r")) if case.tagged else line.rstrip("\r") for line in text.splitlines())
    return sorted(line for line in lines if re.match(r"(pid \d+: |token |round )", line))


def give_commands(case, job):
    """What is asked of a job is done, or is refused with a message."""
    for wait, words in case.commands:
        told = run([BSPCTL, *wait, str(job.os_pid), *words])
        check(told.status == 0 or (told.status == 1 and "bspctl: " in told.err), case, "\nbspctl", *words, "\n", told, "\n", job)


def victims_of(case, job):
    ranks = ranks_of(job, case.program[0])
    agents = [pid for pid, name in job.members().items() if name == "bspnode"]
    return {"none": [], "rank": ranks, "agent": agents, "stopped": [job.os_pid], "bsprun killed": [job.os_pid],
            "paused": [*agents, *ranks, job.os_pid], "jolted": [*agents, *ranks, job.os_pid], "one after another": ranks}[case.fault]


def signalled(victim, number):
    """False: it has ended."""
    try:
        os.kill(victim, number)
    except ProcessLookupError:
        return False
    return True


def jolt(case, job):
    """One process after another stands still for a moment: what happens elsewhere meanwhile happens first."""
    for _ in range(JOLTS):
        victims = victims_of(case, job)
        if job.is_over() or not victims:
            return
        victim = case.draw.choice(victims)
        if signalled(victim, signal.SIGSTOP):
            time.sleep(case.draw.choice(JOLT))
            signalled(victim, signal.SIGCONT)


def strike(case, job):
    """True: something has happened to the job that may end it."""
    end = time.monotonic() + case.after
    wait_until(lambda: job.is_over() or (ranks_of(job, case.program[0]) and time.monotonic() > end), "processes")
    give_commands(case, job)
    victims = [] if job.is_over() else victims_of(case, job)
    if not victims:
        return False
    if case.fault == "jolted":
        jolt(case, job)
        return False
    victim = case.draw.choice(victims)
    if case.fault == "paused":
        if signalled(victim, signal.SIGSTOP):
            time.sleep(PAUSE)
            signalled(victim, signal.SIGCONT)
        return False
    struck = signalled(victim, signal.SIGTERM if case.fault == "stopped" else signal.SIGKILL)
    if case.fault == "one after another":
        time.sleep(case.draw.random() * 0.3)
        left = victims_of(case, job)
        struck |= bool(left) and signalled(case.draw.choice(left), signal.SIGKILL)
    return struck


def started(command):
    """In a process group of its own.  In that of the test, which may lead its session, some processes are stopped, and the end
    of another one is a reason for the kernel to send SIGHUP to all of them, and to the test."""
    return Job(command, process_group=0)


def check_message(case, job):
    check(re.search(r"^bsprun: ", job.text(), re.M), "no message of status", job.status, case, "\n", job.text())


def go_on(case, before):
    """Restarts the job until it is over; all that is shown since the beginning."""
    with started([BSPRUN, *case.again, "--restart", case.store]) as job:
        check(job.finish() == 0, case, "\nfirst:\n", before, "\nrestarted:\n", job.status, job.text())
        job.check_gone()
        return before + job.text()


def check_restart(case, job, once):
    """The job goes on from its snapshot; what was shown since then may be shown again if it is not `once`."""
    whole = go_on(case, job.text())
    lines = shown(case, whole)
    check(lines == answer(case.kind) or (not once and set(lines) == set(answer(case.kind))), case, "\n", whole)


def judge(case, job, struck):
    """What has ended: is the end one that its options and fault allow?"""
    text = job.text()
    if job.status == 0:
        check(shown(case, text) == answer(case.kind), case, "\n", text)
        return "right"
    check_message(case, job)
    if job.status == REFUSED:
        check(not shown(case, text), case, "\n", text)
        return "refused"
    if case.fault == "stopped" and job.status == STOPPED:
        check_restart(case, job, once="stopped after a snapshot" in text)
        return "stopped"
    check(struck, "status", job.status, "though nothing had happened", case, "\n", text)
    check(case.fault not in ("rank", "one after another") or not case.store or re.search(IN_VAIN, text), "it could have gone on:", case, "\n", text)
    return "ended"


def judge_killed(case, job):
    job.finish()
    wait_until(lambda: not job.members(), f"the end of all processes of {case}")
    if not case.store or not committed(case.store):
        return "ended"
    check_restart(case, job, once=False)
    return "killed"


def one(number):
    case = Case(number)
    with started(case.command()) as job:
        try:
            struck = strike(case, job)
            if struck and case.fault == "bsprun killed":
                return judge_killed(case, job)
            job.finish()
            verdict = judge(case, job, struck)
            # The processes of an agent that is killed end by themselves.
            job.check_gone(at_once=case.fault != "agent")
        except Failed as failure:
            raise Failed(f"{case}\n{failure}") from failure
    return verdict


def in_any_combination():
    ends = {}
    for number in [int(ONLY)] if ONLY else [chance.randrange(10**12) for _ in range(JOBS)]:
        verdict = one(number)
        ends[verdict] = ends.get(verdict, 0) + 1
    print(f"seed {seed}:", ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))


if __name__ == "__main__":
    main([in_any_combination])
