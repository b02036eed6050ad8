"""Kills any process of a job at any moment: the job ends, and nothing of it is left.

The seed chooses the jobs, the moments and the victims: chaos.py SEED [COUNT] repeats a run as far
as the machine's timing allows.
"""
import os
import random
import signal
import sys
import time

from harness import BSPRUN, PROG, Failed, Job, check, process_stat, wait_until

COUNT = 60


def some_job(chance):
    """A job that would never end by itself."""
    mode = chance.choice(["loop", "compute", "wait", "early-sleep", "late-sleep"])
    command = [PROG, mode, "0"]
    env = {}
    if chance.random() < 0.2:
        command = ["env", *command]
    p = str(chance.choice([1, 2, 3, 5]))
    if chance.random() < 0.75:
        options = chance.choice([[], ["--tag-output"], ["--report"], ["--progress"]])
        command = [BSPRUN, *options, "-np", p, *command]
    else:
        env["BSP_PROCS"] = p
    return command, env, chance.random() < 0.3


def kill_one(job, chance):
    """A random process of the job: (its id, its name, its parent's name), None if all have gone."""
    while True:
        members = job.members()
        if not members:
            return None
        victim = chance.choice(sorted(members))
        stat = process_stat(victim)
        try:
            os.kill(victim, signal.SIGKILL)
            return victim, members[victim], members.get(stat[1] if stat else 0)
        except ProcessLookupError:
            continue


def may_go_on(job, victim):
    """Whether the job is right to go on: the victim was the helper that makes the clones (a child
    of process 0), or one that was about to leave after bsp_end."""
    return victim is None or victim[2] not in (None, "bspnode") or "late-sleep" in job.command


def left(job):
    """Who is left.  Without bsprun process 0 is the user's own: when the agent has died, it ends
    at its next barrier, or when the user wants it to."""
    members = job.members()
    if BSPRUN not in job.command and job.os_pid in members and "bspnode" not in members.values():
        os.kill(job.os_pid, signal.SIGTERM)
    return members


def one(chance):
    command, env, terminal = some_job(chance)
    with Job(command, env=env, terminal=terminal) as job:
        time.sleep(chance.random() ** 3 * 0.1)  # the beginning is the interesting part
        victim = kill_one(job, chance)
        if may_go_on(job, victim):
            job.signal(signal.SIGKILL)  # bsprun or process 0: not the helper again
        try:
            wait_until(lambda: not left(job), "the end of all")
        except Failed:
            raise Failed(command, env, "killed", victim, "left", job.members())
        job.finish()
        check(job.status != 0, "status 0 after a kill", command, victim, job.text())


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else COUNT
    for number in range(seed, seed + count):
        try:
            one(random.Random(number))
        except Failed as failure:
            print(f"seed {number}: FAILED: {failure}")
            return 1
    print(f"seeds {seed} to {seed + count - 1}: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
