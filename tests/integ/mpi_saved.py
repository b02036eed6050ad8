"""Snapshots of MPI programs: rollbacks after kills at random moments, and a restart, on one host and several.

mpi_saved.py [SEED]: the moments and victims of the kills come from the seed, which is printed; without one from the
clock.  MPI_KILLS: how many kills in each job.
"""
import os
import random
import signal
import sys
import time

from harness import BIN, BSPRUN, Job, bsprun, check, committed, expect, main, run, scratch, wait_until

CASES = os.environ["INTEG_MPI"]
RSH = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "hosts", "local-rsh")
ONE = ["-np", "4"]
SEVERAL = ["--launcher", RSH, "--hosts", "h0:1,h1:2,h2:1"]
ROUNDS, PAUSE = "150", "4000"
KILLS = int(os.environ.get("MPI_KILLS", "4"))

seed = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9
chance = random.Random(seed)
print(f"seed {seed}", flush=True)
stores = 0
wanted = []


def new_store():
    global stores
    stores += 1
    return os.path.join(scratch, f"store {stores}")


def answer():
    """The output of a job that nothing happens to."""
    if not wanted:
        wanted.extend(expect(bsprun(*ONE, CASES, "work", ROUNDS, "0"), 0, no_err=True).out.splitlines())
        check(len(wanted) == 16, wanted)
    return wanted


def shown_by(job):
    return [line for line in (line.rstrip("\r") for line in job.text().splitlines()) if not line.startswith("bsprun: ")]


def wait_snapshot(job, store):
    wait_until(lambda: any(step >= 1 for step in committed(store)) or job.is_over(), "a snapshot")


def kill_one(job):
    ranks = [pid for pid, name in job.members().items() if name == "integ_mpi"]
    if not ranks:
        return False
    try:
        os.kill(chance.choice(ranks), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def rolls_back(where, every, env):
    """Processes are killed at random moments; the output is as if nothing had happened."""
    store, killed = new_store(), 0
    with Job([BSPRUN, *where, f"--ckpt={store}", "--every", every, "--max-restarts", "1000", CASES, "work", ROUNDS, PAUSE],
             env=env) as job:
        wait_snapshot(job, store)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0, 0.15))
            killed += not job.is_over() and kill_one(job)
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        check(killed > 0, job.text())
        check(shown_by(job) == answer(), f"seed {seed}", job.text(), answer())
        job.check_gone()


def kills_on_one_host():
    rolls_back(ONE, "0.05s", {})


def kills_on_one_host_without_direct_copies():
    rolls_back(ONE, "0.05s", {"BSPZERO_DIRECT": "1000000000000"})


def kills_on_several_hosts():
    rolls_back(SEVERAL, "0.05s", {})


def restarted():
    """All of bsprun is killed; --restart goes on from the newest snapshot."""
    store = new_store()
    with Job([BSPRUN, *ONE, f"--ckpt={store}", "--every", "0.05s", CASES, "work", ROUNDS, PAUSE]) as job:
        wait_snapshot(job, store)
        before = job.text()
        os.kill(job.os_pid, signal.SIGKILL)
        job.finish()
    result = expect(run([BSPRUN, f"--restart={store}"]), 0)
    lines = result.out.splitlines()
    check(lines and lines == answer()[-len(lines):], result.out, before)


def stuck_after_a_snapshot():
    """A job that goes on from a snapshot still ends when it is stuck."""
    store = new_store()
    expect(bsprun(*ONE, f"--ckpt={store}", "--every", "0.05s", CASES, "wrong", "receive"), 1,
           err=r"^bsprun: all processes wait, and nothing is on its way to them:$")


if __name__ == "__main__":
    main([kills_on_one_host, kills_on_one_host_without_direct_copies, kills_on_several_hosts, restarted,
          stuck_after_a_snapshot])
