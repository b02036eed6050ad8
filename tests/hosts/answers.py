#!/usr/bin/env python3
"""The programs of apps/ on several hosts print what they print on one.

    answers.py [--hosts 2,3,5] [--procs 2,3,4,5,6,7] [PROGRAM ...]

Each runs with each number of processes on one host and then on the others.
"""
import argparse
import os
import signal
import sys

import farm as farms
from farm import Farm

SLOTS = 4  # per host: enough for seven processes on two
# Every superstep of several hosts on one machine takes its time: problems are small.
PROGRAMS = {
    "fft": ["-n", "4096", "-i", "2"],
    "heat": ["-n", "60", "-i", "150"],
    "innerprod": ["-n", "100000", "-i", "3"],
    "lu": ["-n", "80"],
    "matmul": ["-n", "120", "--panel", "16"],
    "nbody": ["-n", "120", "-i", "25"],
    "pagerank": ["-n", "3000"],
    "replica": ["-L", "6", "-i", "120"],
    "samplesort": ["-n", "60000", "-i", "2"],
    "sieve": ["-n", "2000000"],
    "spmv": ["-g", "60", "-i", "5"],
}


class Answers:
    """A farm on whose first host everything is started."""

    def __init__(self, farm, build):
        self.farm = farm
        self.build = build
        self.failures = 0
        self.runs = 0

    def run(self, program, p, hosts):
        """What a program prints on so many hosts; None when it fails, which is said."""
        words = [os.path.join(self.build, "bin/bsprun"), "-np", p]
        if hosts > 1:
            names = ",".join(f"{name}:{SLOTS}" for name in self.farm.names[:hosts])
            words += ["--hosts", names, "--map-by", "node", "--launcher", self.farm.rsh]
        words += [os.path.join(self.build, "apps", program), *PROGRAMS[program]]
        done = self.farm.run(self.farm.names[0], words)
        self.runs += 1
        if done.returncode == 0 and done.stderr == "" and done.stdout.endswith("\nverified\n"):
            return done.stdout
        self.complain(program, p, hosts, f"status {done.returncode}\n{done.stdout}{done.stderr}")
        return None

    def complain(self, program, p, hosts, text):
        self.failures += 1
        print(f"FAILED: {program}, {p} processes on {hosts} hosts: {text}", flush=True)

    def compare(self, program, p, host_counts):
        expected = self.run(program, p, 1)
        for hosts in host_counts:
            answer = self.run(program, p, hosts)
            if expected and answer and answer != expected:
                self.complain(program, p, hosts, f"{answer}and not, as on one,\n{expected}")


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=numbers, default=[2, 3, 5])
    parser.add_argument("--procs", type=numbers, default=[2, 3, 4, 5, 6, 7])
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    farms.require()
    with Farm(max(options.hosts)) as farm:
        answers = Answers(farm, os.path.abspath(options.build))
        for program in options.programs or PROGRAMS:
            for p in options.procs:
                answers.compare(program, p, options.hosts)
            print(f"{program}: compared", flush=True)
    print(f"{answers.runs} runs, {answers.failures} failed")
    return 1 if answers.failures else 0


if __name__ == "__main__":
    sys.exit(main())
