"""The settings of the tables in doc/economics.md, and simulated jobs in them.

A cell is a number of hosts, their mean life, whether the rate of failures doubles, what a snapshot
costs and a restore.  Its job is so long that it would take HORIZON if it had the best interval at
every moment: so it meets many failures, and rates that double do so twice.  Jobs that take LIMIT
times as long are given up, and count with that time.
"""
import functools
import json
import math
import subprocess

HOUR = 3600.0
HORIZON = 42 * HOUR
DOUBLING = 20 * HOUR
LIMIT = 3.5
SEARCH_LIMIT = 2.2  # while the best interval is looked for
FIXED = [60, 120, 300, 600, 1200, 1800, 3600]  # seconds
BEST_WITHIN = 1.02  # what auto may take, times the best fixed interval


class Cell:
    def __init__(self, hosts, mtbf, doubles, snapshot=20, restore=50, options=()):
        self.hosts, self.mtbf, self.doubles = hosts, mtbf, doubles
        self.snapshot, self.restore = snapshot, restore
        self.options = list(options)  # more of bspsim run

    def __str__(self):
        return (f"{self.hosts} hosts of {self.mtbf} s{', doubling' if self.doubles else ''}, "
                f"V = {self.snapshot}, Td = {self.restore}"
                f"{', '.join(['', *self.options])}")

    def rate(self, time=0.0):
        return self.hosts / self.mtbf * (2 ** (time / DOUBLING) if self.doubles else 1)

    def best_interval(self, time=0.0):
        """Where the exact utilisation is largest, by bisection of its derivative's sign."""
        a, v = self.rate(time), self.snapshot
        low, high = 0.0, 1 / a
        for _ in range(100):
            middle = (low + high) / 2
            # d/dT of T / (exp(a (T + V)) - 1)
            if 1 - math.exp(-a * (middle + v)) > a * middle:
                low = middle
            else:
                high = middle
        return low

    def utilisation(self, interval, time=0.0):
        """Exact; failures strike restores, too, as they do in the simulated jobs."""
        a = self.rate(time)
        exponent = a * (interval + self.snapshot)
        if exponent > 600:
            return 0.0
        return interval * a * math.exp(-a * self.restore) / math.expm1(exponent)

    @functools.cached_property
    def work(self):
        steps = 2000 if self.doubles else 1
        times = [(i + 0.5) * HORIZON / steps for i in range(steps)]
        return sum(self.utilisation(self.best_interval(t), t) for t in times) * HORIZON / steps


def figure_4(hosts=(8, 16, 32)):
    return [Cell(k, mtbf, doubles) for doubles in (False, True) for k in hosts
            for mtbf in (4000, 7200, 14400)]


def figure_5(hosts=(8,)):
    cells = []
    for doubles in (False, True):
        for k in hosts:
            cells += [Cell(k, 7200, doubles, snapshot=v) for v in (5, 10, 20, 40, 80)]
            cells += [Cell(k, 7200, doubles, restore=td) for td in (10, 25, 50, 100, 200)]
    return cells


def others():
    """[(what it is, a cell)]: lives and costs that are not those of the model."""
    options = [("Weibull lives, shape 0.7", ["--lives", "weibull", "--shape", "0.7"]),
               ("Weibull lives, shape 1.5", ["--lives", "weibull", "--shape", "1.5"]),
               ("log-normal lives, sigma 1.5", ["--lives", "lognormal", "--shape", "1.5"]),
               ("hosts are away for 10 min", ["--repair", "10m"]),
               ("hosts are away for 1 h", ["--repair", "1h"]),
               ("snapshots count after 60 s", ["--commit", "60s"]),
               ("snapshots count after 150 s", ["--commit", "150s"]),
               ("supersteps of 60 s", ["--superstep", "60s"])]
    return [(name, Cell(8, 7200, False, options=words)) for name, words in options]


class Simulator:
    def __init__(self, bspsim, runs, seed):
        self.bspsim, self.runs, self.seed = bspsim, runs, seed
        self.simulated = 0

    def command(self, cell, every, limit=LIMIT):
        words = [self.bspsim, "run", "--work", f"{cell.work:.3f}s", "--hosts", str(cell.hosts),
                 "--mtbf", f"{cell.mtbf}s", "--snapshot", f"{cell.snapshot}s",
                 "--restore", f"{cell.restore}s", "--limit", f"{limit * HORIZON}s",
                 "--runs", str(self.runs), "--seed", str(self.seed),
                 "--every", every if isinstance(every, str) else f"{every:.3f}s"]
        words += cell.options
        return words + (["--doubling", f"{DOUBLING}s"] if cell.doubles else [])

    def run(self, cell, every, limit=LIMIT):
        """What `bspsim run --json` says."""
        self.simulated += self.runs
        words = self.command(cell, every, limit) + ["--json"]
        return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)

    def each(self, cell, every):
        """The seconds of every job."""
        self.simulated += self.runs
        words = self.command(cell, every) + ["--each"]
        text = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        return [float(line.split(",")[1]) for line in text.splitlines()[1:]]

    def plan(self, cell):
        """What `bspsim plan --json` says of the cell's first moment."""
        words = [self.bspsim, "plan", "--work", f"{cell.work:.3f}s", "--hosts", str(cell.hosts),
                 "--mtbf", f"{cell.mtbf}s", "--snapshot", f"{cell.snapshot}s",
                 "--restore", f"{cell.restore}s", "--runs", "1", "--json"]
        return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)

    def best_fixed(self, cell, steps=9):
        """(interval, seconds): by golden section of the logarithm, all with the same failures.

        The rate of failures at the end is no lower than at the beginning, so the best fixed interval
        lies between the best ones of those two rates, or not far outside."""
        low = math.log(cell.best_interval(HORIZON) / 1.6)
        high = math.log(cell.best_interval() * (1.1 if cell.doubles else 1.6))

        def seconds_of(logarithm):
            return self.run(cell, math.exp(logarithm), SEARCH_LIMIT)["seconds"]

        golden = (math.sqrt(5) - 1) / 2
        left, right = high - golden * (high - low), low + golden * (high - low)
        at_left = seconds_of(left)
        at_right = seconds_of(right)
        found = [(at_left, left), (at_right, right)]
        for _ in range(steps):
            if at_left < at_right:
                high, right, at_right = right, left, at_left
                left = high - golden * (high - low)
                at_left = seconds_of(left)
                found.append((at_left, left))
            else:
                low, left, at_left = left, right, at_right
                right = low + golden * (high - low)
                at_right = seconds_of(right)
                found.append((at_right, right))
        where = math.exp(min(found)[1])
        return where, self.run(cell, where)["seconds"]


def ratio_of_means(a, b):
    """(ratio, standard error) of the means of two lists that are paired."""
    n = len(a)
    mean_a, mean_b = sum(a) / n, sum(b) / n
    ratio = mean_a / mean_b
    squares = sum((x - ratio * y) ** 2 for x, y in zip(a, b))
    return ratio, math.sqrt(squares / (n - 1) / n) / mean_b if n > 1 else math.inf
