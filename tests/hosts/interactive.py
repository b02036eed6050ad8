"""How much an owner's own work is slowed by each --owner-policy: the figures of doc/guide.md.

    interactive.py [SECONDS [ROUNDS]]
"""
import os
import signal
import statistics
import subprocess
import sys
import time

from owners import BURNER, SOON, OwnedPlace, at_work, becomes, begun, places
from loopback import send, wait_until

WORK = """
import sys, time
until, times = time.monotonic() + float(sys.argv[1]), []
while time.monotonic() < until:
    begun, x = time.monotonic(), 1
    for _ in range(60000):
        x = x * 6364136223846793005 % 18446744073709551557
    times.append(time.monotonic() - begun)
    time.sleep(0.01)
times.sort()
print(sum(times) / len(times), times[len(times) * 95 // 100])
"""


def owner_works(core, seconds):
    """A task of some milliseconds, a hundredth of a second's rest, and so on: mean and 95th percentile."""
    done = subprocess.run(["taskset", "-c", str(core), sys.executable, "-c", WORK, str(seconds)], check=True,
                          capture_output=True)
    return tuple(map(float, done.stdout.split()))


def felt(core, policy, seconds, group=False):
    """The same beside a job whose processes on the owner's host are pinned to that core."""
    with OwnedPlace(2) as place:
        place.write("core.h0", str(min(os.sched_getaffinity(0))))
        place.write("core.h1", str(core))
        if group:
            place.group_of_processors("h1")
        job = place.bsprun("-np", 4, "--bind", "none", "-v", "--ckpt", place.store, "--every", "1000000",
                           "--heartbeat", "600",
                           "--balance", "off", "--owner-policy", policy + (SOON if policy != "none" else ""),
                           BURNER, 1000000, 5000)
        begun(job)
        place.active("h1")
        if policy in ("nice", "yield"):
            becomes(place, job, "h1", "slowed for its owner" if policy == "nice" else "stopped for its owner")
        elif policy == "leave":
            wait_until(lambda: places(place, job)["h1"] == ("left to its owner", 0), "the move")
        victims = [*at_work(place, job, "h1"), place.agent("h1")]
        before = owner_alone(victims, core, seconds)
        used, since = processor_ns(victims), time.monotonic_ns()
        result = owner_works(core, seconds)
        share = (processor_ns(victims) - used) / (time.monotonic_ns() - since)
        after = owner_alone(victims, core, seconds)
        send(job.os_pid, signal.SIGINT)
        job.wait()
    return result, before, after, share


def processor_ns(os_pids):
    """Processor time of their threads."""
    used = 0
    for os_pid in os_pids:
        for thread in os.listdir(f"/proc/{os_pid}/task"):
            with open(f"/proc/{os_pid}/task/{thread}/schedstat", encoding="ascii") as file:
                used += int(file.read().split()[0])
    return used


def owner_alone(others, core, seconds):
    """The same while all that the job has on that host stands still."""
    for os_pid in reversed(others):
        send(os_pid, signal.SIGSTOP)
    try:
        return owner_works(core, seconds)
    finally:
        for os_pid in others:
            send(os_pid, signal.SIGCONT)


def interactive(seconds=10, rounds=5):
    """Compared with the time before and after, in which the job stands still, since the machine has other
    work: the median of rounds, and the middle half of them."""
    core = max(os.sched_getaffinity(0))
    cases = {"none": ("none", False), "nice, in turns": ("nice", False), "nice, cpu.idle": ("nice", True),
             "yield": ("yield", False), "leave": ("leave", False)}
    for name, (policy, group) in cases.items():
        slower, tails, shares = [], [], []
        for _ in range(int(rounds)):
            with_job, before, after, share = felt(core, policy, seconds, group)
            shares.append(100 * share)
            slower.append(100 * (2 * with_job[0] / (before[0] + after[0]) - 1))
            tails.append(100 * (2 * with_job[1] / (before[1] + after[1]) - 1))
        quarters = statistics.quantiles(slower, n=4)
        print(f"{name:15} slower by {statistics.median(slower):+6.1f} % ({quarters[0]:+.1f} to {quarters[2]:+.1f}), "
              f"its 95th percentile by {statistics.median(tails):+6.1f} %; "
              f"the job has {statistics.median(shares):.2f} % of the core", flush=True)


if __name__ == "__main__":
    interactive(*map(float, sys.argv[1:]))
