"""Increments of several hosts with one directory of snapshots: each host begins the chains of its
processes at another snapshot, and no snapshot is one that all could begin anew from."""
import json
import os
import shutil
import signal
import subprocess
import time

from loopback import *
from loopback import BSPRUN, LoopbackPlace, check, main, send

P = 4
SUPERSTEPS = 40
LOST_AT = 12
AT = 30
MOST = 3 + 2 * 8 - 1  # the newest three, and two chains
BSPCKPT = BSPRUN.replace("bsprun", "bspckpt")


def generations(place, superstep):
    """How many images each process's one of that snapshot builds on."""
    shown = json.loads(subprocess.run([BSPCKPT, "show", "--json", f"{place.store}@{superstep}"],
                                      check=True, stdout=subprocess.PIPE, text=True).stdout)
    return [one["generation"] for one in shown["processes"]]


def held_job(place):
    """A host is lost on the way: what ran there goes on elsewhere, with new chains."""
    place.hold(0, LOST_AT)
    place.hold(0, LOST_AT + 3)
    place.hold(0, AT)
    job = place.ticker(P, SUPERSTEPS, "-a")
    for pid in range(P):
        place.wait_executed(pid, LOST_AT)
    place.wait_committed(LOST_AT)
    place.kills.append(place.committed())
    place.will_not_return("h1")
    send(place.agent("h1"), signal.SIGKILL)
    for pid in range(P):
        place.wait_executed(pid, LOST_AT, times=2)
    place.release(0, LOST_AT)
    place.wait_executed(0, LOST_AT + 3)
    place.wait_committed(LOST_AT + 3)  # and is one of the newest, which stay
    check(len(set(generations(place, LOST_AT + 3))) > 1,
          "the chains of all processes are as long as each other, which proves nothing", job)
    place.release(0, LOST_AT + 3)
    place.wait_executed(0, AT)
    place.wait_committed(AT)
    return job, generations(place, AT)


def as_many_as_on_one_host():
    """Counted when the job has been saved and stopped: while it runs, snapshots that are not needed
    any more are removed now and then."""
    reference = Reference.of(P, SUPERSTEPS, "-a")
    with LoopbackPlace(hosts=3) as place:
        job, _ = held_job(place)
        job.signal(signal.SIGTERM)
        place.release(0, AT)
        job.wait(123)
        kept = snapshots(place.store)
        check(len(kept) <= MOST, len(kept), "snapshots are kept:", kept, job)
        job = place.restart()
        job.check_tail(reference)
        place.check_files(reference)
        place.check_clean()


def the_newest_alone():
    """With one snapshot to keep there is no second chain; processes of process 0's host build on
    snapshot 0, those of the other one begin at the first barrier, and all begin anew together."""
    with LoopbackPlace(hosts=2) as place:
        job = place.ticker(P, 50, options=("--every", "1", "--keep", "1")).wait(0)
        kept = snapshots(place.store)
        check(len(kept) <= 16, len(kept), "snapshots are kept:", kept, job)
        made = generations(place, kept[-1][0])
        check(kept[-1][0] > 40 and max(made) > 0, "no chain that could be too long:", kept, made, job)
        place.check_clean()


def a_damaged_base_of_one_host():
    """A restart goes on from the newest snapshot that does not need it."""
    reference = Reference.of(P, SUPERSTEPS, "-a")
    with LoopbackPlace(hosts=3) as place:
        job, made = held_job(place)
        place.kill(job.os_pid)
        job.wait(-signal.SIGKILL)
        wait_until(lambda: not marked(place.mark), "the end of all processes")
        place.release(0, AT)
        pid = min(range(P), key=lambda pid: made[pid])
        bad = AT - made[pid]
        flip(image(place, next(name for name in snapshots(place.store) if name[0] == bad), pid),
             30000)
        done = len(place.witness())
        job = place.restart().wait(0)
        check(reference.out.endswith(job.out()), "not the right end\n", job)
        first = min(superstep for _, superstep, _ in place.witness()[done:])
        check(first == bad - 1, "where it went on:", first, "not", bad - 1, job)
        place.check_files(reference)
        place.check_clean()


def bases_are_removed():
    """By somebody who needs room: one snapshot is not committed, and the next one builds on none of
    them, on no host.  Processor Zero lets some time pass in between."""
    reference = Reference.of(P, SUPERSTEPS, "-a")
    with LoopbackPlace(hosts=2) as place:
        for step in range(AT, SUPERSTEPS):
            place.hold(0, step)
        job = place.ticker(P, SUPERSTEPS, "-a")
        place.wait_executed(0, AT)
        place.wait_committed(AT)
        check(min(generations(place, AT)) > 0, "images that build on nothing", job)
        for name in snapshots(place.store):
            if name[0] < AT:  # bsprun may be removing some of it, too
                shutil.rmtree(os.path.dirname(image(place, name, 0)), ignore_errors=True)
        held = list(range(AT, SUPERSTEPS))
        while max(snapshots(place.store))[0] == AT and held:
            place.release(0, held.pop(0))
            time.sleep(0.5)  # too little time has passed, maybe
        check("is not there any more" in job.said(), "it does not say why there is no snapshot", job)
        newest = max(snapshots(place.store))
        check(newest[0] > AT, "no snapshot was committed any more", job)
        verified = subprocess.run([BSPCKPT, "verify", "--local", f"{place.store}@{newest[0]}"],
                                  stdout=subprocess.PIPE, text=True)
        check(verified.returncode == 0, verified.stdout, job)
        for step in held:
            place.release(0, step)
        job.wait(0)
        check(job.out() == reference.out, "another output\n", job)
        place.check_files(reference)
        place.check_clean()


def no_directory_for_a_snapshot():
    """On all hosts, also those without process 0: the job goes on, and none of them is taken for lost."""
    reference = Reference.of(P, SUPERSTEPS, "-a")
    with LoopbackPlace(hosts=2) as place:
        place.hold(0, LOST_AT)
        place.hold(0, AT)
        job = place.ticker(P, SUPERSTEPS, "-a")
        place.wait_executed(0, LOST_AT)
        place.wait_committed(LOST_AT)
        directory = os.path.join(place.store, jobs(place.store)[0])
        for step in range(LOST_AT + 1, AT + 1):
            with open(os.path.join(directory, f"{step}.1"), "x"):
                pass
        place.release(0, LOST_AT)
        place.wait_executed(0, AT)
        check("no snapshot after superstep" in job.said(), "it does not say that there is no snapshot", job)
        place.release(0, AT)
        job.wait(0)
        check("was lost" not in job.said() and "continues from" not in job.said(), "what was lost?", job)
        check(job.out() == reference.out, "another output\n", job)
        place.check_files(reference)


if __name__ == "__main__":
    main([as_many_as_on_one_host, the_newest_alone, a_damaged_base_of_one_host, bases_are_removed,
          no_directory_for_a_snapshot], together=3)
