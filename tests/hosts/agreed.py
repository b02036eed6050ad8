#!/usr/bin/env python3
"""Snapshots count only when replicas agree on what led to them: a job goes back to one that is right, and one
that is too slow to agree delays nobody."""
import os
import re
import signal
import sys
import time

from loopback import *
from loopback import BUILD, LoopbackPlace, check, long, main, wait_until

LIAR = os.path.join(BUILD, "tests/hosts/liar")
P, SUPERSTEPS, EVERY = 4, 60, 5
FUTEX = "202"  # the number of the system call
NEVER_S = 1.5  # what must not happen has not happened after that


class Lies:
    """A job of liar.c on hosts with two slots.  With two cells, processes 2 and 3 live on h1, h3 and so on."""

    def __init__(self, place, kind, at, replicas, heartbeat=30, holds=(), options=()):
        self.place, self.replicas = place, replicas
        self.directory = place.path("lies")
        os.makedirs(self.directory)
        self.make("lie.h1")
        for hold in holds:
            self.make("hold." + hold)
        self.job = place.start(BSPRUN, *place.options, "-v", "-np", P, "--replicas", replicas, "--heartbeat",
                               heartbeat, "--ckpt", place.store, "--every", EVERY, *options, LIAR, kind, self.directory,
                               SUPERSTEPS, at, env=place.env)

    def make(self, name):
        with open(os.path.join(self.directory, name), "x"):
            pass

    def let_go(self, *holds):
        for hold in holds:
            os.unlink(os.path.join(self.directory, "hold." + hold))

    def inside(self, host, process):
        """The superstep in which it is, and its ospid."""
        try:
            with open(os.path.join(self.directory, f"in.{host}.{process}")) as file:
                return tuple(map(int, file.read().split()))
        except FileNotFoundError:
            return 0, 0

    def wait_inside(self, superstep, *hosts):
        wait_until(lambda: self.job.check_running() or
                   all(max(self.inside(host, process)[0] for process in range(P)) >= superstep for host in hosts),
                   f"superstep {superstep} on {hosts}")

    def committed(self):
        return self.place.committed()

    def has_lied(self):
        return not os.path.exists(os.path.join(self.directory, "lie.h1"))

    def ends_right(self):
        self.job.wait(0)
        expected = right_answer()
        check(sorted(self.job.out().decode().splitlines()) == expected, "another answer", expected, self.job)
        check(self.has_lied(), "nothing was wrong", self.job)


def right_answer():
    with LoopbackPlace(slots=(P,)) as place:
        directory = place.path("lies")
        os.makedirs(directory)
        job = place.start(BSPRUN, "-np", P, LIAR, "put", directory, SUPERSTEPS, 1)
        job.wait(0)
        return sorted(job.out().decode().splitlines())


def place_of(replicas):
    return LoopbackPlace(slots=(2,) * 2 * replicas)


def two_differ(kind, at):
    """The replica that is wrong is ahead, and the other one is slow: the job does not wait for it, but no
    snapshot is committed of what only one of them has computed."""
    def test():
        with place_of(2) as place:
            held = f"h3.{at}"
            lies = Lies(place, kind, at, 2, holds=[held])
            lies.wait_inside(at + 6 * EVERY, "h0", "h1", "h2")
            check(lies.has_lied() and lies.inside("h3", 3)[0] < at, "h3 has gone on", lies.job)
            check(lies.committed() <= at, "committed after", lies.committed(), lies.job)
            lies.let_go(held)
            lies.ends_right()
            check(re.search(rf"differ in what they communicate in superstep {at}\b", lies.job.said()), lies.job)
            check("continues from superstep" in lies.job.said(), "it has not gone back", lies.job)
    test.__name__ = f"two_differ_in_a_{kind}"
    return test


def all_agree():
    """One is slow for a while, and agrees: what it has delayed is committed, and nothing is done again."""
    with place_of(2) as place:
        held = "h3.12"
        lies = Lies(place, "put", SUPERSTEPS, 2, holds=[held])
        lies.wait_inside(42, "h0", "h1", "h2")
        check(lies.committed() <= 12, "committed", lies.committed(), lies.job)
        lies.let_go(held)
        wait_until(lambda: lies.job.check_running() or lies.committed() > 12, "a snapshot")
        lies.job.wait(0)
        check("continues from superstep" not in lies.job.said(), "it has gone back", lies.job)


def too_slow():
    """After two heartbeats a snapshot is committed though one has not come so far."""
    with place_of(2) as place:
        held = "h3.12"
        lies = Lies(place, "put", SUPERSTEPS, 2, heartbeat=2, holds=[held])
        quick = [f"{host}.50" for host in ("h0", "h1", "h2")]
        for hold in quick:
            lies.make("hold." + hold)
        lies.wait_inside(16, "h0", "h1", "h2")
        begun = time.monotonic()
        wait_until(lambda: lies.job.check_running() or lies.committed() > 12, "a snapshot")
        check(time.monotonic() - begun > 2, "it has not waited", lies.job)
        lies.let_go(*quick, held)
        lies.job.wait(0)
        check("continues from superstep" not in lies.job.said(), "it has gone back", lies.job)


HOSTS = "h0", "h1", "h2", "h3"
EARLY = {at: [f"{host}.{at + 1}" for host in HOSTS] for at in (EVERY, 2 * EVERY)}


