"""Snapshots of programs that use the dataspace: rollbacks after kills at random moments, restarts, on one host and several.

dataspace_saved.py [SEED]: the moments and victims of the kills come from the seed, which is printed; without one from the clock.
"""
import itertools
import json
import os
import re
import signal
import time

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, committed, expect, main, run, scratch, wait_until
from kills import ONE, SEVERAL, chance, kill_one, new_store, seed, shown_by, wait_snapshot

BSPCTL = os.path.join(BIN, "bspctl")
OBJECTS = os.environ["INTEG_OBJECTS"]
WORK = [OBJECTS, "work", "300", "1000"]
STEPS = [OBJECTS, "steps", "60", "5000"]
KILLS = int(os.environ.get("DATASPACE_KILLS", "4"))

NOTHING_TO_COUNT = (r"^bsprun: --every: a program that begins with volpex_init has no supersteps to count, so no snapshots are taken "
                    r"of it: give a time, or auto$")

wanted = {}


def answer(program):
    """The output, in any order, of a job that nothing happens to."""
    if program[1] not in wanted:
        quick = [*program[:-1], "0"]
        wanted[program[1]] = sorted(expect(bsprun(*ONE, *quick), 0, no_err=True).out.splitlines())
    return wanted[program[1]]


def rolls_back(where, program, every):
    """Processes are killed at random moments: every operation has its effect once, every line is shown once."""
    store = new_store()
    killed = 0
    with Job([BSPRUN, *where, f"--ckpt={store}", "--every", every, "--recover", "all", "--max-restarts", "1000",
              *program]) as job:
        wait_snapshot(job, store)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0, 0.15))
            killed += not job.is_over() and kill_one(job, OBJECTS)
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        check(killed > 0, job.text())
        check(sorted(shown_by(job)) == answer(program), f"seed {seed}", job.text(), answer(program))
        job.check_gone()


def kills_on_one_host():
    rolls_back(ONE, WORK, "0.03s")


def kills_on_several_hosts():
    rolls_back(SEVERAL, WORK, "0.1s")


def kills_in_supersteps():
    rolls_back(ONE, STEPS, "0.03s")


def kills_in_supersteps_on_several_hosts():
    rolls_back(SEVERAL, STEPS, "0.1s")


def restarts(first, then):
    """Saved while processes wait and compute, and gone on from elsewhere: owners of tags are others then."""
    store = new_store()
    with Job([BSPRUN, *first, f"--ckpt={store}", "--every", "0.05s", *WORK]) as job:
        wait_snapshot(job, store, 2)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())
        before = [line.rstrip("\r") for line in job.text().splitlines()]
    result = expect(bsprun("--restart", store, *then), 0)
    shown = sorted(line for line in before + result.out.splitlines() if not line.startswith("bsprun: "))
    check(shown == answer(WORK), before, result.out)


def goes_on_elsewhere():
    restarts(ONE, [])
    restarts(SEVERAL, ["--hosts", "h0:4", "--launcher", RSH])
    restarts(ONE, ["--hosts", "h0:2,h1:2", "--launcher", RSH])


def moves_when_asked():
    """A snapshot on request, and a host that is drained while processes wait for objects that it owns."""
    store = new_store()
    with Job([BSPRUN, "-v", *SEVERAL, f"--ckpt={store}", "--every", "1000s", *WORK]) as job:
        job.wait_for("round 40", 1)
        expect(run([BSPCTL, "--wait", str(job.os_pid), "save"]), 0)
        check(committed(store)[-1] > 0, committed(store))
        expect(run([BSPCTL, "--wait", str(job.os_pid), "drain", "h1"]), 0)
        check(job.finish() == 0, job.status, job.text())
        check(sorted(shown_by(job)) == answer(WORK), job.text())


def loses_a_host():
    """The objects of its tags come back with the processes, on the hosts that are left."""
    store = new_store()
    with Job([BSPRUN, *SEVERAL, f"--ckpt={store}", "--every", "0.05s", "--max-restarts", "1000", *WORK]) as job:
        wait_snapshot(job, store, 2)
        agents = [pid for pid, name in job.members().items() if name == "bspnode"]
        check(len(agents) == 3, agents)
        os.kill(chance.choice(agents), signal.SIGKILL)
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        check("lost" in job.text(), job.text())
        check(sorted(shown_by(job)) == answer(WORK), f"seed {seed}", job.text())


def nobody_can_put_it():
    """Snapshots go on while all wait, and do not hide it."""
    for where in (ONE, SEVERAL):
        expect(bsprun(*where, f"--ckpt={new_store()}", "--every", "0.3s", OBJECTS, "wait"), 1,
               err=r"^bsprun: all processes wait, and nothing is on its way to them:$")


