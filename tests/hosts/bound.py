"""What a process is bound to that goes on on another host: what that host has for it."""
import os

from loopback import *
from loopback import (BSPRUN, TICKER, LoopbackPlace, alive, check, copies_of, main, send,
                      wait_until)
from bindings import A, ALONE, B, BOTH, ONE_CORE, TWO_CORES, list_of, skip_unless_possible

SUPERSTEPS = 6
# A network of its own, with the loopback device.
NETWORK = [*(ALONE or []), "sh", "-c", 'ip link set lo up && exec "$@"', "sh", "taskset", "-c", f"{A},{B}"]


def start(place, p, *options):
    return place.start(*NETWORK, BSPRUN, *place.options, "-np", p, *options, "--ckpt", place.store,
                       "--every", 1, TICKER, place.files, SUPERSTEPS, "-a", env=dict(place.env))


def lose(place, host):
    """Its frozen copies notice soon that they have no agent any more."""
    place.wait_committed(2)
    place.kills.append(place.committed())
    place.will_not_return(host)
    agent = place.agent(host)
    copies = copies_of(agent)
    send(agent, signal.SIGKILL)
    wait_until(lambda: not any(map(alive, copies)), "the end of the copies of " + host)


def moved(to_machine, mask, bind, expected, said):
    """The only process, which begins on the first core, after its host was lost."""
    reference = Reference.of(1, SUPERSTEPS, "-a")
    with LoopbackPlace(slots=[1, 1]) as place:
        for host, machine in (("h0", TWO_CORES), ("h1", to_machine)):
            place.write("machine." + host, machine)
        place.write("core.h1", mask)
        place.hold(0, 3)
        job = start(place, 1, "--bind-to", bind, "--report-bindings")
        check(list_of(place.wait_executed(0, 3)) == A, job)
        lose(place, "h0")
        check(list_of(place.wait_executed(0, 3, times=2)) == expected, job)
        place.release(0, 3)
        job.check_all(reference)
        lines = [line for line in job.said().splitlines() if "is bound to" in line]
        check(lines == [f"bsprun: host h0: pid 0 is bound to core 0[hwt 0], processor {A}",
                        f"bsprun: host h1: pid 0 is bound to {said}"], lines)
        place.check_files(reference)
        place.check_clean()


def to_a_core_of_two_threads():
    moved(ONE_CORE, f"{A},{B}", "core", BOTH, f"core 0[hwt 0-1], processors {BOTH}")


def to_what_a_mask_leaves():
    moved(TWO_CORES, B, "core", B, f"core 1[hwt 0], processor {B}")


def bound_no_more():
    """By default one process has a core, and so the agent has the other one; two would leave it none.
    The process that stays goes on as a copy, which had been bound."""
    reference = Reference.of(2, SUPERSTEPS, "-a")
    with LoopbackPlace(slots=[1, 1], options=["--oversubscribe"]) as place:
        for host in place.hosts:
            place.write("machine." + host, TWO_CORES)
        for pid in (0, 1):
            place.hold(pid, 3)
        job = start(place, 2)
        check(sorted(list_of(place.wait_executed(pid, 3)) for pid in (0, 1)) == sorted([A, B]), job)
        lose(place, "h1")
        lists = [list_of(place.wait_executed(pid, 3, times=2)) for pid in (0, 1)]
        check(lists == [BOTH, BOTH], lists, job)
        for pid in (0, 1):
            place.release(pid, 3)
        job.check_all(reference)
        check("is bound" not in job.said(), job)
        place.check_files(reference)
        place.check_clean()


if __name__ == "__main__":
    skip_unless_possible()
    main([to_a_core_of_two_threads, to_what_a_mask_leaves, bound_no_more])
