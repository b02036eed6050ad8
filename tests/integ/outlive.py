"""A job of a dataspace outlives the loss of a host: its processes are restarted alone on others, which go on (--copies).

outlive.py [SEED]: the moments and victims come from the seed, which is printed; without one from the clock.
OUTLIVE_JOBS=N: so many jobs in the storm, by hand.
"""
import json
import os
import random
import re
import signal
import sys
import time

from harness import BIN, BSPRUN, Job, bsprun, check, committed, expect, main, process_stat, run, scratch, wait_until

BSPSTAT = os.path.join(BIN, "bspstat")
BSPCTL = os.path.join(BIN, "bspctl")
OBJECTS = os.environ["INTEG_OBJECTS"]
RSH = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "hosts", "local-rsh")
HOSTS = {"h0": 1, "h1": 2, "h2": 1, "h3": 1}  # processes 0; 1 and 2; 3; 4
JOBS = int(os.environ.get("OUTLIVE_JOBS", "3"))
ELSEWHERE = "restarted alone on host"
TOGETHER = "the job continues from superstep"
DELAY = 3000  # microseconds of a round

seed = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9
chance = random.Random(seed)
print(f"seed {seed}", flush=True)
wanted = {}
stores = 0


def new_store():
    global stores
    stores += 1
    return os.path.join(scratch, f"store {stores}")


def command(*options, hosts=HOSTS):
    slots = ",".join(f"{name}:{count}" for name, count in hosts.items())
    return [BSPRUN, "--launcher", RSH, "--hosts", slots, f"--ckpt={new_store()}", "--rejoin", "off", *options]


def work(rounds):
    return [OBJECTS, "work", str(rounds), str(DELAY)]


def answer(rounds, processes=5):
    """The output, in any order, of a job that nothing happens to."""
    if (rounds, processes) not in wanted:
        result = expect(bsprun("-np", processes, OBJECTS, "work", rounds, 0), 0, no_err=True)
        wanted[rounds, processes] = sorted(result.out.splitlines())
    return wanted[rounds, processes]


def shown_by(job):
    return sorted(line for line in (line.rstrip("\r") for line in job.text().splitlines())
                  if not line.startswith("bsprun: "))


def agents_of(job):
    """Agents by the names of their hosts, which are in their environments."""
    agents = {}
    for pid, name in job.members().items():
        if name == "bspnode":
            with open(f"/proc/{pid}/environ", "rb") as file:
                agents[re.search(rb"(?:^|\0)BSPZERO_HOST_NAME=([^\0]*)", file.read()).group(1).decode()] = pid
    return agents


def ranks_of(job, *hosts):
    """Processes of these hosts: children of their agents."""
    agents = agents_of(job)
    parents = {agents[host] for host in hosts if host in agents}
    found = set()
    for pid, name in job.members().items():
        stat = process_stat(pid)
        if name == "integ_objects" and stat and int(stat[1]) in parents:
            found.add(pid)
    return found


def lose(job, *hosts):
    """Their agents are killed: with them go their processes and what they know."""
    agents = agents_of(job)
    for host in hosts:
        os.kill(agents[host], signal.SIGKILL)


def check_answer(job, rounds):
    check(job.finish() == 0, f"seed {seed}", job.status, job.text())
    check(shown_by(job) == answer(rounds), f"seed {seed}", job.text())
    check("appears in both versions" not in job.text(), f"seed {seed}", job.text())
    job.check_gone()


def one_host():
    """The processes of the others are never restarted; those of the lost one go on elsewhere, from their snapshot."""
    rounds = 400
    with Job([*command("-vv", "--every", "1000s"), *work(rounds)]) as job:
        job.wait_for("round 80", 5)
        before = ranks_of(job, "h0", "h2", "h3")
        check(len(before) == 3, before)
        lose(job, "h1")
        job.wait_for(ELSEWHERE, 1)
        check(before <= ranks_of(job, "h0", "h2", "h3"), before, job.members(), job.text())
        job.wait_for("round 160", 5)
        check(before <= ranks_of(job, "h0", "h2", "h3"), before, job.members(), job.text())
        check_answer(job, rounds)
        check(re.search(r"host h1 was lost; processes 1 and 2 are restarted alone on host h[23], from the beginning"
                        r"|host h1 was lost; process [12] is restarted alone on host h[23], from the beginning", job.text()),
              job.text())
        check(TOGETHER not in job.text(), job.text())


if __name__ == "__main__":
    main([one_host])
