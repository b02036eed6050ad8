"""The kill matrix of many hosts: whatever is lost, and whenever, what comes out is the same.

    matrix.py HOSTS [--private] [PATTERN ...]      names are WHAT-at-PHASE

One process runs on each host, and two hosts more are spare; with --private each host has a directory
of snapshots of its own, and images are on three.  What is lost: a process, an agent, a
host (power, network, frozen), two hosts at once, the link between two hosts that bsprun still hears,
bsprun; when: see PHASES.
"""
import os
import signal
import sys

from jobs import *
from jobs import HostPlace
import trials

SUPERSTEPS = 20
AT = 6
SPARES = 2
COPIES = 3  # of each image without a common directory: two hosts may be lost at once
BALLAST = {"capture": 16, "restore": 16, "fork": 32}  # MiB: so that it takes long enough to be seen


class Aim(trials.Aim):
    """One job and what it is to lose."""

    def __init__(self, place, p, what, ballast):
        words = (SUPERSTEPS, "-m", ballast)
        super().__init__(place, p, words, Reference.of(p, *words, "-a"))
        self.what = what

    def start(self):
        self.job = self.place.ticker(self.p, *self.words)

    def faults(self, superstep):
        """The functions that lose it, once a superstep has been executed by all."""
        farm, place, last = self.place.farm, self.place, self.p - 1
        zero, other = place.where(0, superstep), place.where(last, superstep)
        third = place.where(last // 2, superstep)
        ranks = {pid: place.executed(pid, superstep)[-1] for pid in (0, last)}
        return {
            "first-process": [lambda: send(ranks[0], signal.SIGKILL)],
            "last-process": [lambda: send(ranks[last], signal.SIGKILL)],
            "first-agent": [lambda: send(self.job.agent(zero), signal.SIGKILL)],
            "last-agent": [lambda: send(self.job.agent(other), signal.SIGKILL)],
            "first-host": [lambda: farm.kill_host(zero)],
            "last-host": [lambda: farm.kill_host(other)],
            "two-hosts": [lambda: farm.kill_host(zero), lambda: farm.kill_host(other)],
            "cut-host": [lambda: farm.cut(other), lambda: self.after.append(lambda: farm.mend(other))],
            "cable": [lambda: farm.cut(other, cable=True),
                      lambda: self.after.append(lambda: farm.mend(other))],
            "frozen-host": [lambda: farm.freeze(other),
                            lambda: self.after.append(lambda: farm.thaw(other))],
            "frozen-first-host": [lambda: farm.freeze(zero),
                                  lambda: self.after.append(lambda: farm.thaw(zero))],
            "link": [lambda: farm.cut_between(third if third != other else zero, other),
                     lambda: self.after.append(lambda: farm.mend(other))],
            "half-link": [lambda: farm.cut_between(zero, other, both=False),
                          lambda: self.after.append(lambda: farm.mend(other))],
            "bsprun": [lambda: send(self.job.os_pid, signal.SIGKILL)],
        }[self.what]

    def lose(self, faults):
        self.place.strike(*faults)
        if "link" in self.what:  # it is tried once more before the job goes on without a host
            self.place.kills.append(self.place.kills[-1])

    def strike(self, superstep):
        self.lose(self.faults(superstep))


# ---- Phases: each starts the job and loses something in that phase -------------------------------

def in_compute(aim):
    aim.hold_all(AT)
    aim.start()
    aim.wait_held(AT)
    aim.strike(AT)
    aim.release_all(AT)


def in_barrier(aim):
    """All but one wait in bsp_sync for that one."""
    aim.place.hold(aim.p // 2, AT)
    aim.start()
    aim.wait_held(AT)
    aim.strike(AT)
    aim.place.release(aim.p // 2, AT)


def at_file(aim, wanted):
    """When a file of the next snapshot appears, early or late in its writing."""
    aim.hold_all(AT)
    aim.start()
    aim.wait_held(AT)
    faults = aim.faults(AT)
    seen = set(files_of(aim.place))
    aim.hold_all(AT + 1)
    aim.release_all(AT)
    wait_until(lambda: any(wanted(os.path.basename(path))
                           for path in set(files_of(aim.place)) - seen), "a file")
    aim.lose(faults)
    aim.release_all(AT + 1)


def files_of(place):
    return [os.path.join(directory, name) for store in place.stores()
            for directory, _, names in os.walk(store) for name in names]


def in_capture(aim):
    at_file(aim, lambda name: ".img" in name)


def in_commit(aim):
    at_file(aim, lambda name: name.startswith("manifest"))


def in_restore(aim):
    """While it recovers from the loss of the last process."""
    aim.hold_all(AT)
    aim.start()
    aim.wait_held(AT)
    faults = aim.faults(AT)
    rank = aim.place.executed(aim.p - 1, AT)[-1]
    aim.place.strike(lambda: send(rank, signal.SIGKILL))
    wait_until(lambda: not alive(rank), "its end")
    aim.lose(faults)
    aim.release_all(AT)


def in_fork(aim):
    """Just after processes were made: each directory has snapshot 0, without which there is nothing
    to go on from, and no other."""
    place, farm = aim.place, aim.place.farm
    aim.start()
    names = place.job_hosts[:aim.p]
    wait_until(lambda: all("bspnode" in farm.processes(name).values() for name in names),
               "the agents")
    wait_until(lambda: all(snapshots(place.store_on(name)) for name in names),
               "snapshot 0 on all hosts")
    victim = names[-1]
    farm.kill_host(victim)
    place.kills.append(0)


PHASES = {"compute": in_compute, "barrier": in_barrier, "capture": in_capture,
          "commit": in_commit, "restore": in_restore}
WHATS = ["first-process", "last-process", "first-agent", "last-agent", "first-host", "last-host",
         "two-hosts", "cut-host", "cable", "frozen-host", "frozen-first-host", "link", "half-link",
         "bsprun"]
PROMPT = WHATS[:7]  # what is noticed at once or nearly so: tried in every phase


def after_bsprun(aim):
    """Nothing is left anywhere, and the job can go on on other hosts."""
    aim.job.process.wait()
    place = aim.place
    wait_until(lambda: not any(place.farm.processes(name) for name in place.farm.names),
               "the end of all processes", 30)
    fewer = place.job_hosts[1:]
    job = place.restart(names=fewer)
    job.check_tail(aim.reference)


def make_place(p, private):
    return HostPlace(p + SPARES, spares=SPARES, private=private,
                     options=["--copies", COPIES] if private else [])


def trial(p, what, phase, private):
    with make_place(p, private) as place:
        # Mended in the end only: a frozen host that wakes may write to shared files for a moment.
        trials.try_it(Aim(place, p, what, BALLAST.get(phase, 0)), PHASES[phase],
                      after_bsprun if what == "bsprun" else None)


def fork_trial(p, private):
    with make_place(p, private) as place:
        aim = Aim(place, p, "last-host", BALLAST["fork"])
        in_fork(aim)
        aim.job.check_all(aim.reference)
        place.check_files(aim.reference)
        place.check_clean()


def can_be(p, what, private):
    """Without a common directory bsprun, which is on a host of its own here, cannot go on; and of two
    hosts one must be left (apart.py has both otherwise)."""
    return not private or what != "bsprun" and (what != "two-hosts" or p >= COPIES)


def cells(p, private):
    for what in WHATS:
        for phase in PHASES:
            if can_be(p, what, private) and (
                    what in PROMPT or phase in ("compute", "restore") and what != "bsprun"
                    or phase == "compute"):
                yield (f"{what}-at-{phase}",
                       lambda what=what, phase=phase: trial(p, what, phase, private))
    yield "last-host-at-fork", lambda: fork_trial(p, private)


if __name__ == "__main__":
    farms.require("nft")
    P = int(sys.argv.pop(1))
    PRIVATE = sys.argv[1:2] == ["--private"]
    del sys.argv[1:1 + PRIVATE]
    main(cells(P, PRIVATE), together=3)
