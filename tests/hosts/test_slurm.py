"""The Slurm of the other tests is what it promises to be."""
import os
import subprocess
import sys

import farm as farms
from farm import Farm, FarmError
from slurm import COMMANDS, Slurm

SCRIPT = """#!/bin/sh
echo "start ${SLURM_RESTART_COUNT-0}" >>log
trap 'echo warned >>log' TERM
while [ ! -e end ]; do sleep 0.1; done
echo over >>log
"""


def check(truth, *what):
    if not truth:
        raise FarmError(" ".join(map(str, what)))


def steps(farm):
    done = farm.run("a", ["srun", "-N3", "hostname"], user=farm.user)
    check(sorted(done.stdout.split()) == ["a", "b", "c"], "srun", done)
    done = farm.run("a", ["salloc", "-N2", "-n4", "sh", "-c", "srun hostname"], user=farm.user)
    check(sorted(done.stdout.split()) == ["a", "a", "b", "b"], "salloc", done)


def submit(farm, *options):
    home = farm.home
    for name in ("log", "end"):
        if os.path.exists(os.path.join(home, name)):
            os.unlink(os.path.join(home, name))
    done = farm.run("a", ["sbatch", "--parsable", "-o", "/dev/null", *options], input=SCRIPT,
                    user=farm.user, cwd=home)
    check(done.returncode == 0, "sbatch", done)
    return int(done.stdout)


def log(farm):
    path = os.path.join(farm.home, "log")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return file.read().splitlines()


def finish(farm, slurm):
    open(os.path.join(farm.home, "end"), "w").close()
    slurm.until(lambda: not slurm.jobs(), "the end of the jobs")


def preemption(farm, slurm):
    """A job that has to make room is warned, ended, and runs again."""
    job = submit(farm, "-N3", "-c2", "--requeue")
    slurm.until(lambda: log(farm) == ["start 0"], "the job")
    urgent = farm.run("a", ["srun", "-p", "high", "-N1", "-c2", "hostname"], user=farm.user)
    check(urgent.returncode == 0, urgent)
    check("warned" in log(farm), "it should have been warned:", log(farm))

    def again():  # at once instead of in two minutes
        farm.run("a", ["scontrol", "update", f"jobid={job}", "starttime=now"])
        return "start 1" in log(farm)
    slurm.until(again, "the job again")
    finish(farm, slurm)
    check(log(farm)[-1] == "over", log(farm))


def cancelling(farm, slurm):
    job = submit(farm, "-N2")
    slurm.until(lambda: log(farm) == ["start 0"], "the job")
    farm.run("a", ["scancel", str(job)], user=farm.user)
    slurm.until(lambda: not slurm.jobs(), "the end of the job")
    slurm.wait_nodes("idle")


def a_node_that_dies(farm, slurm):
    """A job that says so goes on without it; the node comes back."""
    job = submit(farm, "-N3", "--no-kill")
    slurm.until(lambda: log(farm) == ["start 0"], "the job")
    farm.kill_host("c")
    slurm.until(lambda: slurm.states()["c"] in ("down", "down*"), "the loss of c")
    check(slurm.jobs() == {job: "R"}, "the job should go on:", slurm.jobs())
    slurm.boot("c")
    finish(farm, slurm)
    slurm.wait_nodes("idle")


TESTS = {test.__name__: test for test in (cancelling, preemption, a_node_that_dies)}


def all_together():
    """They mostly wait for Slurm: each in a process with hosts of its own."""
    started = [subprocess.Popen([sys.executable, os.path.abspath(__file__), name]) for name in TESTS]
    try:
        return max([process.wait() for process in started])
    finally:
        for process in started:
            process.terminate()
            process.wait()


def main():
    farms.require(*COMMANDS, root=True)
    if not sys.argv[1:]:
        return all_together()
    with Farm(3, put=Slurm.PUT) as farm:
        try:
            slurm = Slurm(farm)
            steps(farm)
            TESTS[sys.argv[1]](farm, slurm)
        except FarmError as problem:
            print("FAILED:", problem)
            return 1
        scratch = farm.scratch
    check(not os.path.exists(scratch), scratch, "is left")
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
