#!/usr/bin/env python3
"""moving - a storm of moves: hosts of a running job are slowed to a third, drained, removed and added, processes
moved and placed anew at random, with kill -9 of processes and agents and power off of whole hosts between and while
that goes on.  Most hosts that go so take part in the move of that moment; they come back some time later, and may be
added again.

    moving.py [--moves N] [--seconds T] [--seed S] [--only PROGRAM] [--hosts N] [--kinds KIND,...]

Hosts are network namespaces; the programs are those of storm.py.  A move is a command of bspctl after which a
process is on another host; what processes do by themselves (--balance auto, in half of the jobs) is counted apart.
Every job must end with the answer and the files of an undisturbed run on one host, every bspctl must end and
say one of the things that it may say, and nothing may be left.  Without --seed the clock gives one, which is printed; it gives the same
choices again, not the same instants.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import storm
from farm import FarmError, number_inside
from jobs import *
from jobs import HostPlace

BIN = harness.BIN
CGROUPS = "/sys/fs/cgroup/cpu"  # version 1: where it is ours hosts are slowed, else not
PERIOD_US = 8000
OUTSIDE = 2  # hosts that are not of the job, and may be added
FAULTS = {"process": 4, "agent": 3, "power": 5}
LOST_MOST = 4  # hosts in one job: each costs its heartbeat
COMMANDS = {"move": 6, "drain": 3, "remove": 3, "add": 4, "rebalance": 3, "save": 1}
# What bspctl says of a command that cannot be, as the job is by now another one, or that a fault has overtaken.
MAY_SAY = [
    r"is the last host that may have processes", r"already takes part in it", r"does not take part in it at present",
    r"is already drained", r"is drained and gets no processes", r"it has no host", r"it is ending",
    r"continues without it", r"is not running", r"it has ended (before that|without an answer)", r"its processes are not running yet",
    r"continues on host", r"already", r"by another bspctl$",
]


def slowing():
    return os.access(os.path.join(CGROUPS, "cgroup.procs"), os.W_OK) and os.geteuid() == 0


class Slowness:
    """Control groups of hosts that get a third of what would be theirs."""

    def __init__(self):
        self.farm, self.name, self.paths = None, "", {}

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        """The hosts are gone."""
        for path in self.paths.values():
            def empty(path=path):
                with open(os.path.join(path, "cgroup.procs"), encoding="ascii") as file:
                    return not file.read()
            wait_until(empty, "the end of " + path)
            os.rmdir(path)

    def slow(self, host, hosts):
        if host not in self.paths:
            path = os.path.join(CGROUPS, f"bspzero-{self.name}-{host}")
            os.mkdir(path)
            self.paths[host] = path
        quota = max(1000, int(PERIOD_US * len(os.sched_getaffinity(0)) / hosts / 3))
        self.set(host, quota)
        for os_pid in self.farm.processes(host):  # what they start later is in the group, too
            with contextlib.suppress(OSError), \
                 open(os.path.join(self.paths[host], "cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(os_pid))

    def set(self, host, quota):
        for name, value in (("cfs_period_us", PERIOD_US), ("cfs_quota_us", quota)):
            with open(os.path.join(self.paths[host], f"cpu.{name}"), "w", encoding="ascii") as file:
                file.write(str(value))

    def is_slow(self, host):
        with contextlib.suppress(OSError, KeyError), \
             open(os.path.join(self.paths[host], "cpu.cfs_quota_us"), encoding="ascii") as file:
            return int(file.read()) > 0
        return False


class Moves(storm.Storm):
    def __init__(self, options):
        options.kinds, options.own, options.faults = "process", "never", None
        super().__init__(options)
        self.strikes = {kind: FAULTS[kind] for kind in options.strikes.split(",")}
        self.faults = dict.fromkeys(FAULTS, 0)
        self.moves = dict.fromkeys(COMMANDS, 0)
        self.refused = self.in_vain = self.by_itself = self.slowed = self.missed = 0

    def moved(self):
        return sum(self.moves.values())

    def enough(self):
        return self.options.moves is not None and self.moved() >= self.options.moves

    def run(self):
        while not self.over():
            every = self.choose.choice(sorted(storm.recovery.EVERY))
            case = self.case(storm.recovery.EVERY[every])
            hosts = self.options.hosts or self.choose.choice([2, 3, 4])
            p = self.choose.choice([hosts, hosts + 1, 2 * hosts])
            settings = ["--every", every, "--async", self.choose.choice(["auto", "on", "off"]),
                        "--balance", self.choose.choice(["auto", "off"]),
                        "--max-restarts", str(storm.recovery.MANY)]
            with Slowness() as slowness, \
                 HostPlace(hosts + OUTSIDE, slots=2, heartbeat=storm.HEARTBEAT) as place:
                slowness.farm, slowness.name = place.farm, os.path.basename(place.directory)
                self.disturb(place, case, p, hosts, settings, slowness)
            self.jobs += 1

    # ---- One job ----

    def disturb(self, place, case, p, hosts, settings, slowness):
        began, moves, faults = time.monotonic(), self.moved(), self.count()
        sockets = tempfile.mkdtemp(prefix="bspzero-status-", dir="/tmp")
        place.env = {"BSPZERO_STATUS_DIR": os.path.join(sockets, "status")}
        job = place.start(BSPRUN, "-v", "-np", p, "--ckpt", place.store, *settings, "--map-by", "node",
                          *place.host_options(place.job_hosts[:hosts]), *case.command(place),
                          stdin=case.input(place), env=dict(place.env))
        self.may_lose = LOST_MOST
        self.trace = []
        where = f"{case.name} p={p} on {hosts} hosts {' '.join(settings)}"
        try:
            while (job.process.poll() is None and not self.over() and
                   self.moved() - moves < self.options.most):
                self.wait_progress(place, job)
                if place.committed() >= 0 and job.process.poll() is None:
                    self.step(place, case, job, p, slowness)
            for host in slowness.paths:
                slowness.set(host, -1)
            self.finish(place, case, job, [])
        except (Failed, FarmError) as failure:
            said = "\n".join(one.said() for one in place.started)
            raise Failed(f"{where}: {failure}\nsteps:\n" + "\n".join(self.trace) +
                         f"\nsaid:\n{said}\n{job}\n{self.portrait(place)}") from None
        finally:
            shutil.rmtree(sockets, ignore_errors=True)
        self.by_itself += job.said().count("balance: ")
        place.check_clean()
        print(f"{time.monotonic() - self.began:6.0f} s, {self.moved()} moves: {where}: identical after "
              f"{self.moved() - moves} moves and {self.count() - faults} faults in "
              f"{time.monotonic() - began:.1f} s", flush=True)

    def note(self, text):
        self.trace.append(f"{time.monotonic() - self.began:8.3f} s: {text}")

    def status(self, place, job):
        """What bspstat says; None: the job ends."""
        done = self.bsp(place, "bspstat", "--json", job)
        try:
            out, _ = done.communicate(timeout=harness.PATIENCE)
        except subprocess.TimeoutExpired:
            done.kill()
            done.communicate()
            raise Failed("bspstat does not end") from None
        if done.returncode != 0:
            return None
        facts = json.loads(out)
        return facts if facts["ranks"] else None

    def bsp(self, place, command, *words):
        """A command on bsprun's host; the job is named by its number there."""
        words = [str(number_inside(word.os_pid)) if isinstance(word, Job) else word for word in words]
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BSP_", "BSPZERO_"))}
        return place.farm.popen(place.farm.names[0], [os.path.join(BIN, command), *words],
                                env={**env, **place.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True)

    # ---- One step ----

    def step(self, place, case, job, p, slowness):
        try:
            facts = self.status(place, job)
        except (OSError, StopIteration):  # it has just ended
            return
        if not facts:
            return
        before = {rank["pid"]: rank["host"] for rank in facts["ranks"]}
        self.boot_some(place)
        if slowing() and self.choose.random() < 0.25:
            self.slow_or_not(place, facts, slowness)
        words = self.command(place, facts, p)
        asked = [words]
        self.note(" ".join(words))
        try:
            ctls = [self.bsp(place, "bspctl", "--wait", job, *words)]
            if self.choose.random() < 0.15:  # two at once
                other = self.command(place, facts, p)
                asked.append(other)
                self.note("at the same time " + " ".join(other))
                ctls.append(self.bsp(place, "bspctl", "--wait", job, *other))
        except (OSError, StopIteration):
            return
        if self.choose.random() < 0.4:
            time.sleep(self.choose.expovariate(1 / 0.15))
            self.strike(place, case, job, self.involved(asked, before), facts)
        done = [self.ended(job, ctl) for ctl in ctls][0]
        self.count_move(place, job, words[0], before, done)

    def command(self, place, facts, p):
        """Whatever may be asked for; where the job is in a hurry it is refused."""
        names = {host["name"]: host["state"] for host in facts["hosts"]}
        up = [name for name, state in names.items() if state == "up"] or list(names)
        outside = [name for name in place.job_hosts if place.farm.hosts[name].init and
                   names.get(name) not in ("up", "joining")]
        what = self.choose.choices(list(COMMANDS), list(COMMANDS.values()))[0]
        if what == "add" and not outside or what in ("drain", "remove") and len(up) < 2:
            what = "move"
        if what == "move":
            return ["move", str(self.choose.randrange(p)), self.choose.choice(up)]
        if what == "add":
            return ["add", f"{self.choose.choice(outside)}:{self.choose.randint(1, 3)}"]
        return [what, self.choose.choice(up)] if what in ("drain", "remove") else [what]

    def slow_or_not(self, place, facts, slowness):
        hosts = [host["name"] for host in facts["hosts"] if host["state"] == "up"]
        host = self.choose.choice(hosts) if hosts else None
        if not host or not place.farm.hosts[host].init:
            return
        if slowness.is_slow(host):
            slowness.set(host, -1)
            self.note(f"{host} is as fast as before")
            return
        slowness.slow(host, len(hosts))
        self.slowed += 1
        self.note(f"{host} is slowed to a third")

    def boot_some(self, place):
        for name in place.job_hosts:
            if not place.farm.hosts[name].init and self.choose.random() < 0.4:
                place.farm.boot(name)
                self.note(f"{name} is back")

    @staticmethod
    def involved(asked, homes):
        """Hosts that processes leave, or come to, by these commands."""
        found = set()
        for words in asked:
            if words[0] == "move":
                found |= {words[2], homes.get(int(words[1]))}
            elif words[0] in ("drain", "remove"):
                found.add(words[1])
            elif words[0] == "add":
                found.add(words[1].split(":")[0])
        return found

    def strike(self, place, case, job, involved, facts):
        kind = self.choose.choices(list(self.strikes), list(self.strikes.values()))[0]
        if kind == "power" and self.power_off(place, job, involved, facts):
            return
        kind = "process" if kind == "power" else kind
        self.note(f"kill -9: {kind}")
        self.hit(place, case, job, kind, [])

    def power_off(self, place, job, involved, facts):
        """False: the loss of a further host could end the job, as one must remain that takes part for good."""
        names = {host["name"]: host["state"] for host in facts["hosts"]}
        alive = [name for name in place.job_hosts if place.farm.hosts[name].init and
                 "bspnode" in place.farm.processes(name).values()]
        stay = [name for name in alive if names.get(name) == "up" and name not in involved]
        may = [name for name in alive if any(other != name for other in stay)]
        near = [name for name in may if name in involved]
        if not may or self.may_lose == 0:
            return False
        host = self.choose.choice(near if near and self.choose.random() < 0.7 else may)
        self.may_lose -= 1
        self.note(f"{host} is powered off")
        before = storm.recovery.notices(job)
        place.farm.kill_host(host)
        self.wait_noticed(place, job, before, "power")
        return True

    def wait_noticed(self, place, job, before, kind):
        """Where a command waits nothing else may happen before it is noticed."""
        # Without a host the job waits until its silence has been long enough.
        newest, end = place.committed(), time.monotonic() + (3 * storm.HEARTBEAT if kind == "power" else 1)
        wait_until(lambda: storm.recovery.notices(job) > before or job.process.poll() is not None or
                   time.monotonic() > end or (kind != "power" and place.committed() > newest),
                   "any sign of life after a fault")
        if storm.recovery.notices(job) > before:
            self.faults[kind] += 1
        else:
            self.missed += 1

    def ended(self, job, ctl):
        """What bspctl says; it must end, and be understood."""
        try:
            out, err = ctl.communicate(timeout=harness.PATIENCE)
        except subprocess.TimeoutExpired:
            ctl.kill()
            ctl.communicate()
            raise Failed(f"{ctl.args[-4:]} does not end") from None
        self.note(f"status {ctl.returncode}: {out.strip()} {err.strip()}")
        if job.process.poll() is not None:
            return ctl.returncode == 0
        check(ctl.returncode in (0, 1), ctl.args[-4:], "status", ctl.returncode, out, err)
        if ctl.returncode == 1:
            check(any(re.search(may, err) for may in MAY_SAY), ctl.args[-4:], "says", err)
        return ctl.returncode == 0

    def count_move(self, place, job, what, before, done):
        if not done:
            self.refused += 1
            return
        try:
            facts = self.status(place, job)
        except (OSError, StopIteration):
            facts = None
        now = {rank["pid"]: rank["host"] for rank in facts["ranks"]} if facts else before
        if any(now.get(pid, host) != host for pid, host in before.items()):
            self.moves[what] += 1
        else:
            self.in_vain += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--moves", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--only")
    parser.add_argument("--hosts", type=int)
    parser.add_argument("--kinds", dest="strikes", default=",".join(FAULTS), help="of faults")
    parser.add_argument("--most", type=int, default=8, help="moves of one job, then it runs on")
    parser.add_argument("--scale", type=float, default=1, help="how long the programs run")
    options = parser.parse_args()
    if options.moves is None and options.seconds is None:
        parser.error("--moves, --seconds or both")
    farms.require("nft")
    print("seed", options.seed, "" if slowing() else "(no control groups here: no host is slowed)", flush=True)
    moves = Moves(options)
    try:
        moves.run()
    except Failed as failure:
        print(f"FAILED after {moves.moved()} moves, seed {options.seed}: {failure}")
        return 1
    print(f"{moves.jobs} jobs, {moves.moved()} moves {moves.moves}, {moves.in_vain} commands that moved nothing, "
          f"{moves.refused} refused, {moves.by_itself} times processes moved by themselves, hosts slowed "
          f"{moves.slowed} times; {moves.count()} faults that counted {moves.faults}, {moves.missed} that cost "
          f"nothing, {moves.ended_late} jobs past bsp_end; all answers identical")
    return 0 if moves.moved() >= (options.moves if options.seconds is None else 1) else 1


if __name__ == "__main__":
    sys.exit(main())
