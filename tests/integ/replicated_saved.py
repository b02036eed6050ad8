"""Snapshots of jobs of the dataspace whose processes have replicas (--replicas): rollbacks when all replicas of a process are
lost, restarts, and what else needs a snapshot.

replicated_saved.py [SEED]: the moments and victims come from the seed, which is printed; without one from the clock.
REPLICATED_ZEROS=N: so many jobs in which Processor Zero's host is lost, by hand.
"""
import os
import re
import signal
import time

from harness import Job, bsprun, check, expect, main, run
from replicated import BACK, BSPCTL, OBJECTS, RSH, agents_of, answer, cell_of, chance, check_answer, command, lose, names, ranks_of, seed, shown_by, zero_of

STEPS = ("steps", "60", "20000")
WORK = ("work", "600", "2000")
ZEROS = int(os.environ.get("REPLICATED_ZEROS", "2"))


def store_of(options):
    return next(word for word in options if word.startswith("--ckpt=")).split("=", 1)[1]


def wait_snapshots(job, count):
    """Until bsprun -v has shown so many but the first one."""
    job.wait_for(r"snapshot of superstep [1-9]\d*:", count)


def all_of_one_are_lost(words):
    """All go back to a snapshot, in which are the objects of all hosts; it is shown once."""
    with Job([*command(2, "-v", "--every", "0.1s"), OBJECTS, *words]) as job:
        wait_snapshots(job, 2)
        lose(job, *cell_of(job, chance.choice(["h0", "h1"])))
        check_answer(job, *words)
        check(BACK in job.text(), f"seed {seed}", job.text())
        check(re.search(r"continues from superstep [1-9]\d* \(restart 1 of", job.text()), f"seed {seed}", job.text())


def supersteps_go_back():
    all_of_one_are_lost(STEPS)


def restarted(words):
    """Stopped, and gone on with other hosts: with as many replicas, with more, and without."""
    for options, hosts in (([], 4), (["--replicas", "3"], 6), (["--replicas", "1"], 2)):
        first = command(2, "-v", "--every", "0.1s")
        with Job([*first, OBJECTS, *words]) as job:
            wait_snapshots(job, 2)
            job.signal(signal.SIGTERM)
            check(job.finish() == 123, job.status, job.text())
            before = shown_by(job)
        where = ",".join(f"{name}:2" for name in names(hosts))
        result = expect(bsprun("--restart", store_of(first), "--hosts", where, "--launcher", RSH, *options), 0)
        check(sorted(before + result.out.splitlines()) == answer(*words), before, result)


def supersteps_are_restarted():
    restarted(STEPS)


def changed(words):
    """While the job runs: a snapshot, a host that is drained, more replicas, and none."""
    with Job([*command(2, "-v", "--every", "1000s", hosts=7), OBJECTS, *words]) as job:
        job.wait_for("replicas: host", 2)
        for request in (["save"], ["drain", "h1"], ["replicas", "3"], ["replicas", "1"], ["replicas", "2"]):
            expect(run([BSPCTL, "--wait", str(job.os_pid), *request]), 0)
        check_answer(job, *words)
        check(BACK not in job.text(), job.text())


def supersteps_are_changed():
    changed(("steps", "200", "20000"))


def replaced(words):
    """A host that is lost is replaced at a snapshot; then the other one that had its processes can be lost, too."""
    with Job([*command(2, "-v", "--every", "0.2s", "--rejoin", "0.5", "--heartbeat", "1"), OBJECTS, *words]) as job:
        wait_snapshots(job, 1)
        lost, other = cell_of(job, "h0")
        lose(job, lost)
        job.wait_for(f"host {lost} was lost", 1)
        job.wait_for("Processor Zero is host", 2)
        lose(job, other)
        job.wait_for(f"host {other} was lost", 1)
        check_answer(job, *words)
        check(BACK not in job.text(), f"seed {seed}", job.text())


def supersteps_are_replaced():
    replaced(("steps", "250", "20000"))


def calls_go_back():
    all_of_one_are_lost(WORK)


def calls_are_restarted():
    restarted(WORK)


def calls_are_changed():
    changed(("work", "1200", "2000"))


def calls_are_replaced():
    replaced(("work", "2500", "2000"))


def calls_as_often_as_worthwhile():
    """--every auto."""
    with Job([*command(2, "-v", "--every", "auto", "--mtbf", "10s"), OBJECTS, *WORK]) as job:
        wait_snapshots(job, 2)
        lose(job, *cell_of(job, "h0"))
        check_answer(job, *WORK)
        check(BACK in job.text(), f"seed {seed}", job.text())


def zero_is_lost_at_calls():
    """While snapshots follow each other: others may have stopped for one, or have been asked where, or not."""
    for _ in range(ZEROS):
        with Job([*command(3, "-v", "--every", "0.01s"), OBJECTS, *WORK]) as job:
            wait_snapshots(job, 2)
            for losses in (1, 2):
                time.sleep(chance.uniform(0, 0.1))
                victim = zero_of(job)
                lose(job, victim)
                job.wait_for(f"host {victim} was lost; .* is Processor Zero now", 1)
                wait_snapshots(job, 2 + losses)
            check_answer(job, *WORK)
            check(BACK not in job.text(), f"seed {seed}", job.text())


def one_is_behind_several_snapshots():
    """Its processes stop where those of the others did, each time, and the others do not wait for that; only the snapshots do,
    for two heartbeats, to be compared."""
    words = ("work", "3000", "2000")
    with Job([*command(2, "-v", "--every", "0.05s", "--heartbeat", "2"), OBJECTS, *words]) as job:
        wait_snapshots(job, 1)
        slow = ranks_of(job, chance.choice([name for name in names(4) if ranks_of(job, name)]))
        for pid in slow:
            os.kill(pid, signal.SIGSTOP)
        wait_snapshots(job, len(re.findall("snapshot of superstep [1-9]", job.text())) + 2)
        for pid in slow:
            os.kill(pid, signal.SIGCONT)
        check_answer(job, *words)
        check("was lost" not in job.text() and BACK not in job.text(), f"seed {seed}", job.text())


def no_replica_comes_to_a_call():
    """All wait for the process, which is named once; nobody is given up."""
    with Job([*command(2, "-v", "--every", "0.1s"), OBJECTS, *WORK]) as job:
        wait_snapshots(job, 1)
        late = [pid for name in cell_of(job, "h0") for pid in ranks_of(job, name)]
        for pid in late:
            os.kill(pid, signal.SIGSTOP)
        job.wait_for(r"a snapshot is due, and process \d on host h\d has made no call at which it could be saved for 10 s: all wait", 1)
        for pid in late:
            os.kill(pid, signal.SIGCONT)
        check_answer(job, *WORK)
        check("was lost" not in job.text() and BACK not in job.text(), f"seed {seed}", job.text())
        check(job.text().count("a snapshot is due, and process") <= 2, f"seed {seed}", job.text())


if __name__ == "__main__":
    main([supersteps_go_back, supersteps_are_restarted, supersteps_are_changed, supersteps_are_replaced, calls_go_back,
          calls_are_restarted, calls_are_changed, calls_are_replaced, calls_as_often_as_worthwhile, zero_is_lost_at_calls,
          one_is_behind_several_snapshots, no_replica_comes_to_a_call])
