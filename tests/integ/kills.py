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


def ranks_of(job, program):
    return [pid for pid, name in job.members().items() if name == os.path.basename(program)]


def kill_one(job, program):
    """One of the processes that run the program here.  False: none does any more."""
    ranks = ranks_of(job, program)
    if not ranks:
        return False
    try:
        os.kill(chance.choice(ranks), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def shown_by(job):
    """The lines of the program's output."""
    return [line for line in (line.rstrip("\r") for line in job.text().splitlines()) if not line.startswith("bsprun: ")]


def wait_snapshot(job, store, least=1):
    """Until there is a snapshot of so many supersteps or more, or the job is over."""
    wait_until(lambda: any(step >= least for step in committed(store)) or job.is_over(), f"a snapshot of superstep {least}")