def let_go_early(lies):
    """One after the other: with replicas a snapshot is skipped that is due before the last one is committed."""
    for at, holds in EARLY.items():
        wait_until(lambda: lies.job.check_running() or lies.committed() == at, f"snapshot {at}")
        lies.let_go(*holds)


def too_slow_and_wrong():
    """Such a snapshot does not count when it is known that they differ."""
    with place_of(2) as place:
        held, quick = "h3.12", [f"{host}.17" for host in ("h0", "h1", "h2")]
        lies = Lies(place, "put", 12, 2, heartbeat=2, holds=[held, *quick, *sum(EARLY.values(), [])])
        let_go_early(lies)
        wait_until(lambda: lies.job.check_running() or lies.committed() == 15, "a snapshot")
        lies.let_go(held, *quick)
        lies.ends_right()
        check("continues from superstep 10" in lies.job.said(), "it has not gone back far enough", lies.job)


@long
def too_slow_for_several_and_wrong():
    """All snapshots since the last one that was compared may be wrong, and that one is not removed."""
    with place_of(2) as place:
        held, quick = "h3.12", [[f"{host}.{at + 2}" for host in ("h0", "h1", "h2")] for at in (15, 20, 25)]
        lies = Lies(place, "put", 12, 2, heartbeat=2, holds=[held, *sum(quick, []), *sum(EARLY.values(), [])],
                    options=["--keep", "1"])
        let_go_early(lies)
        for at, holds in zip((15, 20, 25), quick):
            wait_until(lambda: lies.job.check_running() or lies.committed() == at, f"snapshot {at}")
            lies.let_go(*holds, *([held] if at == 25 else []))
        lies.ends_right()
        check("continues from superstep 10" in lies.job.said(), "it has not gone back far enough", lies.job)


def in_futex(ospid):
    with open(f"/proc/{ospid}/syscall") as file:
        return file.read().split()[0] == FUTEX


def three_differ_in_a_get():
    """The first to come to the barrier of a snapshot answers a get wrongly, before the others answer it: its
    images are complete, and must not be committed.  One of the others has arrived there before, but stands
    still, as two must agree that the processes arrive."""
    at = 3 * EVERY - 1
    with LoopbackPlace(slots=(P,) * 3) as place:
        lies = Lies(place, "get", at, 3, holds=[f"h1.{at}", f"h2.{at}"])

        def waits(process):
            superstep, ospid = lies.inside("h0", process)
            return superstep == at and in_futex(ospid)
        wait_until(lambda: lies.job.check_running() or all(map(waits, range(P))), "the barrier")
        stopped = [lies.inside("h0", process)[1] for process in range(P)]
        for ospid in stopped:
            os.kill(ospid, signal.SIGSTOP)
        try:
            lies.let_go(f"h1.{at}")
            wait_until(lambda: lies.job.check_running() or images_are_there(place, at + 1), "the images")
            until = time.monotonic() + NEVER_S
            while time.monotonic() < until:
                check(lies.committed() <= at, "committed", lies.committed(), lies.job)
                time.sleep(0.02)
        finally:
            for ospid in stopped:
                os.kill(ospid, signal.SIGCONT)
        lies.let_go(f"h2.{at}")
        lies.ends_right()
        check("continues from superstep" not in lies.job.said(), "it has gone back", lies.job)


PLACES = {"put": r"puts for process 2, at byte 26 \(slot 0, offset 0, 8 bytes, at \S*liar.c:\d+\)",
          "far": r"puts for process 0, at byte 26 \(slot 0, offset 8, 8 bytes, at \S*liar.c:\d+\)",
          "get": r"what was got for process 2, at byte 10 \(8 bytes\)",
          "register": r"registrations and tag sizes, at call 1 \(bsp_push_reg, slot \d+, (?:16|32) bytes, at \S*liar.c:\d+\)"}
WAYS = ((2, "rollback"), (2, "continue"), (2, "end"), (3, "rollback"))


def located(kind):
    """Where the contents differ is said, once, whether others have seen both or only the two hosts have them,
    also if the replica that is wrong is given up, or the job goes back or ends."""
    def test():
        for replicas, how in WAYS:
            with place_of(replicas) as place:
                lies = Lies(place, kind, 12, replicas, options=["--on-mismatch", how])
                lies.job.wait(1 if how == "end" else 0)
                check(lies.has_lied(), "nothing was wrong", lies.job)
                seen = re.findall(r"the replicas of process 3 on host (h\d) and host (h\d) differ in what they communicate in "
                                  rf"superstep 12: first in {PLACES[kind]}, as host h\d has seen$", lies.job.said(), re.M)
                check(len(seen) == 1 and "h1" in seen[0], replicas, how, seen, lies.job)
    test.__name__ = f"located_in_a_{kind}"
    return test


def images_are_there(place, superstep):
    """Whatever they are called until they count."""
    written = {name.split(".")[0] for directory, _, files in os.walk(place.store) for name in files
               if os.path.basename(directory).startswith(f"{superstep}.") and ".img" in name}
    return len(written) == P


if __name__ == "__main__":
    main([two_differ("put", 12), two_differ("get", 3 * EVERY - 1), all_agree, too_slow,
          too_slow_and_wrong, too_slow_for_several_and_wrong, three_differ_in_a_get, *(located(kind) if kind in ("put", "get") else long(located(kind)) for kind in PLACES)])