def no_supersteps_between_calls():
    """A process cannot be at the end of a superstep and at a safe point: the first bsp_sync says so."""
    expect(bsprun("-np", 2, f"--ckpt={new_store()}", OBJECTS, "count", 3), 1,
           err=r"objects\.c:\d+: bsp_sync: .*: a job that recovers from failures \(--ckpt\) saves this program at its "
               r"calls, and not at the end of supersteps: begin it with bsp_begin$")


def nothing_to_count():
    """--every N counts supersteps, of which there are none: a line says so, and the stop at which a snapshot would be
    taken does not count as one, or there would be nothing but snapshots."""
    for where, every in itertools.product((ONE, SEVERAL), ("5", "1")):
        store = new_store()
        result = expect(bsprun(*where, f"--ckpt={store}", "--every", every, *WORK[:2], "50", "0"), 0)
        check(not any(committed(store)), committed(store))
        check(len(re.findall(NOTHING_TO_COUNT, result.err, re.M)) == 1, result.err)


def nothing_to_count_though_another_one_begins():
    """Process 0 makes its first call when that of another one is over."""
    gate = os.path.join(scratch, "process 0 calls")
    with Job([BSPRUN, "-np", "2", f"--ckpt={new_store()}", "--every", "5", OBJECTS, "late", gate]) as job:
        job.wait_for("^ready", 1)
        with open(gate, "w", encoding="ascii") as file:
            file.write("1")
        check(job.finish() == 0, job.status, job.text())
        check(len(re.findall(NOTHING_TO_COUNT, job.text(), re.M)) == 1, job.text())


def nothing_to_count_on_another_host():
    """Process 0 has begun and makes no call, and another one a put, of which its host gets a copy."""
    gate = os.path.join(scratch, "process 0 calls at last")
    with Job([BSPRUN, "-np", "2", "--launcher", RSH, "--hosts", "h0:1,h1:1", f"--ckpt={new_store()}", "--every", "5", OBJECTS, "late", gate]) as job:
        job.wait_for(NOTHING_TO_COUNT.replace("$", "\r?$"), 1)
        with open(gate, "w", encoding="ascii") as file:
            file.write("1")
        check(job.finish() == 0, job.status, job.text())
        check(job.text().count("has no supersteps to count") == 1, job.text())


def objects_in_files():
    """Those that did not fit into the memory are part of snapshots, too."""
    rolls_back([*ONE, "--dataspace-memory", "1M"], STEPS, "0.05s")


LASTS = r"""
#include <stdio.h>
#include <unistd.h>
#include <volpex.h>
int main(int argc, char **argv)
{
    volpex_init(argc, argv);
    if (volpex_getProcId() == 0) {
        printf("begun\n");
        fflush(stdout);
    }
    while (access("go", F_OK) != 0) {
        volpex_put("tag", 3, "x", 1);
        usleep(10000);
    }
    volpex_finalize();
    for (;;)
        pause();
}
"""


def ended_after_finalize():
    """By a signal that reaches a host without process 0: the call is named as the program knows it."""
    place = new_store()
    with open(os.path.join(scratch, "lasts.c"), "w") as file:
        file.write(LASTS)
    program = os.path.join(scratch, "lasts")
    expect(run([os.path.join(BIN, "bspcc"), program + ".c", "-o", program]), 0)
    with Job([BSPRUN, "-v", "--launcher", RSH, "--hosts", "h0:2,h1:2", "-np", "2", f"--ckpt={place}", "--every", "0.1s", program],
             cwd=scratch) as job:
        def ranks():
            return json.loads(expect(run([os.path.join(BIN, "bspstat"), "--json", str(job.os_pid)]), 0).out)
        job.wait_for(r"^begun\r?$")
        wait_snapshot(job, place)
        for _ in range(8):  # process 1 alone where Processor Zero is, which may be on another host after each move
            told = ranks()
            zero, here = told["zero"], [rank["host"] for rank in told["ranks"]]
            if here[0] != zero and here[1] == zero:
                break
            pid, where = (0, "h1" if zero == "h0" else "h0") if here[0] == zero else (1, zero)
            expect(run([BSPCTL, "--wait", str(job.os_pid), "move", str(pid), where]), 0)
        with open(os.path.join(scratch, "go"), "w"):
            pass
        wait_until(lambda: (told := ranks()["ranks"])[1]["os_pid"] == 0 and all(rank["state"] == "ended" for rank in told),
                   "the end of process 1")
        job.signal(signal.SIGINT)
        check(job.finish() == 130, job.status, job.text())
        check("ended by signal 2 (Interrupt) after volpex_finalize" in job.text(), job.text())


if __name__ == "__main__":
    main([kills_on_one_host, kills_on_several_hosts, kills_in_supersteps, kills_in_supersteps_on_several_hosts,
          goes_on_elsewhere, moves_when_asked, loses_a_host, nobody_can_put_it, no_supersteps_between_calls, nothing_to_count,
          nothing_to_count_though_another_one_begins, nothing_to_count_on_another_host, objects_in_files, ended_after_finalize])
