"""What fences off an older term, and who may say what: each rule is broken by an agent that is a
puppet of the test (puppet.c), and the job ends as if nothing had been.
"""
import os
import re
import signal
import subprocess
import time

from loopback import *
from loopback import (BSPRUN, HOLDUP, LoopbackPlace, alive, check, children_of, holdup, jobs, main, marked, send,
                      state_of, wait_said, wait_until)

SUPERSTEPS = 6
AT = 3
HEARTBEAT = 3  # seconds


class Scene:
    """A job of 4 processes on h0 (and h1), and a puppet that does its trick in that term."""

    def __init__(self, trick, term=1, hosts=2):
        # So many slots that what is lost is put back where it was, not on the puppet's host.
        self.place = LoopbackPlace(slots=[16, 1] if hosts == 2 else [2, 16, 1], options=["-v"])
        self.trick, self.term, self.last = trick, term, f"h{hosts - 1}"
        self.place.make_puppet(self.last, f"{trick}@{term}")
        self.reference = Reference.of(4, SUPERSTEPS, "-a")

    def __enter__(self):
        return self.place.entered(self, self.begin)

    def begin(self):
        """The puppet has been bad; process 0 waits in a superstep."""
        place = self.place
        for host in place.hosts[1:]:
            place.delay(host)
        place.hold(0, AT)
        self.job = place.ticker(4, SUPERSTEPS, "-a", options=("-vv", "--every", "1"))
        wait_said(self.job, "host h0 has joined")  # and is Processor Zero
        for host in place.hosts[1:]:
            place.let_come(host)
        place.wait_executed(0, AT)
        place.wait_committed(AT)
        for term in range(2, self.term + 1):
            self.kill_one(term)
        wait_said(self.job, f"bsprun: {self.trick}\n")

    def __exit__(self, *what):
        self.place.__exit__(*what)

    def kill_one(self, term):
        """A process, for that term to begin."""
        self.place.kill(self.place.wait_executed(3, AT, times=term - 1))
        self.wait_term(term)
        self.place.wait_executed(0, AT, times=term)

    def wait_term(self, term):
        wait_said(self.job, f"Processor Zero is host h0 (term {term})")

    def ends_well(self, terms):
        """In so many terms."""
        self.place.release(0, AT)
        self.job.check_all(self.reference)
        check(f"(term {terms})" in self.job.said(), f"there was no term {terms}\n", self.job)
        check(f"(term {terms + 1})" not in self.job.said(), "there was one more term\n", self.job)
        check("term that is over" not in self.job.said(), self.job)
        self.place.check_store()
        self.place.check_clean()


