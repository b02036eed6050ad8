#!/usr/bin/env python3
"""replica_storm - loses hosts under the example programs, each process of which has replicas.

    replica_storm.py [--jobs N] [--seconds T] [--seed S] [--only PROGRAM] [--replicas K]
                     [--kinds KIND,...]

Faults: power off of hosts, hosts that freeze or are cut off for a while or for good, agents that are
killed.  One host with each process is left alone, so that every job must end with the output of an
undisturbed run on one host, without going back, and none may report replicas that disagree.
"""
import argparse
import random
import signal
import sys
import time

import farm as farms
import storm as storms
from jobs import *
from jobs import HostPlace

recovery = storms.recovery
KINDS = {"power": 3, "freeze": 3, "cut": 2, "agent": 1}
WITHOUT = ("samplesort",)  # it reads its stdin, or a file by its name, which is tested elsewhere


class Storm:
    def __init__(self, options):
        self.options = options
        self.choose = random.Random(options.seed)
        self.began = time.monotonic()
        self.kinds = {kind: KINDS[kind] for kind in options.kinds.split(",")}
        self.faults = dict.fromkeys(KINDS, 0)
        self.jobs = self.taken_over = 0
        self.cases = {}

    def over(self):
        if self.options.seconds is not None and time.monotonic() - self.began > self.options.seconds:
            return True
        return self.options.jobs is not None and self.jobs >= self.options.jobs

    def case(self):
        name = self.options.only or self.choose.choice(
            sorted(name for name in recovery.PROGRAMS if not name.startswith(WITHOUT)))
        if name not in self.cases:
            self.cases[name] = recovery.Case(name, False, self.options.scale)
        return self.cases[name]

    def numbers(self):
        """Of replicas, as --replicas has it, of hosts, and of processes."""
        if self.options.replicas is None and self.choose.random() < 0.3:
            p, first, others = self.choose.choice([2, 3, 4]), *self.choose.sample([1, 2, 3], 2)
            text = f"0={first},1={others}" if p == 2 else f"0={first},1-{p - 1}={others}"
            return text, first + others + self.choose.choice([0, 1, 2]), p
        replicas = self.options.replicas or self.choose.choice([2, 2, 3])
        cells = self.choose.choice([1, 2, 3])
        return replicas, cells * replicas, cells * self.choose.choice([1, 2])

    def run(self):
        while not self.over():
            case = self.case()
            replicas, hosts, p = self.numbers()
            with HostPlace(hosts, slots=2, heartbeat=storms.HEARTBEAT) as place:
                self.disturb(place, case, p, replicas)
            self.jobs += 1

    def disturb(self, place, case, p, replicas):
        began, faults = time.monotonic(), []
        job = place.start(BSPRUN, "-v", "-np", p, "--replicas", replicas, "--map-by", "node",
                          *place.host_options(), *case.command(place), stdin=case.input(place))
        mends = []
        where = f"{case.name} p={p} on {len(place.job_hosts)} hosts, replicas {replicas}"
        def runs():
            return job.process.poll() is not None or all(
                case.program[:15] in place.farm.processes(name).values()
                for name in self.used(place, job))
        try:
            wait_until(runs, "processes on all hosts")
            victims = self.victims(place, job)
            for host in victims[:self.choose.randrange(len(victims) + 1)]:
                time.sleep(0.6 + self.choose.expovariate(1 / 1.5))
                if job.process.poll() is not None:
                    break
                faults.append(self.hit(place, host, mends))
            job.wait()
            self.check(place, case, job)
        except (Failed, FarmError) as failure:
            raise Failed(f"{where}: {faults}: {failure}\nsaid:\n{job.said()}\n{job}\n"
                         f"{storms.Storm.portrait(place)}") from None
        storms.Storm.mend(place, mends)
        place.check_clean()
        print(f"{time.monotonic() - self.began:6.0f} s: {where}: identical after {faults} in "
              f"{time.monotonic() - began:.1f} s", flush=True)

    def cells(self, job):
        """Hosts that have the same processes; those with the only replica of theirs are not there."""
        return [line.replace("host ", "").split(", ")
                for line in re.findall(r"replicas: (host .*): process", job.said())]

    def used(self, place, job):
        """Hosts that certainly have processes."""
        wait_until(lambda: "Processor Zero is host " in job.said() or job.process.poll() is not None,
                   "Processor Zero")
        return [host for cell in self.cells(job) for host in cell]

    def victims(self, place, job):
        """All but one host of each cell, in any order.  Cells are dealt out from the first Processor Zero's
        host on, which is often among them."""
        if job.process.poll() is not None:
            return []
        victims = []
        for cell in self.cells(job):
            left = self.choose.choice(cell)
            victims += [host for host in cell if host != left]
        self.choose.shuffle(victims)
        return victims

    def hit(self, place, host, mends):
        farm, kind = place.farm, self.choose.choices(list(self.kinds), list(self.kinds.values()))[0]
        self.faults[kind] += 1
        if kind == "power":
            farm.kill_host(host)
        elif kind == "freeze":
            farm.freeze(host)
            if self.choose.random() < 0.5:
                time.sleep(self.choose.uniform(0.1, 3))
                farm.thaw(host)
            else:
                mends.append((host, farm.thaw))
        elif kind == "cut":
            farm.cut(host, cable=self.choose.random() < 0.5)
            mends.append((host, farm.mend))
        else:
            for os_pid, name in farm.processes(host).items():
                if name == "bspnode":
                    send(os_pid, signal.SIGKILL)
        return kind

    def check(self, place, case, job):
        check(job.status == 0, "status", job.status)
        check(job.out() == case.out, "stdout", harness.first_difference(job.out(), case.out))
        check(job.program_err() == b"", "stderr")
        check(not re.search(r"restart \d+ of|continues from superstep", job.said()), "it went back")
        self.taken_over += job.said().count("is Processor Zero now")
        check("disagree" not in job.said() and "differ" not in job.said(), "replicas disagree")
        check(case.file is None or case.output(place) == case.file, "the file differs")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only")
    parser.add_argument("--replicas", type=int)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--scale", type=float, default=1, help="how long the programs run")
    options = parser.parse_args()
    if options.jobs is None and options.seconds is None:
        parser.error("--jobs, --seconds or both")
    farms.require("nft")
    print("seed", options.seed, flush=True)
    storm = Storm(options)
    try:
        storm.run()
    except Failed as failure:
        print(f"FAILED after {storm.jobs} jobs, seed {options.seed}: {failure}")
        return 1
    print(f"{storm.jobs} jobs, faults: {storm.faults}, Processor Zero lost {storm.taken_over} times; all "
          "answers identical, none went back")
    return 0


if __name__ == "__main__":
    sys.exit(main())
