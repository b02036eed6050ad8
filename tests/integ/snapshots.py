"""bsprun's own side of snapshots: options, signals, the directory, what it says.  What becomes of the
program's state is tested in tests/recovery."""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from harness import (BIN, BSPRUN, PROG, Job, bsprun, check, committed, expect, held_copies, jobs, main, run, scratch,
                     wait_committed, wait_held, wait_until)


BSPCKPT = os.path.join(BIN, "bspckpt")


def fresh():
    return os.path.join(tempfile.mkdtemp(dir=scratch), "store")


def open_files(os_pid):
    found = []
    for fd in os.listdir(f"/proc/{os_pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{os_pid}/fd/{fd}"))
        except FileNotFoundError:  # closed meanwhile
            pass
    return found


def one_line(result, status, pattern):
    expect(result, status, err="^bsprun: .*" + pattern)
    check(result.err.count("\n") == 1 and not result.out, result)


def what_makes_no_sense():
    store = fresh()
    one_line(bsprun("--every", 2, PROG), 2, "--every without --ckpt DIR")
    one_line(bsprun("--ckpt", store, "--every", "often", PROG), 2, "--every often: give auto")
    one_line(bsprun("--ckpt", store, "--restart", store), 2, "leave out --ckpt")
    one_line(bsprun("--restart", store, "-x", "A=b"), 2, "-x and --restart")
    one_line(bsprun("--restart", store), 1, "store: cannot be used for snapshots: No such file")
    one_line(bsprun("--restart", store, env={"BSPZERO_CKPT": store}), 1, "No such file")
    one_line(bsprun("--ckpt", f"{store}/below", PROG), 1,
             "store/below: cannot be made: the directory above it does not exist")
    check(not os.path.exists(store), "it was made")


def environment():
    store = fresh()
    settings = {"BSPZERO_CKPT": store, "BSPZERO_EVERY": "3", "BSPZERO_KEEP": "all"}
    expect(bsprun("-np", 2, PROG, "count", 9, env=settings), 0, no_err=True)
    check(committed(store)[:4] == [0, 3, 6, 9], committed(store))
    again = fresh()
    settings["BSPZERO_CKPT"] = again
    expect(bsprun("--every", 4, "-np", 2, PROG, "count", 9, env=settings), 0, no_err=True)
    check(committed(again)[:3] == [0, 4, 8], committed(again))
    settings["BSPZERO_KEEP"] = "some"
    one_line(bsprun(PROG, env=settings), 2, "BSPZERO_KEEP=some: give the number")


def told_on_request():
    store = fresh()
    result = bsprun("-v", "--report", "--ckpt", store, "--every", 2, "-np", 2, PROG, "count", 4)
    expect(result, 0, err=r"^bsprun: snapshot of superstep 2: .*iB, paused [\d.]+ ms, committed")
    expect(result, 0, err=r"^bsprun: \d+ snapshots, .*iB, [\d.]+ s of pauses; 0 faults")


def shares(text, head="since the job began"):
    """{pid: (useful, lost, down, pauses, snapshots, faults)} of the second table of --report."""
    table = re.search(rf"^bsprun: {head}:\r?\n.*\n((?: .*\n)+)", text, re.M)
    check(table, "no table of what was lost in\n", text)
    rows = [line.split() for line in table[1].splitlines()]
    return {row[0]: tuple(float(word) for word in row[1:]) for row in rows}


def peaks(text):
    table = re.search(r"^bsprun: 2 processes, .*\n.*\n((?: .*\n)+)", text, re.M)
    check(table, "no table in\n", text)
    return {line.split()[0]: float(line.split()[-2]) for line in table[1].splitlines()}


