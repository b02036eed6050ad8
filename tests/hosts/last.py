#!/usr/bin/env python3
"""The end of jobs with replicas: it does not wait for replicas that others have ended for."""
import os
import re
import signal
import time

from agreed import LIAR, right_answer
from loopback import *
from loopback import LoopbackPlace, alive, check, check_said, main, marked, wait_until
from replicas import parent

P, SUPERSTEPS = 4, 60
LAST = SUPERSTEPS - 1
HEARTBEAT = 40


class Ending:
    """A job of liar.c whose hosts are all about to begin the last superstep."""

    def __init__(self, place, *options, more=0, **how):
        self.place = place
        self.directory = place.path("ending")
        os.makedirs(self.directory)
        for host in place.hosts:
            self.make(f"hold.{host}.{LAST}")
        with open(os.path.join(self.directory, "more"), "x") as file:
            file.write(f"{more}\n")
        self.job = place.start(BSPRUN, *place.options, "-v", "-np", P, "--replicas", 2, "--heartbeat", HEARTBEAT,
                               *options, LIAR, "put", self.directory, SUPERSTEPS, SUPERSTEPS, env=place.env,
                               **how)
        wait_until(lambda: self.job.check_running() or all(map(self.is_there, place.hosts)), "the last superstep")

    def make(self, name):
        with open(os.path.join(self.directory, name), "x"):
            pass

    def noted(self, host):
        return [name for name in os.listdir(self.directory) if name.startswith(f"in.{host}.")
                and not name.endswith(".new")]

    def is_there(self, host):
        """All its processes have begun the one before, and left it if the others have begun the last one."""
        noted = self.noted(host)
        return len(noted) == 2 and all(self.superstep(name) == LAST - 1 for name in noted)

    def superstep(self, name):
        with open(os.path.join(self.directory, name)) as file:
            return int(file.read().split()[0])

    def ospid(self, name):
        with open(os.path.join(self.directory, name)) as file:
            return int(file.read().split()[1])

    def freeze(self, host):
        agent = self.place.agent(host)
        frozen = [agent, *(pid for pid in marked(self.place.mark) if parent(pid) == agent)]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        return frozen

    def let_go(self):
        for host in self.place.hosts:
            os.unlink(os.path.join(self.directory, f"hold.{host}.{LAST}"))


def zero_of(job):
    return re.search(r"Processor Zero is host (\w+)", job.said()).group(1)


def a_host_is_frozen(*options):
    """Within a heartbeat of the end, so that nobody knows that it is.  Not Processor Zero's, without whom there is no end."""
    def test():
        with LoopbackPlace(slots=(2,) * 4) as place:
            ending = Ending(place, *(place.store if option is STORE else option for option in options))
            frozen = ending.freeze("h3" if zero_of(ending.job) != "h3" else "h2")
            try:  # of hosts without replicas bsprun waits for ten seconds
                begun = time.monotonic()
                ending.let_go()
                ending.job.wait(0)
                took = time.monotonic() - begun
                check(took < 8, f"it took {took:.1f} s", ending.job)
            finally:
                for pid in filter(alive, frozen):
                    os.kill(pid, signal.SIGCONT)
            check(sorted(ending.job.out().decode().splitlines()) == right_answer(), "another answer", ending.job)
            wait_until(lambda: not any(map(alive, frozen)), "the end of what was frozen")
    test.__name__ = "a_host_is_frozen" + ("_with_snapshots" if options else "")
    return test


def what_only_the_lost_one_wrote():
    """What process 0 has written in the end has not all arrived when its host is lost, and its replica, which had
    not come there, was ended.  Then the user must hear of it."""
    lines = 350000  # more than the kernel keeps for bsprun
    with LoopbackPlace(slots=(2,) * 4) as place:
        reader, writer = os.pipe()
        ending = Ending(place, more=lines, stdout=writer)
        os.close(writer)
        lost, other = ("h2", "h0") if zero_of(ending.job) != "h2" else ("h0", "h2")  # both have process 0
        names = [f"in.{host}.0" for host in (lost, other)]
        replicas = [ending.ospid(name) for name in names]
        for host in (lost, other):
            ending.make(f"hold.{host}.{SUPERSTEPS}")
        ending.let_go()
        wait_until(lambda: all(ending.superstep(name) == SUPERSTEPS for name in names), "the end of the supersteps")
        os.kill(ending.job.os_pid, signal.SIGSTOP)
        os.unlink(os.path.join(ending.directory, f"hold.{lost}.{SUPERSTEPS}"))
        wait_until(lambda: not any(map(alive, replicas)), "the end of the process")
        os.kill(place.agent(lost), signal.SIGKILL)
        os.kill(ending.job.os_pid, signal.SIGCONT)
        with open(reader, "rb") as file:
            out = file.read().decode().splitlines()
        check(len(out) < P + lines, "nothing is missing: the test has no effect", ending.job)
        ending.job.wait(1)
        check_said(ending.job, f"host {lost} has not confirmed its end: some of its output may be missing")


STORE = object()

if __name__ == "__main__":
    main([what_only_the_lost_one_wrote, a_host_is_frozen(), a_host_is_frozen("--ckpt", STORE, "--every", "5")])
