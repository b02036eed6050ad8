"""What the jobs of realjobs.py are: settings with their failures, and rules for when snapshots are
taken.

Times are those of the paper's jobs (snapshot 20 s, restore 50 s, 8 hosts) divided by SCALE: a snapshot
costs half a second, a failure something above a second, and 1 and 5 minutes are 1.5 and 7.5 s.
"""
import math
import os
import subprocess

from hostjob import BUILD, Setting, Work

SCALE = 40.0


class Cell:
    """life: mean seconds of a host; of the beginning, when the rate doubles in `doubling` seconds."""

    def __init__(self, hosts, life, work, fixed, doubling=None, **setting):
        self.setting = Setting(hosts, **setting)
        self.life, self.doubling, self.work, self.fixed = life, doubling, work, fixed

    @property
    def cap(self):
        """Seconds after which a job is not waited for any more."""
        return 4 * self.work.seconds

    @property
    def mean_at_first(self):
        """The true mean time between failures of the job, as it is in the beginning."""
        return self.life / self.setting.hosts

    def mean(self):
        """The same over the time that the job takes, about."""
        mean, over = self.mean_at_first, 1.5 * self.work.seconds
        if not self.doubling:
            return mean
        scale = self.doubling / math.log(2)
        return mean * over / (scale * (math.exp(over / scale) - 1))


def work(seconds):
    """In supersteps of a fifth of a second; snapshots take half a second, however long after the one
    before: all of the state changes."""
    return Work(round(seconds * 5), 0.2, "512K", 100, "1M")


GRID = (1.5, 2.1, 3, 4.2, 6, 7.5)
CELLS = {
    "8 hosts": Cell(8, 96.0, work(60), GRID),
    "4 hosts, rates double": Cell(4, 120.0, work(60), GRID, doubling=60.0),
    "4 hosts, own directories": Cell(4, 60.0, work(60), GRID, private=True),
    "8 hosts, images written meanwhile": Cell(8, 96.0, work(60), (0.3, 0.6, *GRID), asynchronous="on"),
}
SCALED = {f"{minutes * 60 / SCALE:g} s": f"{minutes} min scaled" for minutes in (1, 5)}  # of the grid
MINUTES = {"1 min": 60.0, "5 min": 300.0}
SELDOM = {"1 min": 3, "5 min": 3}  # traces: with these a job hardly ends


def young(cost, mean):
    return math.sqrt(2 * cost * mean)


def lambert(z):
    """The principal branch of Lambert's function for z in (-1/e, 0]."""
    w = -1 + math.sqrt(max(0.0, 2 * (1 + math.e * z)))
    for _ in range(50):
        w -= (w * math.exp(w) - z) / (math.exp(w) * (w + 1) + 1e-300)
    return w


def best_interval(cost, mean):
    """Of the exact renewal model: (1 + W0(-exp(-V / M - 1))) M."""
    return (1 + lambert(-math.exp(-cost / mean - 1))) * mean


def utilisation(interval, cost, mean, restore):
    return interval / ((mean + restore) * math.expm1((interval + cost) / mean))


class Rule:
    """When snapshots are taken: options of a bsprun."""

    def __init__(self, name, options, build=BUILD, history=None):
        self.name, self.options, self.build, self.history = name, options, build, history


def seconds_option(seconds):
    return f"{round(seconds * 1000)}ms"


def rules(cell, cost, before=None, history=None):
    """All that are compared in a cell where a snapshot costs so many seconds.  before: the build of
    an older bspzero; history: a directory of what earlier jobs saw."""
    found = [Rule("auto", ["--every", "auto"])]
    if knows_mtbf():
        found.append(Rule("auto, --mtbf", ["--every", "auto", "--mtbf", seconds_option(cell.life)]))
        found.append(Rule("5 % rule", ["--every", "auto", "--overhead", "5%"]))
    if history:
        found.append(Rule("auto, history", ["--every", "auto"], history=history))
    if before:
        found.append(Rule("auto of before", ["--every", "auto"], build=os.path.abspath(before)))
    found += [Rule(f"{interval:g} s", ["--every", seconds_option(interval)])
              for interval in cell.fixed]
    found.append(Rule("Young", ["--every", seconds_option(young(cost, cell.mean()))]))
    found += [Rule(name, ["--every", seconds_option(MINUTES[name])]) for name in SELDOM]
    return found


def knows_mtbf():
    """Whether this bsprun has --mtbf."""
    done = subprocess.run([os.path.join(BUILD, "bin", "bsprun"), "--mtbf", "0", "true"],
                          capture_output=True, text=True, check=False)
    return "unknown option" not in done.stderr
