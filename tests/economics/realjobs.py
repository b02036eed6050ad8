#!/usr/bin/env python3
"""Real jobs on hosts that fail: the time to solution of `--every auto` against fixed intervals.

    realjobs.py [--traces N] [--minutes M] [--side N] [--cell NAME]... [--before BUILD] OUT
    realjobs.py --tiny

In each cell (cells.py) every rule runs the same program on network namespaces under the same failures,
trace by trace; the rules of a trace run side by side, in an order that the seed shuffles.  OUT gets the
traces, what each job said, and results.jsonl, a line per job; with that there, what has been done is
not done again.  tables.py makes tables of it.  --minutes: no job is begun after that time.

--before: a build of an older bspzero, whose `--every auto` is compared, too.  --tiny: one trace on four
hosts, as a test: the answer is that of a job without failures, and the snapshots come when the model
says.
"""
import argparse
import fcntl
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ALONE = "REALJOBS_ALONE"  # set where the temporary files are in memory


def in_memory():
    """Goes on in a mount namespace with a directory for temporary files that is in memory: what other
    programs write to the disk changes no result, and nothing is left, also after kill -9."""
    if os.environ.get(ALONE) or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    script = ('directory=$(mktemp -d "${TMPDIR:-/tmp}/bspzero-jobs-XXXXXX") && '
              'mount -t tmpfs -o mode=755 none "$directory" || exit 1; '
              'TMPDIR=$directory "$@"; status=$?; umount -l "$directory"; rmdir "$directory"; exit $status')
    probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"],
                           capture_output=True, check=False)
    if probe.returncode == 0:
        os.environ[ALONE] = "1"
        os.execvp("unshare", ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, *sys.argv])


if __name__ == "__main__":
    in_memory()
import hostjob  # noqa: E402
from cells import CELLS, SELDOM, Rule, best_interval, knows_mtbf, rules  # noqa: E402
from hostjob import Failed, Setting, Work, check, run_job  # noqa: E402
from traces import AHEAD, Trace  # noqa: E402

NEIGHBOURS = "/proc/sys/net/ipv4/neigh/default/gc_thresh3"
WARM = 3  # jobs before the first, of which a history tells
READY = " is complete"  # beside a history that is
WARM_SEED = 900000


def trace_of(cell, seed):
    return Trace(seed, cell.setting.hosts, cell.life, cell.doubling, cell.cap + 30)


# ---- One job, in a process of its own ------------------------------------------------------------

def run_one(out, name, rule, seed):
    cell = CELLS[name]
    result = {"cell": name, "rule": rule.name, "seed": seed}
    environment = {}
    with tempfile.TemporaryDirectory(prefix="history-") as home:
        if rule.history:
            environment["BSPZERO_HISTORY"] = os.path.join(home, "history")
            shutil.copy(os.path.join(rule.history, "history"), environment["BSPZERO_HISTORY"])
        try:
            result.update(run_job(cell.setting, cell.work, trace_of(cell, seed), rule.options,
                                  cell.cap, rule.build, environment=environment))
        except Failed as failure:
            result.update(finished=False, failed=str(failure), said=str(failure))
    keep(out, result)


