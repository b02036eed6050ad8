"""Hosts that are cut off, and agents that bsprun is not heard by any more: nothing of the job stays.

    cutoff.py [PATTERN ...]

Links stay broken, but for hosts that wake up again: what ends here ends by itself.
"""
import signal

from jobs import *
from jobs import GONE, HEARTBEAT, HostPlace

SUPERSTEPS = 12
AT = 4
P = 2
ADVANCE = 6 * HEARTBEAT  # seconds after which an agent would have left if it had been cut off


class Scene:
    """A job of two processes on two hosts, and one spare host; bsprun is on another one, "a"."""

    def __init__(self, place, **more):
        self.place, self.farm = place, place.farm
        self.reference = Reference.of(P, SUPERSTEPS, "-a")
        for pid in range(P):
            place.hold(pid, AT)
        self.job = place.ticker(P, SUPERSTEPS, **more)
        for pid in range(P):
            place.wait_executed(pid, AT)
        place.wait_committed(AT)
        self.first, self.last = place.where(0, AT), place.where(1, AT)
        self.home = self.farm.names[0]

    def go_on(self):
        for pid in range(P):
            self.place.release(pid, AT)

    def check_result(self):
        self.job.check_all(self.reference)
        self.place.check_files(self.reference)
        self.place.check_executions()
        self.place.check_store()

    def empty(self, name, what=None):
        """Waits until nothing (of that name) runs on a host."""
        def found():
            return [name for name in self.farm.processes(name).values()
                    if what is None or name == what]
        wait_until(lambda: not found(), f"the end of all on {name}: {found()}", GONE)


def scene(function):
    def run():
        with HostPlace(P + 1, spares=1) as place:
            function(place)
    return function.__name__, run


def lose_last(place, lose):
    """Whatever it is, the job goes on elsewhere and nothing stays there."""
    at = Scene(place)
    place.strike(lambda: lose(at))
    at.go_on()
    at.check_result()
    at.empty(at.last)


def a_host_without_network(place):
    lose_last(place, lambda at: at.farm.cut(at.last))


def a_host_that_bsprun_does_not_hear(place):
    lose_last(place, lambda at: at.farm.cut_between(at.last, at.home, both=False))


def a_host_that_does_not_hear_bsprun(place):
    lose_last(place, lambda at: at.farm.cut_between(at.home, at.last, both=False))


def the_first_host_without_network(place):
    at = Scene(place)
    place.strike(lambda: at.farm.cut(at.first))
    at.go_on()
    at.check_result()
    at.empty(at.first)


def a_host_that_sleeps(place):
    """It wakes when its part is played: what its processes were is known to nobody any more."""
    at = Scene(place)
    place.strike(lambda: at.farm.freeze(at.last))
    at.go_on()
    at.check_result()
    at.farm.thaw(at.last)
    place.check_clean()


def the_host_of_bsprun_goes(place):
    at = Scene(place)
    at.farm.kill_host(at.home)
    at.empty(at.first)
    at.empty(at.last)


def bsprun_is_stopped(place):
    """Not gone: its host answers for it.  The agents end the processes and wait."""
    at = Scene(place)
    agents = {name: at.job.agent(name) for name in (at.first, at.last)}
    place.strike(lambda: at.job.signal(signal.SIGSTOP))
    for name in agents:
        at.empty(name, "ticker")
    time.sleep(ADVANCE)
    at.job.signal(signal.SIGCONT)
    at.go_on()
    at.check_result()
    check(all(at.job.said().count(f"host {name} was lost") == 0 for name in agents), at.job)


if __name__ == "__main__":
    farms.require("nft")
    main([scene(function) for function in (
        a_host_without_network, a_host_that_bsprun_does_not_hear, a_host_that_does_not_hear_bsprun,
        the_first_host_without_network, a_host_that_sleeps, the_host_of_bsprun_goes,
        bsprun_is_stopped)], together=3)
