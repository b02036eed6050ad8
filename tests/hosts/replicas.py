#!/usr/bin/env python3
"""Jobs whose processes have replicas on several hosts, all of which are this machine: hosts and processes
that are lost or stop cost nothing, what is written is shown once, and what is lost is made anew."""
import os
import random
import re
import signal
import time

from loopback import *
from loopback import LoopbackPlace, alive, check, check_said, long, main, marked, wait_said, wait_until

P, SUPERSTEPS = 2, 150
BACK = "restart 1 of"


class Scene:
    """Four hosts, two for each process; the first one is bsprun's."""

    def __init__(self, *options, supersteps=SUPERSTEPS, hosts=4, replicas=2, slots=1, held=0):
        """held: where process 0 waits for what the test does, however long that takes."""
        self.place, self.options = LoopbackPlace(slots=(slots,) * hosts), options
        self.supersteps, self.replicas, self.held = supersteps, replicas, held

    def __enter__(self):
        return self.place.entered(self, self.begin)

    def __exit__(self, *how):
        self.place.__exit__(*how)

    def begin(self):
        if self.held:
            self.place.hold(0, self.held)
        self.job = self.place.ticker(P, self.supersteps, "-t", "10", options=(
            "--every", "10", "--replicas", str(self.replicas), "--heartbeat", "1", "-v",
            "--replica-files", "allow", *self.options))

    def zero(self):
        """The host of Processor Zero now."""
        wait_said(self.job, "Processor Zero is host ")
        named = re.findall(r"Processor Zero is host (\S+) |and host (\S+) is Processor Zero now", self.job.said())
        return "".join(named[-1])

    def others(self):
        zero = self.zero()
        self.place.wait_committed(20)
        return [host for host in self.place.hosts if host != zero]

    def processes(self, host):
        """The agent of the host, and those that it has made."""
        agent = self.place.agent(host)
        return [agent, *(pid for pid in marked(self.place.mark) if parent(pid) == agent)]

    def right(self):
        if self.held:
            self.place.release(0, self.held)
        self.job.wait(0)
        lines = self.job.out().decode().splitlines()
        check(len(lines) == self.supersteps + P, "output lost or doubled", self.job)
        check(self.job.out() == undisturbed(self.supersteps), "another output than without replicas", self.job)


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


answers = {}


def undisturbed(supersteps):
    """What such a job writes on one host."""
    if supersteps not in answers:
        with Scene(supersteps=supersteps, hosts=1, replicas=1) as scene:
            scene.job.wait(0)
            answers[supersteps] = scene.job.out()
    return answers[supersteps]


def nothing_happens():
    for hosts, replicas in ((4, 2), (3, 3), (5, 2)):
        with Scene(hosts=hosts, replicas=replicas, supersteps=40) as scene:
            scene.right()
            check(BACK not in scene.job.said(), "it went back", scene.job)


def a_host_is_killed():
    """Of two replicas, and of three, two of which agree before anything counts."""
    for hosts, replicas in ((4, 2), (3, 3)):
        with Scene(hosts=hosts, replicas=replicas, held=40) as scene:
            lost = scene.others()[0]
            for pid in scene.processes(lost):
                os.kill(pid, signal.SIGKILL)
            scene.right()
            check_said(scene.job, f"host {lost} was lost")
            check(BACK not in scene.job.said(), "it went back", scene.job)


@long
def the_host_of_processor_zero():
    """It is killed, stops for longer than the heartbeat, or loses a process; then the next one is."""
    for how in ("killed", "stopped", "process"):
        with Scene(supersteps=300 if how == "stopped" else SUPERSTEPS, held=40) as scene:
            scene.others()
            zero = scene.zero()
            lost = scene.processes(zero)
            if how == "process":
                os.kill(lost[1], signal.SIGKILL)
            for pid in lost if how != "process" else ():
                os.kill(pid, signal.SIGKILL if how == "killed" else signal.SIGSTOP)
            try:
                scene.right()
            finally:
                for pid in lost if how == "stopped" else ():
                    if alive(pid):
                        os.kill(pid, signal.SIGCONT)
            check_said(scene.job, f"host {zero} was lost", " is Processor Zero now")
            check(BACK not in scene.job.said(), f"{how}: it went back", scene.job)


def one_after_the_other():
    """While snapshots are taken all the time: the last host has been told what was decided, and goes on."""
    with Scene("--every", "2", hosts=6, replicas=3) as scene:
        scene.place.wait_committed(20)
        for count in (1, 2):
            os.kill(scene.place.agent(scene.zero()), signal.SIGKILL)
            wait_until(lambda count=count: scene.job.said().count("is Processor Zero now") == count, "another one")
            time.sleep(random.uniform(0, 0.5))
        scene.right()
        check(BACK not in scene.job.said(), "it went back", scene.job)


