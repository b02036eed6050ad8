"""What tests share that kill processes of a job at random moments, on one host and several: the seed, the job, its output.

The moments and victims come from the seed, the first argument of the test, which is printed; without one from the clock.
"""
import os
import random
import signal
import sys
import time

from harness import RSH, committed, scratch, wait_until

ONE = ["-np", "4"]
SEVERAL = ["--launcher", RSH, "--hosts", "h0:1,h1:2,h2:1"]

seed = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9
chance = random.Random(seed)
print(f"seed {seed}", flush=True)
stores = 0


def new_store():
    global stores
    stores += 1
    return os.path.join(scratch, f"store {stores}")


def running(job, program):
    """The processes that run the program here, copies among them."""
    return [pid for pid, name in job.members().items() if name == os.path.basename(program)]


def is_copy(pid):
    """Whether a process has a lower priority than ranks, as who writes an image for which nobody waits."""
    try:
        return os.sched_getscheduler(pid) == os.SCHED_IDLE or os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)
    except ProcessLookupError:
        return True


def ranks_of(job, program):
    return [pid for pid in running(job, program) if not is_copy(pid)]


def kill_one_of(processes):
    """One of these.  False: there is none, or it has ended."""
    if not processes:
        return False
    try:
        os.kill(chance.choice(processes), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_one(job, program):
    """One of the processes that run the program here, a rank or a copy."""
    return kill_one_of(running(job, program))


def kill_rank(job, program):
    return kill_one_of(ranks_of(job, program))


def shown_by(job):
    """The lines of the program's output."""
    return [line for line in (line.rstrip("\r") for line in job.text().splitlines()) if not line.startswith("bsprun: ")]


def wait_snapshot(job, store, least=1):
    """Until there is a snapshot of so many supersteps or more, or the job is over."""
    wait_until(lambda: any(step >= least for step in committed(store)) or job.is_over(), f"a snapshot of superstep {least}")
