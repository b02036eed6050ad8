"""One job on hosts that are powered off as a trace says, and what it took.

What a job is: the worker with its arguments on so many hosts of a farm, a process on each.  bsprun sits
on a host of its own, which stays up.  The time to solution is that from the line with which the program
begins to the line with its digest.
"""
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "hosts"))

import farm as farms  # noqa: E402
from jobs import BUILD, Failed, HostPlace, check, wait_until  # noqa: E402

WORKER = os.path.join(BUILD, "tests", "economics", "worker")
LOST = re.compile(r"which ends the job: (the hosts have no snapshot|of the snapshot .* the hosts lack)")
LOOK = 0.01  # seconds between two looks at what a job has said


class Work:
    """What the program does: supersteps of so many seconds, with so much state per process, of which a
    superstep changes a share (percent), and a disk that takes so many bytes per second."""

    def __init__(self, supersteps, step, state, share=100, disk=0):
        self.supersteps, self.step, self.state = supersteps, step, state
        self.share, self.disk = share, disk

    @property
    def seconds(self):
        return self.supersteps * self.step

    def words(self, fast=False):
        """fast: with the same answer, but without what takes time."""
        return [str(self.supersteps), "0" if fast else str(round(self.step * 1000)), str(self.state),
                str(self.share), "0" if fast else str(self.disk)]

    def answer(self, processes):
        """What the program prints, as one machine has it that does not fail."""
        done = subprocess.run([os.path.join(BUILD, "bin", "bsprun"), "-np", str(processes),
                               "--oversubscribe", WORKER, *self.words(fast=True)],
                              capture_output=True, check=True, text=True)
        return done.stdout


class Setting:
    """private: each host has a directory of snapshots of its own.  heartbeat: seconds.  replicas: hosts
    for each process."""

    def __init__(self, hosts, private=False, heartbeat=1.0, asynchronous="off", copies=3, replicas=1):
        self.hosts, self.private, self.heartbeat = hosts, private, heartbeat
        self.processes = hosts // replicas
        self.asynchronous, self.copies = asynchronous, copies


class Player:
    """Powers hosts off and on as the trace says, from the moment when the program begins."""

    def __init__(self, farm, trace, began):
        events = [(failure.at, 0, failure) for failure in trace.failures]
        events += [(failure.back, 1, failure) for failure in trace.failures]
        self.farm, self.began = farm, began
        self.events = sorted(events, key=lambda event: event[:2])
        self.done = 0

    def play(self, now):
        """What is due."""
        while self.events and self.events[0][0] <= now - self.began:
            _, on, failure = self.events.pop(0)
            if on:
                self.farm.boot(failure.again)
            else:
                self.farm.kill_host(failure.host)
                self.done += 1

    def until_next(self, now):
        return self.events[0][0] - (now - self.began) if self.events else float("inf")


def numbers(pattern, text):
    return [float(number) for number in re.findall(pattern, text)]


def taken(said, work):
    """(supersteps, pauses, commits) of the snapshots at barriers, as -v tells them: useful seconds
    since the one before, or since where a rollback led to; seconds; seconds."""
    intervals, pauses, commits, last = [], [], [], 0
    for line in said.splitlines():
        found = re.search(r"snapshot of superstep (\d+): .* paused ([\d.]+) (m?s), "
                          r"committed after ([\d.]+) (m?s)", line)
        if found and int(found[1]) > 0:
            unit = {"ms": 1e-3, "s": 1.0}
            intervals.append((int(found[1]) - last) * work.step)
            pauses.append(float(found[2]) * unit[found[3]])
            commits.append(float(found[4]) * unit[found[5]])
            last = int(found[1])
        found = re.search(r"continues from superstep (\d+)", line)
        if found:
            last = int(found[1])
    return intervals, pauses, commits


def outcome(job, work, seconds, failures):
    said = job.err().decode(errors="replace")
    intervals, pauses, commits = taken(said, work)
    last = [line for line in said.splitlines() if re.match(r"  all .* (\d+) +(\d+)$", line)]
    sums = last[-1].split() if last else []
    names = ["useful", "lost", "down", "pauses"]
    result = {name: float(value) for name, value in zip(names, sums[1:5])} if len(sums) == 7 else {}
    processes = work.processes
    result = {name: value / processes for name, value in result.items()}
    return dict(result, seconds=round(seconds, 3), failures=failures,
                restarts=len(re.findall(r"\(restart \d+ of", said)), intervals=intervals,
                snapshot_pauses=pauses, commits=commits, status=job.status, said=said)


def run_job(setting, work, trace, options, cap, build=BUILD, answer=None, environment=None):
    """Runs one and returns what became of it: a dictionary; its `finished` is False when the cap was
    reached, seconds after it began, or when all hosts with an image were lost, which counts as much.
    Raises Failed when the answer is another than that of a job that nothing befell, or the job ends
    otherwise."""
    work.processes = setting.processes
    answer = answer or work.answer(setting.processes)
    names = ["front", *trace.first, *trace.spares]
    off = [failure.again for failure in trace.failures]
    with HostPlace(names, spares=len(trace.spares), heartbeat=setting.heartbeat,
                   private=setting.private, off=off,
                   options=["--copies", setting.copies] if setting.private else []) as place:
        env = {"BSPZERO_HISTORY": place.path("history"), **(environment or {})}
        job = place.start(os.path.join(build, "bin", "bsprun"), "-np", setting.processes, "--ckpt",
                          place.store, "--async", setting.asynchronous, "--max-restarts", 1000000,
                          "-v", "--report", *options, *place.host_options(),
                          WORKER if build == BUILD else os.path.join(build, "worker"),
                          *work.words(), env=env)
        wait_until(lambda: job.check_running() or b"begun" in job.out(), "the program begins")
        began = time.monotonic()
        player = Player(place.farm, trace, began)
        finished = watch(job, player, cap)
        seconds = time.monotonic() - began
        if finished:
            end_job(job)
            check(job.out().decode() == answer, "the answer differs:", job)
        else:
            job.give_up()
        lost = bool(LOST.search(job.said()))
        return dict(outcome(job, work, cap if lost else seconds, player.done), finished=finished,
                    lost_all=lost)


def watch(job, player, cap):
    """Until the digest is there (True), or the cap is reached or everything is lost (False)."""
    while True:
        now = time.monotonic()
        if b"digest" in job.out():
            return True
        if job.process.poll() is not None:
            check(LOST.search(job.said()), "ended too early:", job)
            return False
        if now - player.began >= cap:
            return False
        player.play(now)
        time.sleep(max(0.001, min(LOOK, player.until_next(time.monotonic()))))


def end_job(job):
    """After the last line a host that was powered off just before can still be missed."""
    job.wait()
    late = "while the job was ending" in job.said() or "has not confirmed its end" in job.said()
    check(job.status == 0 or late, "status", job.status, "\n", job)


__all__ = ["BUILD", "Failed", "HostPlace", "Setting", "WORKER", "Work", "check", "numbers", "run_job"]