def report_after_a_restart(*first):
    """The time between two runs of bsprun is none of the job's; --report may be new.  What was useful
    before the restart counts, if it was given then, too."""
    store = fresh()
    began = time.monotonic()
    with Job([BSPRUN, *first, "--ckpt", store, "--every", "1", "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        wait_committed(job, store, 1)
        computed = time.monotonic()
        wait_until(lambda: time.monotonic() > computed + 1, "a second of computing")
        wait_committed(job, store, committed(store)[-1] + 1)
        computed = time.monotonic() - computed
        job.signal(signal.SIGKILL)
        job.finish()
        job.check_gone(at_once=False)
    ran = time.monotonic() - began
    time.sleep(ran + 1)
    again = began = time.monotonic()
    with Job([BSPRUN, "--restart", store, "--report"]) as job:
        wait_committed(job, store, committed(store)[-1] + 30)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.text())
    ran += time.monotonic() - began
    again = time.monotonic() - again
    rows = shares(job.text(), "useful since the job began, the rest since this restart")
    check(list(rows) == ["0", "1", "all"], rows)
    for pid in "01":
        useful, lost, down, pauses, snapshots, faults = rows[pid]
        check(0 < useful < ran, "useful", useful, "of", ran, job.text())
        if first:
            check(useful > 0.5 * computed, "useful", useful, "computed", computed, job.text())
        else:
            check(useful < again, "useful", useful, "since the restart", again, job.text())
        check(lost == 0 and 0 < down < ran and faults == 0 and snapshots > 0, job.text())
    check(all(peak > 0 for peak in peaks(job.text()).values()), job.text())


def report_since_the_start():
    report_after_a_restart("--report")


def report_of_a_rollback():
    """What is executed again is lost, per process and in total; who was lost is counted."""
    store = fresh()
    began = time.monotonic()
    with Job([BSPRUN, "-v", "--report", "--ckpt", store, "--every", "1000000", "-np", "2",
              PROG, "loop"]) as job:
        members = job.wait_ready(2)
        wait_committed(job, store, 0)
        time.sleep(0.5)  # so long at least it computes in vain
        os.kill(members[1], signal.SIGKILL)
        job.wait_for("the job continues from superstep 0 ")
        job.wait_for(r"\(term 2\), p = 2")  # they compute again
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.text())
    ran = time.monotonic() - began
    rows = shares(job.text())
    for pid in "01":
        useful, lost, down, pauses, snapshots, faults = rows[pid]
        check(0.4 < lost < ran and 0 < down < ran and useful + lost + down < ran, ran, job.text())
        check(faults == int(pid), job.text())
    check(rows["all"][5] == 1 and rows["all"][1] >= 0.8, job.text())
    check(re.search(r"; 1 fault recovered from; 0?[\d.]+ s lost, [\d.]+ s down$", job.text(), re.M),
          job.text())


def an_ended_job():
    """Its record is kept; of one that has saved nothing and not ended well nothing is."""
    store = fresh()
    expect(bsprun("--ckpt", store, "-np", 2, PROG, "status", 5), 5)
    one_line(bsprun("--restart", store), 5, "has ended already, with status 5")
    check(len(jobs(store)) == 1, jobs(store))
    expect(bsprun("--ckpt", store, PROG, "never"), 0)
    expect(bsprun("--ckpt", store, "no-such-program"), 127)
    check(len(jobs(store)) == 1, jobs(store))
    one_line(bsprun("--restart", store), 5, "has ended already, with status 5$")


