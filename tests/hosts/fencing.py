"""What fences off an older term, and who may say what: each rule is broken by an agent that is a
puppet of the test (puppet.c), and the job ends as if nothing had been.
"""
import signal
import time

from loopback import *
from loopback import LoopbackPlace, alive, check, main, marked, send, wait_said, wait_until

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
        """The puppet has been bad; process 0 waits in a superstep."""
        place = self.place.__enter__()
        for host in place.hosts[1:]:
            place.delay(host)
        place.hold(0, AT)
        self.job = place.ticker(4, SUPERSTEPS, "-a", options=("-vv", "--every", "1"))
        wait_said(self.job, "host h0 has come")  # and is Processor Zero
        for host in place.hosts[1:]:
            place.let_come(host)
        place.wait_executed(0, AT)
        place.wait_committed(AT)
        for term in range(2, self.term + 1):
            self.kill_one(term)
        wait_said(self.job, f"bsprun: {self.trick}\n")
        return self

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


def a_late_agent():
    """One that is replaced calls again, with the key, before the other one does: it stays outside."""
    with LoopbackPlace(options=["-v"]) as place:
        place.record_join("h1")
        place.hold(0, AT)
        job = place.ticker(4, SUPERSTEPS, "-a", options=("-vv", "--every", "1"))
        place.wait_executed(0, AT)
        place.wait_committed(AT)
        place.delay("h1")
        send(place.agent("h1"), signal.SIGKILL)
        wait_until(lambda: not place.ranks_of("h1"), "the end of its processes")
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
        wait_said(job, f"host h1 was lost: it has not been heard of for {HEARTBEAT} s")
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
        place.release(0, AT)
        job.check_all(Reference.of(4, SUPERSTEPS, "-a"))
        place.check_clean()


if __name__ == "__main__":
    main([breaks_its_link("old-message", term=2, hosts=3),
          breaks_its_link("foreign-message", hosts=3),
          breaks_its_link("hands-out-a-term"), breaks_its_link("commands-zero"),
          breaks_its_link("commands-others", hosts=3),
          is_not_heard("asks-a-lot"), is_not_heard("old-output", term=2),
          is_not_heard("old-commit", term=2, silent=["superstep 4711"]),
          is_not_heard("commit-of-another", silent=["superstep 4711"]),
          is_not_heard("old-end", term=2), is_not_heard("end-of-another"),
          is_not_heard("old-fault", term=2, silent=["made up"]),
          is_not_heard("fault-of-another", silent=["made up"]),
          is_not_heard("old-choice", term=2, silent=["goes on from superstep 0"]),
          is_not_heard("choice-of-another", silent=["goes on from superstep 0"]),
          has_not_closed("old-closing", term=2), has_not_closed("closing-of-another"),
          a_late_agent, a_frozen_agent, bsprun_is_not_heard])
