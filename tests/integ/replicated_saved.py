"""Snapshots of jobs of the dataspace whose processes have replicas (--replicas): rollbacks when all replicas of a process are
lost, restarts, and what else needs a snapshot.

replicated_saved.py [SEED]: the moments and victims come from the seed, which is printed; without one from the clock.
"""
import os
import re
import signal

from harness import BSPRUN, Job, bsprun, check, expect, long, main, run, scratch
from kills import new_store
from replicated import BACK, BSPCTL, OBJECTS, P, RSH, agents_of, answer, cell_of, chance, check_answer, command, lose, names, seed, shown_by

STEPS = ("steps", "60", "20000")


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


@long
def supersteps_are_changed():
    changed(("steps", "200", "20000"))


def changed_as_all_go_back():
    """Hosts that were started for one replica, and one that comes back when two are wanted, keep the same number of copies of
    objects.  The processes wait at a gate, so that the change is made by the rollback."""
    for first, then in (1, "2"), (1, "0=2"), (2, "1"):
        for recover in "all", "one":
            gate = os.path.join(scratch, f"gate {first} {then} {recover}")
            words = ("work", "120", "1000")
            with Job([BSPRUN, "-v", "-np", str(P), "--launcher", RSH, "--hosts", "h0:4,h1:4,h2:4,h3:4", "--replicas", str(first),
                      f"--ckpt={new_store()}", "--every", "1000s", "--recover", recover, OBJECTS, *words, gate]) as job:
                job.wait_for("round 40", P)
                job.wait_for("snapshot of superstep 0:", 1)
                expect(run([BSPCTL, str(job.os_pid), "replicas", then]), 0)
                job.wait_for("replicas are to be", 1)
                lose(job, *(["h0"] if first == 1 else cell_of(job, "h0")))
                job.wait_for("Processor Zero is host", 2)
                with open(gate, "w", encoding="ascii") as file:
                    file.write("1")
                check_answer(job, *words)
                check(BACK in job.text(), job.text())


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


def the_program_is_started_once():
    """Not again where it began, when that host comes back to a job that goes on."""
    starts, words = new_store(), ("steps", "150", "20000")
    wrapper = ["sh", "-c", f"echo started >>'{starts}'; exec \"$0\" \"$@\"", OBJECTS]
    with Job([*command(2, "-v", "--every", "0.2s", "--rejoin", "0.5", "--heartbeat", "1"), *wrapper, *words]) as job:
        wait_snapshots(job, 1)
        lose(job, "h0")
        job.wait_for("host h0 was lost", 1)
        job.wait_for("Processor Zero is host", 2)
        check_answer(job, *words)
        with open(starts) as file:
            check(file.read() == "started\n", "started again")


@long
def supersteps_are_replaced():
    replaced(("steps", "250", "20000"))


if __name__ == "__main__":
    main([supersteps_go_back, supersteps_are_restarted, supersteps_are_changed, changed_as_all_go_back, the_program_is_started_once, supersteps_are_replaced])