def keep(out, result):
    said = os.path.join(out, "said", f"{result['cell']}, {result['seed']}, {result['rule']}")
    os.makedirs(os.path.dirname(said), exist_ok=True)
    with open(said.replace("%", "percent"), "w") as file:
        file.write(result.pop("said"))
    with open(os.path.join(out, "results.jsonl"), "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(result) + "\n")


# ---- All of them ---------------------------------------------------------------------------------

def most_side_by_side(hosts):
    """How many jobs the kernel has room for in its one table of neighbours, which all hosts of all
    farms share: a host that finds no room there cannot be reached."""
    try:
        with open(NEIGHBOURS) as file:
            return max(1, int(file.read()) // (hosts + AHEAD + 2) ** 2)
    except OSError:
        return 1 << 30


class Bench:
    def __init__(self, options):
        self.options, self.out = options, os.path.abspath(options.out)
        self.end = time.monotonic() + options.minutes * 60
        self.running = {}
        os.makedirs(self.out, exist_ok=True)
        self.cells = options.cell or list(CELLS)
        most = most_side_by_side(max(CELLS[name].setting.hosts for name in self.cells))
        if options.side > most:
            print(f"{most} jobs side by side instead of {options.side}: {NEIGHBOURS} is too small "
                  "for more", flush=True)
            options.side = most
        self.costs = self.stored("costs.json")
        self.before = self.old_build() if options.before else None

    def stored(self, name):
        try:
            with open(os.path.join(self.out, name)) as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def old_build(self):
        """The older build with the worker that is linked with its library."""
        directory = os.path.join(self.out, "before")
        os.makedirs(directory, exist_ok=True)
        link = os.path.join(directory, "bin")
        if not os.path.islink(link):
            os.symlink(os.path.join(os.path.abspath(self.options.before), "bin"), link)
        worker = os.path.join(directory, "worker")
        if not os.path.exists(worker):  # made once: images are of this file
            subprocess.run([os.path.join(self.options.before, "bin", "bspcc"), "-O2", "-o", worker,
                            os.path.join(HERE, "worker.c")], check=True)
        return directory

    def done(self):
        try:
            with open(os.path.join(self.out, "results.jsonl")) as file:
                return {(r["cell"], r["seed"], r["rule"]) for r in map(json.loads, file)}
        except FileNotFoundError:
            return set()

    def measure_costs(self):
        """What a snapshot costs in each cell: the median pause of jobs that nothing befalls."""
        for name in self.cells:
            if name in self.costs:
                continue
            cell = CELLS[name]
            quiet = Trace(0, cell.setting.hosts, 1e9, None, 60)
            work = Work(120, 0.1, cell.work.state, cell.work.share, cell.work.disk)
            result = run_job(cell.setting, work, quiet, ["--every", "1500ms"], 100)
            self.costs[name] = {
                "cost": statistics.median(result["snapshot_pauses"]),
                "commit": statistics.median(result["commits"]),
                "useful": result["useful"] / work.seconds,
            }
            print(f"{name}: {self.costs[name]}", flush=True)
        with open(os.path.join(self.out, "costs.json"), "w") as file:
            json.dump(self.costs, file, indent=1)

    def history_of(self, name):
        """What some jobs of this kind, of other seeds, have left; None: this bsprun keeps none."""
        directory = os.path.join(self.out, "history", name)
        return directory if knows_mtbf() else None

    def warm(self):
        """Begins to make the histories."""
        for name in self.cells:
            directory = self.history_of(name)
            if not directory or os.path.exists(directory + READY):
                continue
            shutil.rmtree(directory, ignore_errors=True)
            self.start(["--warm", name, self.out])

    def is_ready(self, task):
        return "history" not in task[2] or os.path.exists(self.history_of(task[0]) + READY)

    def tasks(self):
        """Those that need a history which is not there yet come as soon as it is."""
        late = []
        for task in self.all_tasks():
            late.append(task)
            ready = [one for one in late if self.is_ready(one)]
            late = [one for one in late if one not in ready]
            yield from ready
        while late:
            ready = [one for one in late if self.is_ready(one)]
            late = [one for one in late if one not in ready]
            yield from ready
            if not ready:
                self.wait_for(len(self.running) - 1)

    def all_tasks(self):
        done = self.done()
        for number in range(self.options.traces):
            for name in self.cells:
                seed = self.options.seed + number
                found = [rule.name for rule in self.rules_of(name)
                         if number < SELDOM.get(rule.name, 1 << 30) and
                         (name, seed, rule.name) not in done]
                self.keep_trace(name, seed)
                random.Random(f"{seed} {name}").shuffle(found)
                for rule in found:
                    yield name, seed, rule

    def rules_of(self, name):
        found = rules(CELLS[name], self.costs[name]["cost"], self.before, self.history_of(name))
        if self.options.rule:
            found = [rule for rule in found if rule.name in self.options.rule]
        return found

    def keep_trace(self, name, seed):
        directory = os.path.join(self.out, "traces")
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, f"{name}, {seed}.csv"), "w") as file:
            trace_of(CELLS[name], seed).write(file)

    def start(self, words):
        options = ["--before", self.options.before] if self.options.before else []
        process = subprocess.Popen([sys.executable, os.path.abspath(__file__), *options, *words])
        self.running[process.pid] = process

    def wait_for(self, most):
        """Until no more than so many run."""
        while len(self.running) > most:
            pid, status = os.wait()
            process = self.running.pop(pid, None)
            if process:
                process.returncode = os.waitstatus_to_exitcode(status)
                check(process.returncode == 0, "a job's process failed:", process.args)

    def end_running(self):
        """Each ends its hosts when it is told to end."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.wait()

    def run_tasks(self):
        for name, seed, rule in self.tasks():
            self.wait_for(self.options.side - 1)
            if time.monotonic() >= self.end:
                print("the time is over", flush=True)
                break
            self.start(["--one", name, rule, "--seed", str(seed), self.out])
        self.wait_for(0)

    def run(self):
        self.measure_costs()
        try:
            self.warm()
            self.run_tasks()
        finally:
            self.end_running()
        broken = self.failures()
        for failure in broken:
            print("FAILED:", failure)
        return 1 if broken else 0

    def failures(self):
        with open(os.path.join(self.out, "results.jsonl")) as file:
            return [f"{r['cell']}, {r['seed']}, {r['rule']}: {r['failed'].splitlines()[0]}"
                    for r in map(json.loads, file) if r.get("failed")]


def warm(out, name):
    """Jobs one after the other, each with what those before it have left."""
    cell = CELLS[name]
    directory = os.path.join(out, "history", name)
    os.makedirs(directory)
    environment = {"BSPZERO_HISTORY": os.path.join(directory, "history")}
    for number in range(WARM):
        result = run_job(cell.setting, cell.work, trace_of(cell, WARM_SEED + number),
                         ["--every", "auto"], cell.cap, environment=environment)
        result.update(cell=name, seed=WARM_SEED + number, rule="warm")
        keep(out, result)
    with open(directory + READY, "w"):
        print(f"{name}: a history of {WARM} jobs", flush=True)


# ---- As a test -----------------------------------------------------------------------------------

def tiny():
    """Four hosts, one of which fails; snapshots when the model says, within a third."""
    life, interval_of = 24.0, best_interval
    setting = Setting(4)
    work = Work(100, 0.05, "64K", 100, "512K")
    trace = next(t for t in (Trace(seed, 4, life, None, 9.0) for seed in range(1000))
                 if len(t.failures) == 1 and 3 < t.failures[0].at < 5)
    options = ["--every", "auto"]
    if knows_mtbf():
        options += ["--mtbf", f"{life:g}s"]
    result = run_job(setting, work, trace, options, hostjob.farms.PATIENCE)
    check(result["finished"] and result["restarts"] == 1, "one failure and an end", result)
    cost = statistics.median(result["snapshot_pauses"])
    between = result["intervals"][1:]
    print(f"snapshots cost {cost:.3f} s, {work.step} s per superstep; useful time between them: "
          f"{', '.join(f'{value:.2f}' for value in between)} s")
    if knows_mtbf():
        wanted = interval_of(cost, life / 4)
        middle = statistics.median(between)
        print(f"the model says {wanted:.2f} s, the median is {middle:.2f} s")
        check(wanted / 1.5 - work.step <= middle <= wanted * 1.5 + work.step,
              "snapshots come at another interval than the model says")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=110)
    parser.add_argument("--side", type=int, default=8, help="jobs side by side")
    parser.add_argument("--cell", action="append", choices=list(CELLS))
    parser.add_argument("--rule", action="append", help="only these")
    parser.add_argument("--seed", type=int, default=1, help="of the first trace")
    parser.add_argument("--before", metavar="BUILD", help="of an older bspzero")
    parser.add_argument("--tiny", action="store_true", help="as a test")
    parser.add_argument("--one", nargs=2, metavar=("CELL", "RULE"), help=argparse.SUPPRESS)
    parser.add_argument("--warm", metavar="CELL", help=argparse.SUPPRESS)
    parser.add_argument("out", nargs="?", help="directory for the results")
    options = parser.parse_args()
    if not options.out and not options.tiny:
        parser.error("where shall the results be?")
    return options


def main():
    options = arguments()
    hostjob.farms.require()
    try:
        if options.tiny:
            tiny()
        elif options.warm:
            warm(options.out, options.warm)
        elif options.one:
            bench = Bench(options)
            run_one(bench.out, options.one[0], next(rule for rule in bench.rules_of(options.one[0])
                                                    if rule.name == options.one[1]), options.seed)
        else:
            return Bench(options).run()
    except Failed as failure:
        print(f"FAILED: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