def an_ended_job_after_another():
    """The newest job has ended: an earlier one that has not is named."""
    store = os.path.join(fresh(), "a store")
    os.makedirs(store)

    with Job([BSPRUN, "--ckpt", store, "--every", "1", "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        wait_until(lambda: len(committed(store)) > 1, "snapshots")
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.text())
    good, = jobs(store)
    expect(bsprun("--ckpt", store, "-np", 2, PROG, "status", 5), 5)
    ended, = set(jobs(store)) - {good}
    one_line(bsprun("--restart", store), 5, f"job {ended} has ended already, with status 5; an earlier one can be continued: "
             f"bsprun --restart '{store}/{good}'$")
    # Whoever names a job, or a superstep, means that job.
    one_line(bsprun("--restart", f"{store}/{ended}"), 5, "has ended already, with status 5$")
    one_line(bsprun("--restart", f"{store}@1"), 5, "has ended already, with status 5$")
    check(len(jobs(store)) == 2, jobs(store))


def killed_before_its_first():
    """The newest job has no snapshot: what is said tells what to do."""
    store = fresh()

    def killed():
        with Job([BSPRUN, "--ckpt", store, "-np", "2", PROG, "early-sleep"]) as job:
            job.wait_ready(1)
            job.signal(signal.SIGKILL)
            job.finish()
        return jobs(store)

    first, = killed()
    one_line(bsprun("--restart", store), 1,
             f"job {first} has no snapshot; if no other host has one, start the program again")
    one_line(bsprun("--restart", f"{store}@3"), 1,
             f"job {first} has no snapshot of superstep 3; bspckpt ls {store} shows those")
    expect(run([os.path.join(os.path.dirname(BSPRUN), "bspckpt"), "ls", store]), 0,
           out=rf"\n{first} +no snapshot\n$", no_err=True)
    with Job([BSPRUN, "--ckpt", store, "--every", "1", "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        wait_until(lambda: len(committed(store)) > 1, "snapshots")
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.text())
    good, = set(jobs(store)) - {first}
    killed()
    one_line(bsprun("--restart", store), 1,
             f"has no snapshot; an earlier one can be continued: bsprun --restart {store}/{good}$")
    check(len(jobs(store)) == 3, jobs(store))


def the_same_command():
    """What is named at a restart must be what was started."""
    store = fresh()
    with Job([BSPRUN, "--ckpt", store, "--every", "1", "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        wait_committed(job, store, 2)
        job.signal(signal.SIGKILL)
        job.finish()
        job.check_gone(at_once=False)
    one_line(bsprun("--restart", store, "-np", 3), 1, "-np 3: the job has 2 processes")
    one_line(bsprun("--restart", store, BSPRUN), 1, "are of .*integ_prog, not of .*bsprun")
    one_line(bsprun("--restart", store, PROG, "compute"), 1, "had other arguments")
    one_line(bsprun("--restart", store + "@77"), 1, "no snapshot of superstep 77")
    with Job([BSPRUN, "--restart", store, "-np", "2", PROG, "loop"]) as job:
        newest = committed(store)[-1]
        wait_committed(job, store, newest + 2)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())
        job.check_gone()


def signals_without_snapshots():
    with Job([BSPRUN, "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        job.signal(signal.SIGUSR1)
        job.wait_for("^bsprun: SIGUSR1 requests a snapshot")
        job.signal(signal.SIGUSR2)
        check(job.finish() == 128 + signal.SIGUSR2, job.status, job.text())
        job.check_gone()


def saved_and_stopped():
    for number in (signal.SIGTERM, signal.SIGUSR2):
        store = fresh()
        with Job([BSPRUN, "--ckpt", store, "-np", "2", PROG, "loop"]) as job:
            job.wait_ready(2)
            job.signal(number)
            check(job.finish() == 123, job.status, job.text())
            check(f"bsprun --restart {store} continues from superstep" in job.text(), job.text())
            job.check_gone()
        check(committed(store)[-1] > 0, committed(store))


def the_command_that_goes_on():
    """It can be pasted into a shell, whatever the directory is called."""
    for name in ("two words", "it's", "größe", "$HOME", "as of@7"):
        store = os.path.join(tempfile.mkdtemp(dir=scratch), name)
        for words in ([BSPRUN, "-np", "2", "--ckpt", store, "--every", "1", PROG, "loop", "0"], None):
            with Job(words or ["/bin/sh", "-c", command]) as job:
                job.wait_for(r"^ready") if words else wait_until(lambda: committed(store)[-1] > before, "a snapshot")
                wait_committed(job, store, 1)
                for pid, program in job.members().items():
                    if program == os.path.basename(BSPRUN):
                        os.kill(pid, signal.SIGTERM)
                check(job.finish() == 123, job.text())
                command = "exec " + BSPRUN + re.findall("^bsprun: bsprun( .*) continues from", job.text(), re.M)[0]
                before = committed(store)[-1]


def stopped_before_begin():
    """There is nothing to save yet."""
    store = fresh()
    with Job([BSPRUN, "--ckpt", store, "-np", "2", PROG, "early-sleep"]) as job:
        job.wait_ready(1)
        job.signal(signal.SIGUSR1)
        job.signal(signal.SIGTERM)
        check(job.finish() == 143, job.status, job.text())
        check("--restart" not in job.text(), job.text())
        job.check_gone()
    check(jobs(store) == [], jobs(store))


def second_signal():
    """No barrier comes, and the user does not want to wait for the grace."""
    store = fresh()
    with Job([BSPRUN, "--ckpt", store, "--grace", "1000", "-np", "2", PROG, "compute"]) as job:
        job.wait_ready(2)
        wait_committed(job, store, 0)
        job.signal(signal.SIGTERM)
        time.sleep(0.1)  # else the two may become one
        job.signal(signal.SIGINT)
        check(job.finish() == 123, job.status, job.text())
        job.check_gone()


def interrupted():
    store = fresh()
    with Job([BSPRUN, "--ckpt", store, "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        wait_committed(job, store, 0)
        job.signal(signal.SIGINT)
        check(job.finish() == 130, job.status, job.text())
        check(re.search("^bsprun: bsprun --restart .* continues from", job.text(), re.M), job.text())
        job.check_gone()


def interrupted_while_it_saves():
    """What is killed with the job has not failed."""
    store, hold = fresh(), os.path.join(scratch, "hold the next copy")
    with Job([BSPRUN, *held_copies(hold), "--ckpt", store, "--every", "1", "--async", "on", "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        wait_committed(job, store, 0)
        with open(hold, "w"):
            pass
        held = wait_held(job)
        wait_until(lambda: os.getpgid(held) == held, "the agent to know the copy")
        job.signal(signal.SIGINT)
        check(job.finish() == 130, job.status, job.text())
        check("no snapshot after" not in job.text(), job.text())
        job.check_gone()


def writer_of(job, ranks, passing):
    """The policy and niceness of a process that writes an image now, if there is one, but for those it has for a moment."""
    for pid, name in job.members().items():
        try:
            shown = os.sched_getscheduler(pid), os.getpriority(os.PRIO_PROCESS, pid) - os.getpriority(os.PRIO_PROCESS, 0)
        except ProcessLookupError:
            continue
        if pid not in ranks and name in (os.path.basename(PROG), "bspzero-copy") and shown not in [(os.SCHED_OTHER, 0), *passing]:
            return shown
    return None


def share_of_writers():
    """Who sets the interval has it kept, where all cores are busy, too; else snapshots wait for idle ones."""
    least = 19 - os.getpriority(os.PRIO_PROCESS, 0)  # of who makes a writer that waits for an idle core
    for every, passing, wanted in ("0.1s", [], (os.SCHED_OTHER, min(10, least))), ("auto", [(os.SCHED_OTHER, least)], (os.SCHED_IDLE, None)):
        with Job([BSPRUN, "--ckpt", fresh(), "--every", every, "--async", "on", "-np", "2", PROG, "loop", "64"]) as job:
            ranks = job.wait_ready(2).values()
            shown = wait_until(lambda: writer_of(job, ranks, passing), "a process that writes an image")
            check(shown[0] == wanted[0] and wanted[1] in (shown[1], None), every, shown)
            job.signal(signal.SIGINT)
            check(job.finish() == 130, job.status, job.text())


def time_limit():
    store = fresh()
    result = bsprun("--ckpt", store, "--timeout", 0.5, "-np", 2, PROG, "loop")
    expect(result, 124, err="^bsprun: the job took longer than its time limit")
    expect(result, 124, err="^bsprun: bsprun --restart .* continues from superstep")


def reader_goes_away():
    store = fresh()
    with Job([BSPRUN, "--ckpt", store, "-np", "2", PROG, "flood"]) as job:
        job.wait_for("flood")
        job.process.stdout.close()
        job.wait_status()
        check(job.status == 128 + signal.SIGPIPE, job.status)
        job.check_gone()
        job.process = None
        job.fd = os.open("/dev/null", os.O_RDONLY)


def locked_until_all_is_gone():
    """The agent holds the lock, too, so that a restart waits for what a killed bsprun leaves."""
    store = fresh()
    with Job([BSPRUN, "--ckpt", store, "--every", "1", "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        wait_committed(job, store, 1)
        agent, lock = job.agent(), os.path.join(store, "lock")
        check(lock in open_files(agent), lock, open_files(agent))
        one_line(bsprun("--ckpt", store, PROG), 1, "in use by process")
        job.signal(signal.SIGKILL)
        with Job([BSPRUN, "--restart", store]) as again:
            wait_until(lambda: "bspnode" in again.members().values(), "the next agent")
            check(agent not in job.members(), "both run")
            wait_committed(again, store, committed(store)[-1] + 1)
            again.signal(signal.SIGKILL)
            again.finish()
            again.check_gone(at_once=False)
        job.finish()
        job.check_gone(at_once=False)


def restarts_run_out():
    store = fresh()
    result = bsprun("--ckpt", store, "--every", 1, "--max-restarts", 2, "-np", 2, PROG, "signal", 1, 11)
    expect(result, 139, err=r"killed by signal 11 .*\(restart 1 of 2 since the last committed snapshot\)$")
    # A snapshot that was being written at the first fault may be committed, which counts from 1 again.
    expect(result, 139, err=r"restart 2 of 2 since the last committed snapshot, the same fault [23] times in a row\)$")
    expect(result, 139, err=r"no restarts are left \(--max-restarts 2, each time the same fault\)$")
    expect(result, 139, err="^bsprun: bsprun --restart .* continues from superstep")
    result = bsprun("--restart", store, "--max-restarts", 0)
    expect(result, 139, err=r"no restarts are left \(--max-restarts 0\)$")


def linked_with_it():
    """-fcheckpointing and -restart as in the Oxford toolset."""
    bspcc = os.path.join(os.path.dirname(BSPRUN), "bspcc")
    if not os.path.exists(bspcc):
        return  # user.py, which has no library either
    directory = tempfile.mkdtemp(dir=scratch)
    source = os.path.join(directory, "old.c")
    with open(source, "w") as file:
        file.write('#include <bsp.h>\n#include <unistd.h>\nint main(void)\n{\n    bsp_begin(2);\n'
                   '    for (int i = 0; i < 8; i++) { usleep(300000); bsp_sync(); }\n    bsp_end();\n'
                   '    if (bsp_pid() == 0) printf("done\\n");\n    return 4;\n}\n')
    subprocess.run([bspcc, "-fcheckpointing", "1", "old.c", "-o", "old"], cwd=directory, check=True)
    subprocess.run(["strip", "old"], cwd=directory, check=True)
    begun = time.monotonic()
    expect(bsprun("./old", cwd=directory), 4, out="^done$", no_err=True)
    # At barriers that are at least a second apart, however slow the machine is.
    taken, seconds = committed(os.path.join(directory, "old.ckpt")), time.monotonic() - begun
    check(taken[0] == 0 and 1 <= len(taken) - 1 <= seconds, (taken, seconds))
    one_line(bsprun("-restart", "./old", cwd=directory), 4, "has ended already, with status 4")
    one_line(bsprun("--restart", f"./old.ckpt@{taken[-1]}", cwd=directory), 4, "has ended already")
    expect(bsprun("--every", "auto", "--ckpt", "else", "./old", cwd=directory), 4)
    check(sorted(os.listdir(directory)) == ["else", "old", "old.c", "old.ckpt"], os.listdir(directory))


def several_jobs():
    store = fresh()
    for status in (3, 4):
        expect(bsprun("--ckpt", store, "-np", 2, PROG, "status", status), status)
    one_line(bsprun("--restart", store), 4, "ended already, with status 4")
    found = [run([BSPRUN, "--restart", os.path.join(store, job)]).status for job in jobs(store)]
    check(sorted(found) == [3, 4], found)


def bases_removed():
    """Somebody needs room on the disk and removes all snapshots but the newest, or just its bases: one is not
    committed then, which is said, and the next one is full."""
    for kept in 1, 0:
        store = fresh()
        with Job([BSPRUN, "--ckpt", store, "--every", "0.1s", "--no-history", "-np", "2", PROG, "loop", "1"]) as job:
            job.wait_ready(2)
            # The first, one based on it, one that is not, and two based on that.
            wait_until(lambda: len(committed(store)) == 5, "five snapshots")
            own = os.path.join(store, *jobs(store))
            for step in committed(store)[:-1 if kept else None]:
                shutil.rmtree(os.path.join(own, f"{step}.1"))
            job.wait_for("no snapshot after superstep .*: its base .* is not there any more")
            last = (committed(store) or [0])[-1]
            wait_until(lambda: (committed(store) or [0])[-1] > last, "another snapshot")
            job.signal(signal.SIGKILL)
            job.finish()
        result = run([BSPCKPT, "verify", "--local", f"{store}@{committed(store)[-1]}"])
        expect(result, 0, out="^1 snapshot, 0 damaged files")


def what_the_dead_left():
    """The next job removes private directories whose owners are dead, and nothing else."""
    directory = tempfile.mkdtemp(dir=scratch)

    def place(name, lock):
        os.makedirs(os.path.join(directory, name, "abc"))
        if lock is not None:
            with open(os.path.join(directory, name, "lock"), "w") as file:
                file.write(lock)
        return os.path.join(directory, name)
    store = f"bspzero-store-{os.getuid()}-"
    dead, owned = place("bspzero-job-dead", "4711\n"), place("bspzero-job-owned", "4711\n")
    young, other = place("bspzero-job-young", None), place("somebody-else", "4711\n")
    kept, in_use = place(store + "1", "4711\n"), place(store + "2", "4711\n")
    for path in (kept, in_use):
        os.mkdir(os.path.join(path, "def"))
        open(os.path.join(path, "def", "temporary"), "w").close()
    with open(os.path.join(owned, "lock")) as one, open(os.path.join(in_use, "lock")) as two:
        fcntl.flock(one, fcntl.LOCK_EX)
        fcntl.flock(two, fcntl.LOCK_EX)
        expect(bsprun("-np", 2, PROG, "status", 0, env=dict(os.environ, TMPDIR=directory)), 0)
    check(not os.path.exists(dead), "what the dead one left is there")
    check(os.path.exists(owned) and os.path.exists(young) and os.path.exists(other), "too much")
    check(sorted(os.listdir(kept)) == ["abc", "lock"], os.listdir(kept))
    check(sorted(os.listdir(in_use)) == ["abc", "def", "lock"], os.listdir(in_use))


if __name__ == "__main__":
    main([what_makes_no_sense, environment, told_on_request, report_after_a_restart, report_since_the_start,
          report_of_a_rollback, an_ended_job, an_ended_job_after_another, killed_before_its_first, the_same_command,
          signals_without_snapshots, saved_and_stopped, the_command_that_goes_on, stopped_before_begin, second_signal,
          interrupted, interrupted_while_it_saves, share_of_writers, time_limit, reader_goes_away, locked_until_all_is_gone, restarts_run_out,
          linked_with_it, several_jobs, bases_removed, what_the_dead_left])