def a_request_is_repeated():
    """A snapshot that Processor Zero was asked for, but had no time to take."""
    with Scene("--every", "100000") as scene:
        agent = scene.place.agent(scene.zero())
        os.kill(agent, signal.SIGSTOP)
        scene.job.process.send_signal(signal.SIGUSR1)
        time.sleep(0.1)  # it arrives before the loss, or after it
        os.kill(agent, signal.SIGKILL)
        wait_until(lambda: re.search("snapshot of superstep [1-9]", scene.job.said()), "the snapshot")
        scene.right()
        check(BACK not in scene.job.said(), "it went back", scene.job)


def a_process_is_killed():
    with Scene() as scene:
        lost = scene.others()[-1]
        os.kill(scene.processes(lost)[1], signal.SIGKILL)
        scene.right()
        check_said(scene.job, f"host {lost}: pid", "its processes continue in their replicas")
        check(BACK not in scene.job.said(), "it went back", scene.job)


def a_host_stops():
    """For longer than the heartbeat; the others do not wait so long."""
    with Scene() as scene:
        stopped = scene.processes(scene.others()[0])
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            scene.right()
        finally:
            for pid in stopped:
                if alive(pid):
                    os.kill(pid, signal.SIGCONT)
        check(BACK not in scene.job.said(), "it went back", scene.job)


def what_is_lost_is_made_anew():
    """By a new agent, at a snapshot; then another host may be lost that has what the first one had, which was
    that of Processor Zero."""
    with Scene("--rejoin", "1", supersteps=600) as scene:
        others = scene.others()
        for pid in scene.processes(scene.zero()):
            os.kill(pid, signal.SIGKILL)
        wait_said(scene.job, "continues from superstep")
        wait_until(lambda: scene.job.said().count("Processor Zero is host") == 2, "the next term")
        for pid in scene.processes(others[0]):
            os.kill(pid, signal.SIGKILL)
        scene.right()
        check(BACK not in scene.job.said(), "it went back", scene.job)


def a_spare_gets_them(first):
    """At a snapshot, after the loss of a host that does not come back; then the other one may be lost, too."""
    def test():
        with Scene("--spares", "1", hosts=3, supersteps=600) as scene:
            zero, pair = scene.zero(), scene.place.hosts[:2]
            scene.others()
            pair.sort(key=lambda host, zero=zero, first=first: (host == zero) != (first == "Processor Zero's"))
            for count, lost in enumerate(pair, 1):
                scene.place.will_not_return(lost)
                for pid in scene.processes(lost):
                    os.kill(pid, signal.SIGKILL)
                wait_said(scene.job, f"host {lost} was lost")
                if count == 1:
                    wait_until(lambda: scene.job.said().count("Processor Zero is host") == 2, "the next term")
                    wait_until(lambda pair=pair: re.search(f"replicas: host ({pair[1]}, host h2|h2, host {pair[1]}): "
                                                           "processes 0-1", scene.job.said()), "replicas on the spare")
            scene.right()
            check(BACK not in scene.job.said(), "it went back", scene.job)
    test.__name__ = "a_spare_gets_them" + first.replace("Processor Zero's", "_of_processor_zero").replace("another", "")
    return test


def all_replicas_are_lost():
    """Three hosts with a process each; the two of one process are not known beforehand."""
    with Scene() as scene:
        others = scene.others()
        for host in others:
            for pid in scene.processes(host):
                os.kill(pid, signal.SIGKILL)
        scene.right()
        check_said(scene.job, "restart 1 of")


def files_that_are_appended_to():
    """Are written twice, which is said before it has happened often."""
    with Scene("--replica-files", "check") as scene:
        scene.job.wait(1)
        check_said(scene.job, " appends to a file, ", "together (descriptor ", "--replica-files allow")


def mistakes():
    with LoopbackPlace(slots=(1, 1)) as place:
        for words, text in ((("--replicas", "3"), "each process needs this number of hosts, and there are 2"),
                            (("--replicas", "5"), "give a number from 1 to 4"),
                            (("--replicas", "2", "--on-mismatch", "no"), "give rollback, continue or end"),
                            (("--replicas", "2", "--replica-log", "x"), "give bytes of memory"),
                            (("--replicas", "2", "--replica-files", "no"), "give check or allow")):
            job = place.bsprun("-np", 2, *words, "true")
            job.wait(2)
            check_said(job, text)


if __name__ == "__main__":
    main([nothing_happens, a_host_is_killed, the_host_of_processor_zero, one_after_the_other,
          a_request_is_repeated, a_process_is_killed, a_host_stops, what_is_lost_is_made_anew,
          a_spare_gets_them("another"), long(a_spare_gets_them("Processor Zero's")), all_replicas_are_lost, files_that_are_appended_to, mistakes])
