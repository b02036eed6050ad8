"""Snapshots of MPI programs: rollbacks after kills at random moments, and a restart, on one host and several.

mpi_saved.py [SEED]: the moments and victims of the kills come from the seed, which is printed; without one from the
clock.  MPI_KILLS: how many kills in each job.
"""
import itertools
import os
import signal
import subprocess
import tempfile
import time

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, committed, expect, main, run, scratch, wait_until
from kills import ONE, SEVERAL, chance, kill_one, new_store, seed, shown_by, wait_snapshot

CASES = os.environ["INTEG_MPI"]
ROUNDS, PAUSE = "150", "4000"
KILLS = int(os.environ.get("MPI_KILLS", "4"))

wanted = []


def answer():
    """The output of a job that nothing happens to."""
    if not wanted:
        wanted.extend(expect(bsprun(*ONE, CASES, "work", ROUNDS, "0"), 0, no_err=True).out.splitlines())
        check(len(wanted) == 16, wanted)
    return wanted


def rolls_back(where, every, env):
    """Processes are killed at random moments; the output is as if nothing had happened."""
    store, killed = new_store(), 0
    with Job([BSPRUN, *where, f"--ckpt={store}", "--every", every, "--max-restarts", "1000", CASES, "work", ROUNDS, PAUSE],
             env=env) as job:
        wait_snapshot(job, store)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0, 0.15))
            killed += not job.is_over() and kill_one(job, CASES)
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


def goes_on_elsewhere():
    """Stopped and saved, and gone on from on other hosts: what was on one host goes over links, and the other way."""
    for first, then in ((ONE, ["--hosts", "h0:2,h1:2", "--launcher", RSH]), (SEVERAL, ["--hosts", "h0:4", "--launcher", RSH])):
        store = new_store()
        with Job([BSPRUN, *first, f"--ckpt={store}", "--every", "0.05s", CASES, "work", ROUNDS, PAUSE]) as job:
            wait_snapshot(job, store)
            job.signal(signal.SIGTERM)
            check(job.finish() == 123, job.status, job.text())
            before = shown_by(job)
        result = expect(bsprun("--restart", store, *then), 0)
        after = [line for line in result.out.splitlines() if not line.startswith("bsprun: ")]
        check(before + after == answer(), before, after, answer())


def waits_for_room_elsewhere():
    """Messages that wait for room in the ring to another host may be longer than the ring on one host, which has less."""
    store, flag = new_store(), os.path.join(scratch, "full.flag")
    with Job([BSPRUN, "--hosts", "h0:1,h1:1", "--launcher", RSH, f"--ckpt={store}", "--every", "1000s", CASES, "full", flag]) as job:
        job.wait_for(r"^ready\r?$", 1)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())
    with open(flag, "w"):
        pass
    result = expect(bsprun("--restart", store, "--hosts", "h0:2", "--launcher", RSH), 0)
    check(all(f"full: pid {pid}: 0 wrong" in result.out.splitlines() for pid in range(2)), result.out)


def loses_a_host():
    store = new_store()
    with Job([BSPRUN, *SEVERAL, f"--ckpt={store}", "--every", "0.05s", "--max-restarts", "1000", CASES, "work", ROUNDS,
              PAUSE]) as job:
        wait_snapshot(job, store)
        agents = [pid for pid, name in job.members().items() if name == "bspnode"]
        check(len(agents) == 3, agents)
        os.kill(chance.choice(agents), signal.SIGKILL)
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        check("lost" in job.text(), job.text())
        check(shown_by(job) == answer(), f"seed {seed}", job.text())


def nothing_to_count():
    """--every N counts supersteps, of which there are none: a line says so, and the stop at which a snapshot would be
    taken does not count as one, or there would be nothing but snapshots."""
    for where, every in itertools.product((ONE, SEVERAL), ("5", "1")):
        store = new_store()
        result = expect(bsprun(*where, f"--ckpt={store}", "--every", every, CASES, "work", "10", "0"), 0)
        check(not any(committed(store)), committed(store))
        check(result.err.count("bsprun: --every: a program that begins with MPI_Init has no supersteps to count, so no "
                               "snapshots are taken of it: give a time, or auto\n") == 1, result.err)


def stuck_after_a_snapshot():
    """A job that goes on from a snapshot still ends when it is stuck."""
    store = new_store()
    expect(bsprun(*ONE, f"--ckpt={store}", "--every", "0.05s", CASES, "wrong", "receive"), 1,
           err=r"^bsprun: all processes wait, and nothing is on its way to them:$")


LATE = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (rank == 0 && access(argv[1], F_OK) != 0)
        usleep(1000);
    for (int other = 1; other < size && rank == 0; other++)
        MPI_Send(&other, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d got %d\n", rank, value);
    MPI_Finalize();
    return 0;
}
"""


def one_is_late_for_a_snapshot():
    """All others wait at it, and it sleeps in MPI_Recv until it notices: that is no job that is stuck."""
    program, flag = os.path.join(scratch, "late"), os.path.join(scratch, "late.flag")
    with open(program + ".c", "w") as file:
        file.write(LATE)
    check(subprocess.run([os.path.join(BIN, "bspmpicc"), program + ".c", "-o", program]).returncode == 0)
    with Job([BSPRUN, *ONE, f"--ckpt={new_store()}", "--every", "0.3s", program, flag]) as job:
        def waiting():
            return [pid for pid, name in job.members().items() if name == "late" and "futex" in wchan(pid)]
        found = []  # of one look: a snapshot that is due wakes them for a moment
        wait_until(lambda: found.append(waiting()) or len(found[-1]) == 3 or job.is_over(), "three receivers")
        check(len(found[-1]) == 3, job.text())
        victim = max(found[-1])
        os.kill(victim, signal.SIGSTOP)
        time.sleep(0.4)  # the snapshot becomes due; later is as good
        with open(flag, "w"):
            pass
        time.sleep(0.8)  # within 0.2 s the job used to be given up
        os.kill(victim, signal.SIGCONT)
        check(job.finish() == 0, job.status, job.text())
        check(sorted(shown_by(job)) == ["0 got 0", "1 got 1", "2 got 2", "3 got 3"], job.text())


def aborted_when_a_snapshot_is_due():
    """Who ends the job does not wait for those that come to the snapshot late."""
    for where in (["-np", "3"], ["--launcher", RSH, "--hosts", "h0:1,h1:2"]):
        flag = os.path.join(tempfile.mkdtemp(dir=scratch), "flag")
        with Job([BSPRUN, *where, f"--ckpt={new_store()}", "--every", "0.1s", CASES, "aborts", flag]) as job:
            ranks = job.wait_ready(3)
            wait_until(lambda: "futex" in wchan(ranks[2]) or job.is_over(), "a process that waits for the snapshot")
            with open(flag, "w"):
                pass
            check(job.finish() == 7, job.status, job.text())
            check("MPI_Abort: pid 1 of 3: status 7" in job.text(), job.text())


def wchan(pid):
    try:
        with open(f"/proc/{pid}/wchan") as file:
            return file.read()
    except OSError:
        return ""


if __name__ == "__main__":
    main([one_is_late_for_a_snapshot, aborted_when_a_snapshot_is_due, kills_on_one_host,
          kills_on_one_host_without_direct_copies, kills_on_several_hosts, restarted, goes_on_elsewhere, waits_for_room_elsewhere,
          loses_a_host, nothing_to_count, stuck_after_a_snapshot])
