"""How long silence holds a job up.

    silent.py [SECONDS ...]    of heartbeat; 2 when none are given

What is cut drops everything, so nobody is told.  Shown are the times from then on until bsprun says so,
and until processes run again; both as heartbeats, too.  Where they come from is in
doc/decisions/two-heartbeats.md.
"""
import sys

from jobs import *
from jobs import HostPlace

SUPERSTEPS, AT, P = 12, 4, 2
CALL = 1 / 12  # heartbeats between two calls of bsprun
SLACK = 30  # seconds to try a link again and to start processes, also on a busy machine


class Scene:
    """Two processes on two hosts, held; bsprun is on another one, and there is a spare."""

    def __init__(self, place, heartbeat):
        self.place, self.heartbeat = place, heartbeat
        for pid in range(P):
            place.hold(pid, AT)
        self.job = place.ticker(P, SUPERSTEPS, options=("-v", "--every", "1"))
        for pid in range(P):
            place.wait_executed(pid, AT)
        place.wait_committed(AT)
        self.first, self.last = place.where(0, AT), place.where(1, AT)

    def measure(self, cut, text, least, most):
        """From the cut to bsprun's word, and to the processes; bounds in heartbeats."""
        place, began = self.place, time.monotonic()
        place.strike(cut)
        wait_until(lambda: text in self.job.said(), text)
        said = time.monotonic() - began
        for pid in range(P):
            place.wait_executed(pid, AT, times=2)
        again = time.monotonic() - began
        for pid in range(P):
            place.release(pid, AT)
        self.job.check_all(Reference.of(P, SUPERSTEPS, "-a"))
        print(f"heartbeat {self.heartbeat:g} s: said after {said:.2f} s ({said / self.heartbeat:.2f}), "
              f"running again after {again:.2f} s ({again / self.heartbeat:.2f})", flush=True)
        check(least * self.heartbeat <= said and again <= most * self.heartbeat + SLACK,
              "not the time that it should be:", said, again)


def scene(name, heartbeat, function):
    def test():
        with HostPlace(P + 1, spares=1, heartbeat=heartbeat) as place:
            function(Scene(place, heartbeat))
    return f"{name}_for_{heartbeat:g}_s", test


def a_host(at):
    """It was last heard one call before it was cut off, or some, on a busy machine."""
    at.measure(lambda: at.place.farm.cut(at.last), f"host {at.last} was lost", 1.5, 2 + CALL)


def a_link(at):
    """Both hosts hear bsprun.  It is tried again, in vain, before one of them is left out; the first
    word is of the first time."""
    at.measure(lambda: at.place.farm.cut_between(at.first, at.last),
               "has lost host", 0.75, 1.5)


if __name__ == "__main__":
    seconds = [float(word) for word in sys.argv[1:]] or [2.0]
    del sys.argv[1:]
    farms.require("nft")
    main(scene(f"silent_{function.__name__}", length, function)
         for length in seconds for function in (a_host, a_link))
