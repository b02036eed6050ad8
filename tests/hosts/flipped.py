#!/usr/bin/env python3
"""Bits that are flipped in the memory of one of several replicas, on hosts all of which are this machine.

    flipped.py [TEST...]
    flipped.py --flips N [--seed S]

The second form flips N bits in what is communicated, by jobs of hundreds of them, and says how many were
reported with their process, superstep and host, and where in what is communicated they are.  All of them must be,
and no others."""
import argparse
import os
import re
import sys
import time

from loopback import *
from loopback import BUILD, Failed, LoopbackPlace, alive, check, main, wait_said, wait_until

FLIPS = os.path.join(BUILD, "tests/hosts/flips")
P = 4
# All collectives in the fewest supersteps: a barrier is dear.
MACHINE = {"BSP_SLG": "1,1000000,1"}
KINDS = ("put", "put-offset", "hpput", "got", "get-at", "sent", "tag", "registered", "bcast", "gathered",
         "folded")
REPORT = re.compile(r"the replicas of process (\d+) on host (\S+) and host (\S+) differ in what they "
                    r"communicate in superstep (\d+)")


class Flips:
    """A job of flips.c; cells: of so many hosts with the same processes."""

    def __init__(self, place, seed, supersteps, *words, replicas=2, cells=2, how="continue"):
        self.place, self.seed = place, seed
        self.directory = place.path("flips")
        os.makedirs(self.directory)
        self.job = place.start(
            BSPRUN, *place.options, "-v", "-np", P, "--replicas", replicas, "--on-mismatch", how, FLIPS, *words,
            self.directory, seed, supersteps, env={**place.env, **MACHINE})
        wait_said(self.job, "Processor Zero is host ")
        zero = self.job.said().split("Processor Zero is host ")[1].split()[0]
        self.liar = [host for host in place.hosts if host != zero][seed % (replicas * cells - 1)]
        self.make(f"flip.{self.liar}")
        self.make("begin")

    def make(self, name):
        with open(os.path.join(self.directory, name), "x"):
            pass

    def files(self, what):
        return [name for name in os.listdir(self.directory) if name.startswith(what + ".")]

    def flipped(self):
        """{(process, superstep): kind}, as the program has noted it."""
        found = {}
        for name in self.files("flipped"):
            with open(os.path.join(self.directory, name)) as file:
                for line in file:
                    process, superstep, kind, _ = line.split()
                    found[int(process), int(superstep)] = kind
        return found

    def reported(self):
        """{(process, superstep): the two hosts}"""
        return {(int(process), int(superstep)): {one, two}
                for process, one, two, superstep in REPORT.findall(self.job.said())}

    def wait_done(self):
        """Until both replicas of each process have passed the last superstep."""
        wait_until(lambda: self.job.check_running() or len(self.files("done")) == 2 * P, "the last superstep")

    def wait_for_liar(self):
        """Until it has flipped a bit, or has ended without: processes of other hosts had that one."""
        wait_until(lambda: self.job.check_running() or self.flipped() or
                   any(f".{self.liar}." in name for name in self.files("done")), "the superstep of the flip")

    def end(self):
        self.make("end")
        self.job.wait(0)

    def lines(self):
        return sorted(self.job.out().decode().splitlines())


    def located(self):
        """{(process, superstep)} of those of which a host has said where they differ."""
        return {(int(process), int(superstep))
                for process, _, _, superstep in re.findall(REPORT.pattern + r": first in .*, as host h\d+ has seen",
                                                           self.job.said())}


