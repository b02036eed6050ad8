#!/usr/bin/env python3
"""storm - loses hosts, links and processes under the example programs at random, and compares what
comes out.

    storm.py [--faults N] [--seconds T] [--seed S] [--only PROGRAM] [--hosts N] [--kinds KIND,...]
             [--own always|never|some]

Faults: kill -9 of processes and agents, power off of hosts (which come back a little later, and are
not used again by the same job), hosts that freeze or are cut off for a while or for good, links
between two hosts that drop everything.  A fault counts when bsprun said that it went back because of
it.  Every job must end with the answer and the files of an undisturbed run on one host.  With --own
hosts have directories of snapshots of their own, in some jobs if not said otherwise.
"""
import argparse
import importlib.machinery
import importlib.util
import os
import random
import signal
import sys
import time

from jobs import *
from jobs import HostPlace


def load_storm():
    """tests/recovery/storm: the programs and how they are run."""
    path = os.path.join(farms.ROOT, "tests", "recovery", "storm")
    loader = importlib.machinery.SourceFileLoader("recovery_storm", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("recovery_storm", loader))
    loader.exec_module(module)
    return module


recovery = load_storm()
# A superstep of several hosts on one machine takes as long as a hundred on one: the programs of the
# other storm, with iterations for some seconds.
SHORTER = {
    "fft": (["-n", "65536", "-i", "ITERATIONS"], 400, 40),
    "heat": (["--plate", "edge", "-n", "300", "-o", "FILE", "-i", "ITERATIONS"], 3000, 40),
    "innerprod": (["-n", "100000", "-i", "ITERATIONS"], 600, 60),
    "lu": (["-n", "60", "-i", "ITERATIONS"], 20, 1),
    "matmul": (["-n", "300", "--panel", "3", "-i", "ITERATIONS"], 20, 1),
    "nbody": (["-n", "300", "-i", "ITERATIONS"], 500, 12),
    "pagerank": (["-n", "200000", "-t", "0", "-d", "0.99", "-i", "ITERATIONS"], 200, 20),
    "replica": (["-i", "ITERATIONS"], 3000, 100),
    "samplesort": (["-i", "ITERATIONS", "LINES", "FILE"], 40, 8),
    "spmv": (["--grid", "150", "-o", "FILE", "-i", "ITERATIONS"], 1000, 40),
}
recovery.PROGRAMS.update(SHORTER)
recovery.READS["samplesort-pipe"] = ("samplesort", (["-i", "ITERATIONS", "-", "-"], 40, 8))
KINDS = {"process": 6, "agent": 3, "power": 3, "freeze": 1, "cut": 1, "link": 1}
SPARES = 2
HEARTBEAT = 4  # seconds: a busy machine is no lost host


LOST_AT_END = ("some of its output may be missing", "hosts that do not share")


def is_part_of(out, whole):
    """Lines are missing, and that is all."""
    lines = iter(whole.splitlines())
    return all(line in lines for line in out.splitlines())


def newest_on(place, host):
    """The superstep of the newest snapshot in the host's own directory; 0: there is none after the beginning."""
    return max((superstep for superstep, _ in snapshots(place.store_on(host))), default=0)


