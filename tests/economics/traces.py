"""Lives of the hosts of a job, drawn from a seed: when each is powered off, which takes its place.

    traces.py --hosts N --life SECONDS [--doubling SECONDS] [--until SECONDS] SEED    a CSV

A job always computes on N hosts: when one is powered off, a spare takes its place.  The machine is
powered on some time later, and is the next spare but a few, with another name: bsprun does not use a
host again that was silent.  All times are those since the program began, so every job that is given
the same seed meets the same failures, whatever its snapshots cost.
"""
import argparse
import csv
import math
import random
import sys

AHEAD = 3  # spares that are up when nothing has failed
OFF = 10.0  # seconds until a machine is powered on again, or sooner, when it is the only one left
REST = 3.0  # seconds after a failure in which what has taken the place does not fail


class Failure:
    """at: the power goes off; host: of that name; spare: the one that takes its place; back: when the
    machine is on again, as host `again`."""

    def __init__(self, at, host, spare):
        self.at, self.host, self.spare = at, host, spare
        self.back, self.again = None, None


def next_failure(draw, born, life, doubling):
    """When who lives from `born` on fails: the rate is 1 / life at 0 and doubles."""
    hazard = draw.expovariate(1.0)
    if not doubling:
        return born + life * hazard
    scale = doubling / math.log(2)
    return scale * math.log(math.exp(born / scale) + hazard * life / scale)


def times(seed, hosts, life, doubling, until):
    """[(time, place)] of all failures, in order: each place in the job has draws of its own."""
    found = []
    for place in range(hosts):
        draw = random.Random(f"{seed} {place}")
        at = next_failure(draw, 0.0, life, doubling)
        while at < until:
            found.append((at, place))
            at = next_failure(draw, at + REST, life, doubling)
    return sorted(found)


class Trace:
    """failures: in order.  first: names of the hosts that compute at the beginning; spares: of all
    that take their places, in that order, of which the first AHEAD are up at the beginning."""

    def __init__(self, seed, hosts, life, doubling=None, until=600.0):
        self.first = [f"m{i + 1}" for i in range(hosts)]
        self.spares = [f"m{hosts + i + 1}" for i in range(AHEAD)]
        self.failures = []
        returned = {}
        at_work = list(self.first)
        for at, place in times(seed, hosts, life, doubling, until):
            failure = Failure(at, at_work[place], self.spares[len(self.failures)])
            machine = failure.host.split("-")[0]
            returned[machine] = returned.get(machine, 0) + 1
            failure.again = f"{machine}-{returned[machine]}"
            self.spares.append(failure.again)
            at_work[place] = failure.spare
            self.failures.append(failure)
        for number, failure in enumerate(self.failures):
            needed = number + AHEAD
            last = self.failures[needed].at - 1.0 if needed < len(self.failures) else math.inf
            failure.back = max(failure.at, min(failure.at + OFF, last))

    def lives(self):
        """(host, up, down) of all that fail."""
        up = {failure.again: failure.back for failure in self.failures}
        return [(failure.host, up.get(failure.host, 0.0), failure.at) for failure in self.failures]

    def write(self, file):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["host", "up", "down"])
        for host, up, down in self.lives():
            writer.writerow([host, f"{up:.3f}", f"{down:.3f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--life", type=float, default=96.0, help="mean seconds of a host")
    parser.add_argument("--doubling", type=float, help="seconds in which the rate doubles")
    parser.add_argument("--until", type=float, default=600.0)
    parser.add_argument("seed", type=int)
    options = parser.parse_args()
    Trace(options.seed, options.hosts, options.life, options.doubling, options.until).write(sys.stdout)


if __name__ == "__main__":
    main()
