"""Snapshots at calls: programs without supersteps whose processes have replicas.  What all snapshots of jobs with replicas are
for is in replicated_saved.py.

replicated_calls.py [SEED]: the moments and victims come from the seed, which is printed; without one from the clock.
REPLICATED_ZEROS=N: so many jobs in which Processor Zero's host is lost, by hand.
"""
import os
import re
import signal
import time

from harness import BSPRUN, Job, check, held_in_capture, long, main, wait_held
from kills import new_store
from replicated import BACK, OBJECTS, RSH, cell_of, chance, check_answer, command, lose, names, ranks_of, seed, zero_of
from replicated_saved import all_of_one_are_lost, changed, replaced, restarted, wait_snapshots

WORK = ("work", "600", "2000")
ZEROS = int(os.environ.get("REPLICATED_ZEROS", "2"))


def another_snapshot(job, count=1):
    """Until so many more are committed.  After that none is being taken: who stands still in that moment holds it up."""
    wait_snapshots(job, len(re.findall("snapshot of superstep [1-9]", str(job))) + count)


def calls_go_back():
    all_of_one_are_lost(WORK)


@long
def calls_are_restarted():
    restarted(WORK)


@long
def calls_are_changed():
    changed(("work", "1200", "2000"))


@long
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


@long
def one_is_behind_several_snapshots():
    """Its processes stop where those of the others did, each time, and the others do not wait for that; only the snapshots do,
    for two heartbeats, to be compared."""
    words = ("work", "3000", "2000")
    with Job([*command(2, "-v", "--every", "0.05s", "--heartbeat", "2"), OBJECTS, *words]) as job:
        wait_snapshots(job, 1)
        slow = ranks_of(job, chance.choice([name for name in names(4) if ranks_of(job, name)]))
        another_snapshot(job)
        for pid in slow:
            os.kill(pid, signal.SIGSTOP)
        another_snapshot(job, 2)
        for pid in slow:
            os.kill(pid, signal.SIGCONT)
        check_answer(job, *words)
        check("was lost" not in job.text() and BACK not in job.text(), f"seed {seed}", job.text())


@long
def one_stops_as_it_is_captured():
    """After two heartbeats the others go on without that snapshot, and take further ones; it finds out when it continues, or
    is given up some time.  Saved at calls, and at barriers."""
    continues = chance.choice([True, False])
    for words in (("work", "2000", "2000"), ("steps", "800", "5000")):
        hold, continues = new_store(), not continues
        with Job([*command(2, "-v", "--every", "0.1s", "--heartbeat", "0.5"), *held_in_capture(hold), OBJECTS, *words]) as job:
            another_snapshot(job)
            open(hold, "w").close()
            held = wait_held(job)
            another_snapshot(job, 2)
            if continues:
                os.kill(held, signal.SIGCONT)
                another_snapshot(job)
            check_answer(job, *words)
            check(BACK not in job.text() and not (continues and "was lost" in job.text()), f"seed {seed}", job.text())
            check(re.search(r"no snapshot after superstep \d+: process \d on host h\d is stopped, or slow, and its replicas go on; a restart "
                            r"would continue from superstep \d+", job.text()), f"seed {seed}", job.text())


def no_replica_comes_to_a_call():
    """All wait for the process, which is named once; nobody is given up."""
    with Job([*command(2, "-v", "--every", "0.1s"), OBJECTS, *WORK]) as job:
        wait_snapshots(job, 1)
        late = [pid for name in cell_of(job, "h0") for pid in ranks_of(job, name)]
        another_snapshot(job)
        for pid in late:
            os.kill(pid, signal.SIGSTOP)
        job.wait_for(r"a snapshot is due, and process \d on host h\d has made no call at which it could be saved for 10 s: all wait", 1)
        for pid in late:
            os.kill(pid, signal.SIGCONT)
        check_answer(job, *WORK)
        check("was lost" not in job.text() and BACK not in job.text(), f"seed {seed}", job.text())
        check(job.text().count("a snapshot is due, and process") <= 2, f"seed {seed}", job.text())


@long
def no_room_for_what_others_have():
    """Objects that a host keeps in a snapshot for another one take room a second time: without it the snapshot fails, not the job.
    How many calls are made must not depend on the moment, as replicas would differ: they last for 8 s."""
    with Job([BSPRUN, "-np", "2", "--launcher", RSH, "--hosts", "h0:2,h1:2", "--replicas", "2", f"--ckpt={new_store()}", "--every", "0.1s",
              "--on-refuse", "continue", "--dataspace-memory", "4M", OBJECTS, "many", "2400", "1000", "400"]) as job:
        check(job.finish() == 0, job.status, job.text())
        check(job.text().count("has seen all") == 2, job.text())
        check("no memory to keep the objects of the dataspace" in job.text(), job.text())
        # On a busy machine a replica may trail by more than there is memory for.
        check("was lost" not in job.text() or "there is no memory for what it still has to get" in job.text(), job.text())


if __name__ == "__main__":
    main([calls_go_back, calls_are_restarted, calls_are_changed, calls_are_replaced, calls_as_often_as_worthwhile,
          zero_is_lost_at_calls, one_is_behind_several_snapshots, one_stops_as_it_is_captured, no_replica_comes_to_a_call, no_room_for_what_others_have])