def of_another_version():
    """Its host does not take part, whatever else it can do."""
    with LoopbackPlace(slots=[2, 1]) as place:
        place.make_puppet("h1", "old-message@1")
        place.env["PUPPET_VERSION"] = "0.1.9"
        job = place.ticker(3, SUPERSTEPS, "-a").wait()
        own = subprocess.run([BSPRUN, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        text = f"bsprun: host h1: its node agent is of version 0.1.9, not {own}"
        check(job.status == 1 and text in job.said(), text, "\n", job)
        check(not marked(place.mark), "processes are left")


def breaks_its_link(trick, term=1, hosts=2):
    """Whoever hears it holds it against the host: the term is over, and the job goes on."""
    def test():
        with Scene(trick, term, hosts) as scene:
            scene.wait_term(term + 1)
            scene.ends_well(term + 1)
    return trick.replace("-", "_"), test


def is_not_heard(trick, term=1, silent=()):
    def test():
        with Scene(trick, term) as scene:
            scene.ends_well(term)
            for text in silent:
                check(text not in scene.job.said(), text, "\n", scene.job)
    return trick.replace("-", "_"), test


def has_not_closed(trick, term=1):
    """A job that is closed would not be recovered from a fault."""
    def test():
        with Scene(trick, term) as scene:
            scene.kill_one(term + 1)
            scene.ends_well(term + 1)
    return trick.replace("-", "_"), test


def a_copy_that_has_not_run_yet():
    """One that a thawed process has made is not killed with the process group of that, in which it
    begins: the next rollback can use it."""
    with LoopbackPlace(slots=[4]) as place:
        place.hold(0, AT)
        job = place.ticker(4, SUPERSTEPS, "-a", options=(
            "-vv", "--every", "1", "-x", "LD_PRELOAD=" + HOLDUP, "-x", "HOLDUP_DETACH=" + place.path("detach")))
        place.wait_executed(0, AT)
        place.wait_committed(AT)
        place.write("detach", "")
        place.kill(place.wait_executed(3, AT))
        late = wait_until(lambda: [os_pid for os_pid in marked(place.mark) if state_of(os_pid) == "T"],
                          "a copy")
        wait_said(job, "Processor Zero is host h0 (term 2)")
        ranks = [place.wait_executed(pid, AT, times=2) for pid in (2, 3)]
        place.kill(next(os_pid for os_pid in ranks if os_pid != os.getpgid(late[0])))
        wait_said(job, "event HELD term 3 host 0")
        for os_pid in late:
            send(os_pid, signal.SIGCONT)
        wait_said(job, "Processor Zero is host h0 (term 3)")
        check(f"HELD term 3 host 0 snapshot {AT}.1 processes 4 images 4 copies 4" in job.said(), job)
        place.release(0, AT)
        job.check_all(Reference.of(4, SUPERSTEPS, "-a"))
        place.check_executions()
        place.check_clean()


def a_late_agent():
    """One that is replaced calls again, with the key, before the other one does: it stays outside."""
    with LoopbackPlace(options=["-v"]) as place:
        place.record_join("h1")
        place.hold(0, AT)
        job = place.ticker(4, SUPERSTEPS, "-a", options=("-vv", "--every", "1"))
        place.wait_executed(0, AT)
        place.wait_committed(AT)
        place.delay("h1")
        agent = place.agent("h1")
        its = children_of(agent)
        check(its, "h1 has no processes")
        send(agent, signal.SIGKILL)
        wait_until(lambda: not any(alive(os_pid) for os_pid in its), "the end of its processes")
        late = place.replay_join("h1", 1)
        late.wait(timeout=60)
        check("(term 2)" not in job.said(), "a late agent was let in\n", job)
        place.let_come("h1")
        wait_said(job, "(term 2), p = 4")
        place.release(0, AT)
        job.check_all(Reference.of(4, SUPERSTEPS, "-a"))
        check("(term 3)" not in job.said(), job)
        place.check_clean()


def held_on_two_hosts(place):
    place.hold(0, AT)
    job = place.ticker(4, SUPERSTEPS, "-a", options=("-v", "--every", "1"))
    place.wait_executed(3, AT)
    place.wait_committed(AT)
    return job


def a_frozen_agent():
    """It is given up when it has said nothing for the heartbeat, and not before."""
    with LoopbackPlace(options=["--heartbeat", HEARTBEAT]) as place:
        job = held_on_two_hosts(place)
        place.will_not_return("h1")
        frozen, began = place.agent("h1"), time.monotonic()
        send(frozen, signal.SIGSTOP)
        wait_said(job, f"host h1 was lost: nothing has been heard from it for {HEARTBEAT} s")
        took = time.monotonic() - began
        check(took >= HEARTBEAT * 0.75, "given up after", took, "s\n", job)
        wait_said(job, "(term 2), p = 4")
        send(frozen, signal.SIGCONT)
        place.release(0, AT)
        job.check_all(Reference.of(4, SUPERSTEPS, "-a"))
        wait_until(lambda: not marked(place.mark), "the end of what was cut off")
        place.check_clean()


def bsprun_is_not_heard():
    """Processes end although nobody says so: others could have their place.  Then the job goes on."""
    with LoopbackPlace(options=["--heartbeat", HEARTBEAT]) as place:
        job = held_on_two_hosts(place)
        for pid in range(4):
            place.wait_executed(pid, AT)
        executed = [place.executed(pid, AT)[-1] for pid in range(4)]
        job.signal(signal.SIGSTOP)
        wait_until(lambda: not any(alive(pid) for pid in executed), "the end of all processes")
        job.signal(signal.SIGCONT)
        wait_said(job, "(term 2), p = 4")
        check(re.search(r"^bsprun: host h\d: nothing has been heard from bsprun$", job.said(), re.M), job)
        check(not re.search(r"host (h\d) has lost host \1\b", job.said()), job)
        place.release(0, AT)
        job.check_all(Reference.of(4, SUPERSTEPS, "-a"))
        place.check_clean()


class LateHost:
    """A job in which h0, which has Processor Zero, is late with a file (or the directory) of the snapshot
    that follows superstep AT.  It is given up, and h1 continues from superstep AT in term 2."""

    def __init__(self, file, bsprun_stops=False):
        # Of that time bsprun may be silent for two thirds.
        heartbeat = 2 * HEARTBEAT if bsprun_stops else HEARTBEAT
        self.place = LoopbackPlace(slots=[2, 16], options=["--heartbeat", heartbeat])
        self.file, self.bsprun_stops, self.term = f"{AT + 1}.1{file}", bsprun_stops, 2
        self.reference = Reference.of(4, SUPERSTEPS, "-a")

    def __enter__(self):
        return self.place.entered(self, self.begin)

    def begin(self):
        """h0 is stopped.  So is bsprun, if wanted, where it would note how term 2 begins."""
        place = self.place
        place.delay("h1")
        self.agent = place.make_far("h0", self.file)
        for pid in range(4):
            place.hold(pid, AT + 1)
        if self.bsprun_stops:
            place.env.update(holdup("term", skip=1))
        self.job = place.ticker(4, SUPERSTEPS, "-a", options=("-vv", "--every", "1"))
        wait_said(self.job, "host h0 has joined")
        place.let_come("h1")
        self.wait_stopped(self.agent.pid)
        place.hold(0, AT)
        check("continues" not in self.job.said(), "the test itself was too late\n", self.job)
        if self.bsprun_stops:
            self.wait_stopped(self.job.os_pid)
        else:
            self.wait_in_term_2()

    def __exit__(self, *what):
        self.place.__exit__(*what)

    def wait_stopped(self, os_pid):
        def found():
            self.job.check_running()
            return state_of(os_pid) == "T"
        wait_until(found, f"a process that stops at {self.file}")

    def wait_in_term_2(self):
        self.wait_gone_on(AT)
        self.place.wait_executed(0, AT, times=2)

    def wait_gone_on(self, superstep):
        """The present term has begun from that snapshot."""
        def begun():
            self.job.check_running()
            return re.findall(r"continues from superstep (\d+)", self.job.said())
        wait_until(lambda: len(begun()) >= self.term - 1, f"term {self.term}")
        check(int(begun()[-1]) == superstep, "term", self.term, "began from superstep", begun()[-1],
              "and not from", superstep, "\n", self.job)

    def complete(self):
        """What h0 was about to make is there, and h0 stays so."""
        send(self.agent.pid, signal.SIGCONT)
        self.wait_stopped(self.agent.pid)
        check(os.path.exists(os.path.join(self.place.store, jobs(self.place.store)[0], self.file)),
              self.file, "is not there")

    def bsprun_goes_on(self):
        for _ in ("before it notes the term", "behind"):
            self.wait_stopped(self.job.os_pid)
            send(self.job.os_pid, signal.SIGCONT)

    def next_snapshot(self):
        """h1 takes the one that h0 is late with, too."""
        self.place.release(0, AT)
        wait_said(self.job, f"snapshot of superstep {AT + 1}: ")

    def leave(self):
        """h0 does all that it has still to do."""
        its = children_of(self.agent.pid)
        check(its, "h0 has no processes")
        wait_until(lambda: send(self.agent.pid, signal.SIGCONT) and self.agent.poll() is not None,
                   "the end of the agent of h0")
        wait_until(lambda: not any(alive(os_pid) for os_pid in its), "the end of its processes")

    def check_goes_on(self, superstep):
        """A process is lost: the next term begins from that snapshot."""
        def last():
            return [os_pid for pid, _, os_pid in self.place.witness() if pid == 3][-1]
        wait_until(lambda: alive(last()), "process 3")
        self.term += 1
        self.place.kill(last())
        self.wait_gone_on(superstep)

    def check_end(self):
        for name in os.listdir(self.place.files):
            if name.startswith("hold."):
                os.unlink(self.place.path("files", name))
        self.job.check_all(self.reference)
        check(f"(term {self.term + 1})" not in self.job.said(), "one more term\n", self.job)
        self.place.check_files(self.reference)
        self.place.check_store()
        self.place.check_clean()


def a_commit_that_ends_late():
    """When h0 completes its snapshot term 2 has chosen another one: it does not count, then or later."""
    with LateHost("/manifest", bsprun_stops=True) as late:
        late.complete()
        late.bsprun_goes_on()
        late.wait_in_term_2()
        late.check_goes_on(AT)
        late.leave()
        late.check_goes_on(AT)
        check(f"snapshot of superstep {AT + 1}:" not in late.job.said(), "it was believed\n", late.job)
        late.check_end()


def comes_late(file):
    """h1 has a snapshot of the same superstep, which stays what it is."""
    with LateHost(file) as late:
        late.next_snapshot()
        late.leave()
        late.check_goes_on(AT + 1)
        late.check_end()


def a_snapshot_that_is_begun_late():
    """h0 makes its directory, has images written to it, gives up and removes it."""
    comes_late("")


def a_manifest_that_comes_late():
    comes_late("/manifest")


def an_image_that_comes_late():
    comes_late("/0.img")


if __name__ == "__main__":
    main([of_another_version, breaks_its_link("old-message", term=2, hosts=3),
          breaks_its_link("foreign-message", hosts=3),
          breaks_its_link("hands-out-a-term"), breaks_its_link("commands-zero"),
          breaks_its_link("commands-others", hosts=3),
          is_not_heard("asks-a-lot"), is_not_heard("old-output", term=2),
          is_not_heard("old-commit", term=2, silent=["superstep 4711"]),
          is_not_heard("commit-of-another", silent=["superstep 4711"]),
          is_not_heard("old-end", term=2), is_not_heard("end-of-another"),
          is_not_heard("old-fault", term=2, silent=["made up"]),
          is_not_heard("fault-of-another", silent=["made up"]),
          is_not_heard("old-choice", term=2, silent=["continues from superstep 0"]),
          is_not_heard("choice-of-another", silent=["continues from superstep 0"]),
          has_not_closed("old-closing", term=2), has_not_closed("closing-of-another"),
          a_copy_that_has_not_run_yet, a_late_agent, a_commit_that_ends_late, a_snapshot_that_is_begun_late,
          a_manifest_that_comes_late, an_image_that_comes_late, a_frozen_agent, bsprun_is_not_heard], together=3)