def place_of(replicas, cells):
    return LoopbackPlace(slots=(P // cells,) * (replicas * cells))


def right_answer(seed, supersteps):
    with LoopbackPlace(slots=(P,)) as place:
        job = Flips.__new__(Flips)
        job.directory = place.path("flips")
        os.makedirs(job.directory)
        for name in ("begin", "end"):
            job.make(name)
        job.job = place.start(BSPRUN, "-np", P, FLIPS, job.directory, seed, supersteps, env=MACHINE)
        job.job.wait(0)
        return job.lines()


def compare(flips):
    """Each flip was reported for its process and superstep, with the host that lies; nothing else was.
    What a process asks for decides what it gets: of two requests that differ one host may have answered
    the one, and another the other."""
    flipped, reported = flips.flipped(), flips.reported()
    missing = {at: kind for at, kind in flipped.items() if at not in reported}
    check(not missing, len(missing), "not reported:", missing, flips.job)
    asked = {superstep for (_, superstep), kind in flipped.items() if kind == "get-at"}
    more = [at for at in reported if at not in flipped and at[1] not in asked]
    check(not more, "nothing was flipped in", more, flips.job)
    others = {at: reported[at] for at in flipped if flips.liar not in reported[at] or len(reported[at]) != 2}
    check(not others, "other hosts than", flips.liar, others)
    return flipped


def flip_many(seed, supersteps, *words, cells=2):
    """One job; {(process, superstep): kind}, all of which were reported, with their places."""
    with place_of(2, cells) as place:
        flips = Flips(place, seed, supersteps, *words, cells=cells)
        flips.wait_done()
        expected = flips.flipped()
        try:
            wait_until(lambda: flips.job.check_running() or expected.keys() <= flips.reported().keys(), "all reports")
        except Failed:
            pass  # compare says which
        compare(flips)
        flips.end()
        located = flips.located()
        check(located <= expected.keys() or "get-at" in expected.values(), located - expected.keys())
        missing = {at: kind for at, kind in expected.items() if at not in located}
        check(not missing, "of", len(expected), "without a place:", missing, flips.job)
        return expected


def hundred_bits():
    """On one cell, whose hosts have all processes, and on two, which send each other what differs."""
    seed = int(time.time())
    print("seed", seed, flush=True)
    for cells, supersteps in ((1, 100), (2, 200)):
        expected = flip_many(seed, supersteps, cells=cells)
        kinds = {kind: list(expected.values()).count(kind) for kind in KINDS}
        print(f"{len(expected)} bits: {kinds}", flush=True)
        check(len(expected) >= 30, "only", len(expected))


def each_kind():
    """Whatever the seed."""
    seed = int(time.time())
    print("seed", seed, flush=True)
    for kind in KINDS:
        check(set(flip_many(seed, 5, "-k", kind, cells=1).values()) == {kind}, kind)


def what_is_not_communicated():
    """Only what the last superstep communicates is reported."""
    seed = int(time.time())
    with place_of(2, 1) as place:
        flips = Flips(place, seed, 41, "-q", cells=1)
        flips.wait_done()
        wait_until(lambda: flips.job.check_running() or flips.reported(), "the last flip")
        check(len(compare(flips)) == 1, flips.flipped())
        flips.end()


def three_replicas():
    """The answer is that of the two that agree, and the third one is given up."""
    seed = int(time.time())
    print("seed", seed, flush=True)
    for number, kind in enumerate(KINDS):
        expected = right_answer(seed + number, 7)
        for cells in (1, 2):
            with place_of(3, cells) as place:
                flips = Flips(place, seed + number, 7, "-o", "-k", kind, replicas=3, cells=cells, how="rollback")
                flips.wait_for_liar()
                flips.end()
                flipped = flips.flipped()
                if cells == 1 or flipped:  # else the process that it is about is not there
                    check(len(flipped) == 1, flipped)
                check(flips.lines() == expected, "another answer", expected, flips.job)
                check("restart" not in flips.job.said(), "it went back", flips.job)


def flip_so_many(count, seed):
    """In jobs of hundreds."""
    done, kinds = 0, dict.fromkeys(KINDS, 0)
    print("seed", seed, flush=True)
    while done < count:
        cells = 1 + seed % 2
        expected = flip_many(seed, 401, cells=cells)
        for kind in expected.values():
            kinds[kind] += 1
        done += len(expected)
        print(f"{done} of {done} reported, {cells} x 2 hosts, seed {seed}", flush=True)
        seed += 1
    print(f"{done} flipped bits, {done} reported in the superstep in which they were communicated, with their places: "
          f"{kinds}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--flips", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options, tests = parser.parse_known_args()
    if options.flips:
        flip_so_many(options.flips, options.seed)
        sys.exit(0)
    sys.argv[1:] = tests
    main([hundred_bits, each_kind, what_is_not_communicated, three_replicas])
