#!/usr/bin/env python3
"""Jobs with replicas whose end is decided, and hosts are lost before all have come to it: those that are left end,
and nobody waits for what is lost."""
import os
import re
import signal
import sys
import time

from loopback import *
from loopback import BUILD, LoopbackPlace, alive, check, main, marked, wait_said, wait_until
from replicas import parent

OVERDUE = os.path.join(BUILD, "tests/hosts/overdue")
P, BYTES = 4, 32 << 20  # more than sockets hold
HEARTBEAT = 60
SOON_S = 30
LOST = "what process [23] has communicated is lost with its hosts: the processes of host h2 cannot end"
# h2 reads that h0 is lost, and hears it no more, before it has read what h0 decided last.
UNTOLD = "the last host with a process was lost, which ends the job|host h0 was lost: .*, which ends the job"


class Overdue:
    """A job of overdue.c; processes 0 and 1 are on h0 and h2, the others on h1 and h3.  h2 and h3 are late, and what
    h1 sends to h2 does not get there."""

    def __init__(self, place, *options, words=()):
        self.place = place
        self.directory = place.path("overdue")
        os.makedirs(self.directory)
        for name in (*("hold." + host for host in place.hosts), "after.h0"):
            self.make(name)
        for host in place.hosts[1:]:
            place.delay(host)  # so that Processor Zero is h0
        self.job = place.start(BSPRUN, *place.options, "-vv", "-np", P, "--replicas", 2, "--heartbeat", HEARTBEAT,
                               *options, OVERDUE, self.directory, BYTES, *words, env=place.env)
        self.wait(lambda: self.processes("h0"), "the program, once the agent of h0 is there")
        for host in place.hosts[1:]:
            place.let_come(host)
        wait_said(self.job, "Processor Zero is host h0")

    def make(self, name):
        with open(os.path.join(self.directory, name), "x"):
            pass

    def has(self, name):
        return os.path.exists(os.path.join(self.directory, name))

    def let_go(self, name):
        os.unlink(os.path.join(self.directory, name))

    def wait(self, condition, what):
        wait_until(lambda: self.job.check_running() or condition(), what)

    def processes(self, host):
        agent = self.place.agent(host)
        return [pid for pid in marked(self.place.mark) if parent(pid) == agent]

    def end_on_two(self):
        """h0 and h1 come to the end; nothing of that gets to h2."""
        agent = self.place.agent("h2")
        self.wait(lambda: all(map(self.has, ("in.h2.0", "in.h2.1", "in.h3.2", "in.h3.3"))), "all hosts inside")
        os.kill(agent, signal.SIGSTOP)
        self.let_go("hold.h0")
        self.let_go("hold.h1")
        self.wait(lambda: self.has("past.h0.0"), "the end on h0")
        for pid in range(1, P):  # as Processor Zero knows
            self.wait(lambda: re.search(rf"RANK_EXITED .* pid {pid} status 0", self.job.said()), f"the end of {pid}")
        return agent

    def kill(self, host):
        self.place.will_not_return(host)
        agent, processes = self.place.agent(host), self.processes(host)
        os.kill(agent, signal.SIGKILL)
        wait_until(lambda: not any(map(alive, (agent, *processes))), f"the end of {host}")


def ended(lose_first, *options):
    """With lose_first nobody is left who could end processes 0 and 1."""
    def test():
        with LoopbackPlace(slots=(2,) * 4) as place:
            job = Overdue(place, *(place.store if option is STORE else option for option in options))
            late = job.end_on_two()
            try:
                job.kill("h1")
                job.kill("h3")
                if lose_first:
                    job.kill("h0")
            finally:
                os.kill(late, signal.SIGCONT)
            job.let_go("hold.h2")
            begun = time.monotonic()
            if lose_first:
                job.job.wait()
                check(job.job.status != 0, "success though a process was lost", job.job)
            else:
                wait_until(lambda: not alive(late), "the end of what waits in vain")
                job.let_go("after.h0")
                job.job.wait(1)  # as nobody knows whether h1 had shown all
                check("host h1 has not confirmed its end" in job.job.said(), "what of h1?", job.job)
                check(job.job.out().count(b"the last line") == 1, "process 0 was not let end", job.job)
            took = time.monotonic() - begun
            check(took < SOON_S, f"it took {took:.1f} s", job.job)
            said = LOST if not lose_first else f"{LOST}|{UNTOLD}"
            check(re.search(said, job.job.said()), "no word of what was lost", job.job)
    test.__name__ = ("the_last_are_lost" if lose_first else "a_late_host_is_left_alone") + (
        "_with_snapshots" if options else "")
    return test


def a_file_is_being_written(late):
    """By a replica that trails, when the first one has completed it, which all hosts see."""
    def test():
        with LoopbackPlace(slots=(2,) * 4) as place:
            path = place.path("result")
            job = Overdue(place, words=[path])
            others = [host for host in place.hosts if host != late]
            first = "h2" if late == "h0" else "h0"
            if first == "h2":
                job.make("after.h2")
                job.let_go("after.h0")
            for host in others:
                if host != late:
                    job.let_go("hold." + host)
            job.wait(lambda: job.has(f"past.{first}.0"), "the end of the first")
            whole = open(path).read()
            check(len(whole.splitlines()) == 100, whole)
            job.let_go("hold." + late)
            job.wait(lambda: job.has(f"writes.{late}.0"), "the file of the other one")
            job.let_go("after." + first)
            job.job.wait(0)
            check(open(path).read() == whole, "the file is not complete", open(path).read(), job.job)
    test.__name__ = "a_file_is_being_written_" + ("by_Processor_Zero" if late == "h0" else "by_another")
    return test


STORE = object()

if __name__ == "__main__":
    main([a_file_is_being_written("h0"), a_file_is_being_written("h2")] +
         [ended(first, *options) for first in (False, True)
          for options in ((), ("--ckpt", STORE, "--every", "5"))])