class Storm:
    def __init__(self, options):
        self.options = options
        self.choose = random.Random(options.seed)
        self.began = time.monotonic()
        self.kinds = {kind: KINDS[kind] for kind in options.kinds.split(",")}
        self.faults = dict.fromkeys(KINDS, 0)
        self.missed = self.jobs = self.ended_late = 0
        self.cases = {}

    def count(self):
        return sum(self.faults.values())

    def enough(self):
        return self.options.faults is not None and self.count() >= self.options.faults

    def over(self):
        return (self.enough() or
                self.options.seconds is not None and
                time.monotonic() - self.began >= self.options.seconds)

    def case(self, short):
        names = [self.options.only] if self.options.only else sorted(
            [*recovery.PROGRAMS, *recovery.READS])
        name = self.choose.choice(names)
        if (name, short) not in self.cases:
            self.cases[name, short] = recovery.Case(name, short, self.options.scale)
        return self.cases[name, short]

    def run(self):
        while not self.over():
            every = self.choose.choice(sorted(recovery.EVERY))
            case = self.case(recovery.EVERY[every])
            hosts = self.options.hosts or self.choose.choice([2, 3, 5])
            p = self.choose.choice([hosts, hosts + 1, 2 * hosts])
            settings = ["--every", every, "--async", self.choose.choice(["auto", "on", "off"]),
                        "--max-restarts", str(recovery.MANY)]
            own = self.choose.random() < {"always": 1, "never": 0, "some": 0.3}[self.options.own]
            with HostPlace(hosts + SPARES, slots=2, spares=SPARES, heartbeat=HEARTBEAT,
                           private=own) as place:
                self.disturb(place, case, p, hosts, settings)
            self.jobs += 1

    def disturb(self, place, case, p, hosts, settings):
        began, faults = time.monotonic(), self.count()
        job = place.start(BSPRUN, "-np", p, "--ckpt", place.store, *settings, "--map-by", "node",
                          *place.host_options(), *case.command(place), stdin=case.input(place))
        where = (f"{case.name} p={p} on {hosts} hosts {' '.join(settings)}"
                 f"{' own directories' if place.private else ''}")
        spare = SPARES  # hosts that may be lost for good
        mends = []
        try:
            while (job.process.poll() is None and not self.over() and
                   self.count() - faults < self.options.most):
                progress = self.wait_progress(place, job)
                time.sleep(self.choose.expovariate(1 / self.options.pause))
                if place.committed() < 0 or job.process.poll() is not None:
                    continue
                if place.private and not progress:
                    continue  # what is lost may not be on enough hosts again
                kind = self.choose.choices(list(self.kinds), list(self.kinds.values()))[0]
                if kind in ("power", "freeze", "cut", "link"):
                    if spare == 0:
                        kind = "process"
                    else:
                        spare -= 1
                self.hit(place, case, job, kind, mends)
            self.finish(place, case, job, mends)
        except (Failed, FarmError) as failure:
            said = "\n".join(one.said() for one in place.started)
            raise Failed(f"{where}: {failure}\nsaid:\n{said}\n{job}\n{self.portrait(place)}") \
                from None
        self.mend(place, mends)
        place.check_clean()
        print(f"{time.monotonic() - self.began:6.0f} s, {self.count()} faults: {where}: identical "
              f"after {self.count() - faults} in {time.monotonic() - began:.1f} s", flush=True)

    @staticmethod
    def portrait(place):
        return "\n".join(f"{name}: {place.farm.processes(name)}" for name in place.farm.names)

    def wait_progress(self, place, job):
        """Whether a snapshot was committed; not all programs get to one within the time."""
        before, end = place.committed(), time.monotonic() + 2
        while job.process.poll() is None and time.monotonic() < end:
            if place.committed() > before:
                return True
            time.sleep(0.005)
        return False

    def hit(self, place, case, job, kind, mends):
        farm = place.farm
        gone = [name for name, mend in mends if mend == farm.thaw]
        at_work = [name for name in place.job_hosts
                   if name not in gone and case.program[:15] in farm.processes(name).values()]
        if not at_work:
            return
        host = self.choose.choice(at_work)
        before = recovery.notices(job)
        if kind in ("process", "agent"):
            wanted = "bspnode" if kind == "agent" else case.program[:15]
            victims = [pid for pid, name in farm.processes(host).items() if name == wanted]
            if not victims or not send(self.choose.choice(victims), signal.SIGKILL):
                return
        elif kind == "power":
            farm.kill_host(host)
        elif kind == "freeze":
            farm.freeze(host)
            mends.append((host, farm.thaw))
        elif kind == "cut":
            farm.cut(host, cable=self.choose.random() < 0.5)
            mends.append((host, farm.mend))
        else:
            others = [name for name in at_work if name != host]
            if not others:
                return
            farm.cut_between(host, self.choose.choice(others), both=self.choose.random() < 0.5)
            mends.append((host, farm.mend))
        self.wait_noticed(place, job, before, kind)

    def wait_noticed(self, place, job, before, kind):
        newest, end = place.committed(), time.monotonic() + 1
        wait_until(lambda: recovery.notices(job) > before or job.process.poll() is not None or
                   (time.monotonic() > end and place.committed() > newest),
                   "any sign of life after a fault")
        if recovery.notices(job) > before:
            self.faults[kind] += 1
        else:
            self.missed += 1

    @staticmethod
    def mend(place, mends):
        """What was cut or frozen, unless it was powered off behind that."""
        while mends:
            host, mend = mends.pop()
            if place.farm.hosts[host].init:
                mend(host)

    def go_on(self, place, case, job, mends):
        """Lost when everybody had come to bsp_end: no rollback, but the job can be restarted."""
        self.ended_late += 1
        check(case.out.startswith(job.out()), "what was shown is no beginning")
        self.mend(place, mends)
        living = [name for name in place.job_hosts if place.farm.hosts[name].init]
        wait_until(lambda: not any(place.farm.processes(name) for name in living),
                   "the end of all processes", GONE)
        if place.private:  # bsprun's host has none of the snapshots: where the newest is
            first = max(living, key=lambda name: newest_on(place, name))
            place.farm.names.sort(key=lambda name: name != first)
        return place.restart(names=living, stdin=case.input(place)).wait()

    def finish(self, place, case, job, mends):
        newest, end = place.committed(), time.monotonic() + harness.PATIENCE
        while job.process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
            if place.committed() != newest:
                newest, end = place.committed(), time.monotonic() + harness.PATIENCE
        job.wait()
        if job.status and any(words in job.said() for words in LOST_AT_END):
            # What it has shown, or what there is to go on from, is not all here, and it says so.
            self.ended_late += 1
            check(job.status == 1, "status", job.status)
            check(is_part_of(job.out(), case.out), "stdout", job.out())
            return
        killed = [line for line in job.said().splitlines() if "killed by signal 9" in line][-1:]
        if job.status and ("while the job was ending" in job.said() or
                           (killed and "the job continues from" not in killed[0])):
            job = self.go_on(place, case, job, mends)
        check(job.status == 0, "status", job.status)
        check(case.out.endswith(job.out()) if len(place.started) > 1 else job.out() == case.out,
              "stdout", harness.first_difference(job.out(), case.out))
        check(job.program_err() == b"", "stderr")
        check(case.file is None or case.output(place) == case.file, "the file differs")
        place.check_store()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only")
    parser.add_argument("--hosts", type=int)
    parser.add_argument("--kinds", default=",".join(KINDS), help="of faults")
    parser.add_argument("--own", choices=["always", "never", "some"], default="some",
                        help="when hosts have directories of their own")
    parser.add_argument("--most", type=int, default=12, help="faults of one job, then it runs on")
    parser.add_argument("--scale", type=float, default=1, help="how long the programs run")
    parser.add_argument("--pause", type=float, default=0.1, help="mean seconds between faults")
    options = parser.parse_args()
    if options.faults is None and options.seconds is None:
        parser.error("--faults, --seconds or both")
    farms.require("nft")
    print("seed", options.seed, flush=True)
    storm = Storm(options)
    try:
        storm.run()
    except Failed as failure:
        print(f"FAILED after {storm.count()} faults, seed {options.seed}: {failure}")
        return 1
    print(f"{storm.jobs} jobs, {storm.count()} faults that counted ({storm.faults}), "
          f"{storm.missed} too late, {storm.ended_late} jobs past bsp_end; all answers identical")
    return 0 if storm.count() >= (options.faults if options.seconds is None else 1) else 1


if __name__ == "__main__":
    sys.exit(main())
