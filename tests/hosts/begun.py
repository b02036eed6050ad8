#!/usr/bin/env python3
"""Hosts that are lost before the processes of a job with replicas run: nothing has been computed, so that
nothing is lost, and the job begins without them."""
import os
import signal

from loopback import *
from loopback import BUILD, LoopbackPlace, check, main, marked, wait_said, wait_until
from replicas import parent

EARLY = os.path.join(BUILD, "tests/hosts/early")
P, SUPERSTEPS = 2, 40


class Beginning:
    """A job whose last host is stopped, so that its processes do not become ready; all others have, and all know
    the first snapshot: until then the host of Processor Zero cannot be lost."""

    def __init__(self, place, *options):
        self.place = place
        self.directory = place.path("early")
        os.makedirs(self.directory)
        self.job = place.start(BSPRUN, *place.options, "-vv", "-np", P, "--replicas", 2, "--heartbeat", 30, *options,
                               EARLY, self.directory, SUPERSTEPS, env={**place.env, "EARLY": self.directory})
        wait_until(lambda: self.job.check_running() or self.is_there("waits"), "process 0")
        self.make("late." + place.hosts[-1])
        self.make("begin")
        for index in range(len(place.hosts) - 1):
            wait_said(self.job, f"RANKS_READY term 1 host {index}")
        wait_said(self.job, "effect RETIRE term 1 snapshot 0.1")

    def make(self, name):
        with open(os.path.join(self.directory, name), "x"):
            pass

    def is_there(self, name):
        return os.path.exists(os.path.join(self.directory, name))

    def ran(self, process):
        return [name for name in os.listdir(self.directory) if name.startswith(f"ran.{process}.")]

    def kill(self, host):
        agent = self.place.agent(host)
        for pid in [agent, *(pid for pid in marked(self.place.mark) if parent(pid) == agent)]:
            os.kill(pid, signal.SIGKILL)

    def go_on(self):
        os.unlink(os.path.join(self.directory, "late." + self.place.hosts[-1]))

    def ends_right(self, replicas):
        self.job.wait(0)
        lines = self.job.out().decode().splitlines()
        check(lines == right_answer(), "another output", lines, self.job)
        for process in range(P):
            check(len(self.ran(process)) <= replicas, "it ran more than once", self.ran(process), self.job)


def right_answer():
    with LoopbackPlace(slots=(P,)) as place:
        directory = place.path("early")
        os.makedirs(directory)
        for name in ("begin",):
            open(os.path.join(directory, name), "w").close()
        job = place.start(BSPRUN, "-np", P, EARLY, directory, SUPERSTEPS)
        job.wait(0)
        return job.out().decode().splitlines()


def lost(hosts, *options):
    def test():
        with LoopbackPlace(slots=(1,) * 4) as place:
            beginning = Beginning(place, *(place.store if option is STORE else option for option in options))
            for host in hosts:
                beginning.kill(host)
                wait_said(beginning.job, f"host {host} was lost")
            beginning.go_on()
            beginning.ends_right(2)
            check(not any(text in beginning.job.said() for text in ("restart 1 of", "continues from superstep")),
                  "it was begun anew", beginning.job)
    test.__name__ = "_and_".join(hosts) + "_lost" + ("_with_snapshots" if options else "")
    return test


STORE = object()

if __name__ == "__main__":
    main([lost(hosts, *options) for options in ((), ("--ckpt", STORE))
          for hosts in (("h0",), ("h1",), ("h3",), ("h0", "h1"), ("h1", "h2"))])
