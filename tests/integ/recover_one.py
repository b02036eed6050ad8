"""Processes of a dataspace that are killed are restarted alone, while the others go on (--recover one).

recover_one.py [SEED]: the moments and victims of the kills come from the seed, which is printed; without one from the clock.
RECOVER_KILLS=N: so many kills in each of the two storms, by hand.
"""
import json
import os
import signal
import time

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, committed, expect, held_copies, main, marked, process_stat, run, scratch, wait_held, wait_until
from kills import ONE, SEVERAL, chance, kill_one, kill_rank, new_store, ranks_of, seed, shown_by

BSPSTAT = os.path.join(BIN, "bspstat")
BSPCTL = os.path.join(BIN, "bspctl")
OBJECTS = os.environ["INTEG_OBJECTS"]
KILLS = int(os.environ.get("RECOVER_KILLS", "5"))
ALONE = "it is restarted alone"
TOGETHER = "the job continues from superstep"
DELAY = 3000  # microseconds of a round
KILL_STEP = 1000  # of `answers`: the busy process makes no more calls

wanted = {}


def gate_of(store):
    """A file for which the program waits: in round 40, at line 1,000 of its input, before it crashes or waits in vain."""
    return store + " is used"


def work(rounds, store):
    return [OBJECTS, "work", str(rounds), str(DELAY), gate_of(store)]


def open_gate(store, step=1):
    """Once there is a snapshot: before that nobody can be restarted.  On a busy host its writer takes long."""
    wait_until(lambda: committed(store), "snapshot 0")
    with open(gate_of(store), "w") as file:
        file.write(str(step))


def answer(rounds):
    """The output, in any order, of a job that nothing happens to."""
    if rounds not in wanted:
        wanted[rounds] = sorted(expect(bsprun(*ONE, OBJECTS, "work", rounds, 0), 0, no_err=True).out.splitlines())
    return wanted[rounds]


def storm(where, every):
    """Killed at random moments, some while they catch up: every operation has its effect once, every line is shown once."""
    rounds, killed, store = 100 + 25 * KILLS, 0, new_store()
    with Job([BSPRUN, *where, f"--ckpt={store}", "--every", every, "--max-restarts", "100000", *work(rounds, store)]) as job:
        job.wait_for("round 40", 1)
        open_gate(store)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0, 0.3))
            killed += not job.is_over() and kill_one(job, OBJECTS)
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        alone, together = job.text().count(ALONE), job.text().count(TOGETHER)
        print(f"{killed} killed, {alone} restarted alone, {together} times all went back", flush=True)
        check(alone > 0, f"seed {seed}", job.text())
        check("catch up" not in job.text(), f"seed {seed}", job.text())
        check(sorted(shown_by(job)) == answer(rounds), f"seed {seed}", job.text())
        job.check_gone()


def storm_on_one_host():
    storm(ONE, "1s")


def storm_on_several_hosts():
    storm(SEVERAL, "1s")


def from_the_beginning():
    """Without an image of its own a process begins again, and nothing else does."""
    store = new_store()
    with Job([BSPRUN, *ONE, f"--ckpt={store}", "--every", "1000s", *work(300, store)]) as job:
        job.wait_for("round 40", 4)
        open_gate(store)
        check(kill_rank(job, OBJECTS), job.text())
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        check(f"{ALONE}, from the beginning" in job.text() and TOGETHER not in job.text(), job.text())
        check(sorted(shown_by(job)) == answer(300), f"seed {seed}", job.text())


def all_if_wanted():
    store = new_store()
    with Job([BSPRUN, *ONE, f"--ckpt={store}", "--every", "0.2s", "--recover", "all", *work(300, store)]) as job:
        job.wait_for("round 40", 4)
        open_gate(store)
        check(kill_rank(job, OBJECTS), job.text())
        check(job.finish() == 0, job.status, job.text())
        check(ALONE not in job.text() and TOGETHER in job.text(), job.text())
        check(sorted(shown_by(job)) == answer(300), job.text())


def a_fault_of_its_own():
    """It dies again each time: three times alone, then all go back, and --max-restarts ends that."""
    store = new_store()
    with Job([BSPRUN, "-np", "3", f"--ckpt={store}", "--max-restarts", "2", OBJECTS, "crash", gate_of(store)]) as job:
        open_gate(store)
        check(job.finish() == 139, job.status, job.text())
        check(job.text().count(ALONE) >= 3, job.text())
        check("that has failed three times since it was saved" in job.text(), job.text())
        check("no restarts are left (--max-restarts 2" in job.text(), job.text())


def nobody_can_put_it():
    """A process that is restarted waits again, and then nobody can go on."""
    store = new_store()
    with Job([BSPRUN, *ONE, f"--ckpt={store}", "--every", "1000s", OBJECTS, "wait", "all", gate_of(store)]) as job:
        job.wait_for("ready", 4)
        wait_until(lambda: committed(store), "snapshot 0")
        check(kill_rank(job, OBJECTS), job.text())
        job.wait_for(ALONE, 1)
        open_gate(store)
        check(job.finish() == 1, job.status, job.text())
        check(ALONE in job.text(), job.text())
        check("all processes wait, and nothing is on its way to them" in job.text(), job.text())
        check(job.text().count("ready") == 4, job.text())


def is_alone(pid):
    """Whether a copy of a process is to write to a file without a name, as one that writes an image alone."""
    files = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    return any(" (deleted)" in file and "memfd" not in file for file in files)


def writer_alone(job, hold):
    """A copy that is to write the image of a process alone, and stands still; others may go on.  The file `hold` stops the next one."""
    with open(hold, "w"):
        pass
    held = wait_held(job)
    check(not os.path.exists(hold), held)
    if is_alone(held):
        return held
    os.kill(held, signal.SIGCONT)
    return None


def an_image_gives_way():
    """Whoever writes the image of a process alone is ended before all are saved: it must not report that one as the other."""
    hold, store = os.path.join(scratch, "hold the next copy"), new_store()
    with Job([BSPRUN, *ONE, *held_copies(hold), f"--ckpt={store}", "--every", "1s", *work(1000000, store)]) as job:
        job.wait_for("round 40", 4)
        open_gate(store)
        writer = wait_until(lambda: writer_alone(job, hold), "an image of a process alone")
        expect(run([BSPCTL, "--wait", str(job.os_pid), "save"]), 0)
        wait_until(lambda: process_stat(writer) is None, "the end of its writer")
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())


def files_without_names(ospid):
    """What a process has opened of images alone: paths of its descriptors, by inode."""
    found = {}
    for fd in os.listdir(f"/proc/{ospid}/fd"):
        path = f"/proc/{ospid}/fd/{fd}"
        file = os.readlink(path)
        if file.endswith(" (deleted)") and "memfd" not in file:
            found[os.stat(path).st_ino] = path
    return found


def images_alone(job):
    """Names of the images that agents keep of processes alone, and that nobody writes any more: {name: process}."""
    kept, written = {}, set()
    for ospid, name in sorted(marked(job.mark).items(), key=lambda item: item[1] == os.path.basename(OBJECTS)):  # who writes is last
        try:
            for inode, path in files_without_names(ospid).items():
                if name == os.path.basename(OBJECTS):
                    written.add(inode)
                    continue
                with open(path, "rb") as file:
                    header = file.read(48)
                if len(header) == 48:
                    kept[inode] = header[32:48]
        except OSError:
            continue  # it is gone, or has closed it
    return {name: int.from_bytes(name[12:], "little") for inode, name in kept.items() if inode not in written}


def with_answers(where, busy, first, rounds, then="", every="1000s"):
    store = new_store()
    return store, Job([BSPRUN, *where, f"--ckpt={store}", "--every", every, "--dataspace-memory", "4M",
                       OBJECTS, "answers", str(busy), str(first), str(rounds), "2000", gate_of(store), then])


def is_saved_in_cycle(job, store, busy, cycle):
    """One more cycle of calls, in which the busy process is saved: it waits for that."""
    before = images_alone(job)
    open_gate(store, cycle)
    job.wait_for(f"cycle {cycle}\r?$", 1)
    wait_until(lambda: any(pid == busy and name not in before for name, pid in images_alone(job).items()), f"an image of process {busy}")


def end_of_answers(job, store, cycle):
    """The busy process is in no call, and at no gate that is open."""
    open_gate(store, KILL_STEP)
    job.wait_for(f"cycle {cycle}\r?$", 1)


def catches_up(where, busy, first, rounds, then=""):
    """A process that gets little, again and again, is saved before its answers are given up: killed after that, it catches up.
    It gets more than there is memory for."""
    store, job = with_answers(where, busy, first, rounds, then)
    with job:
        ospid = job.wait_ready(1)[busy]
        for cycle in range(1, 5):
            is_saved_in_cycle(job, store, busy, cycle)
        end_of_answers(job, store, 5)
        os.kill(ospid, signal.SIGKILL)
        job.wait_for(ALONE, 1)
        open_gate(store, KILL_STEP + 1)
        job.wait_for("caught up", 1)
        check(job.finish() == 0, job.status, job.text())
        check(job.text().count(ALONE) == 1 and TOGETHER not in job.text(), job.text())


def one_that_is_over_has_most_answers():
    """What ends has no calls any more at which it could be saved, and does not keep others from it: 1 MB is kept here."""
    catches_up(["-np", "3"], 1, 600000, 60)


def one_that_cannot_be_saved_has_most_answers():
    """It has opened a socket: its images fail, and others are saved in between."""
    catches_up(["-np", "3"], 1, 600000, 60, "opens")


def one_that_computes_has_most_answers():
    """It is waited for now and then, and others are saved in between."""
    catches_up(["-np", "3"], 1, 600000, 60, "computes")


def one_that_computes_is_not_waited_for_long():
    """There is a time, of more than it takes until it is waited for again, in which nothing keeps others from being saved."""
    store, job = with_answers(["-np", "3"], 1, 600000, 60, "computes")
    with job:
        job.wait_ready(1)
        cycle, began = 0, time.monotonic()
        since = began
        while time.monotonic() < since + 6:
            cycle += 1
            before = time.monotonic()
            is_saved_in_cycle(job, store, 1, cycle)
            if time.monotonic() > before + 1:
                since = time.monotonic()
            check(since < began + 60, "others wait for it", job.text())
        end_of_answers(job, store, cycle + 1)
        open_gate(store, KILL_STEP + 1)
        check(job.finish() == 0, job.status, job.text())


def one_with_few_answers_has_its_turn():
    """However often another one is saved for its answers, which takes 1 MB, and half of that is full in a quarter of a second."""
    store, job = with_answers(["-np", "3"], 1, 0, 100, "calls", every="8s")
    with job:
        job.wait_ready(1)
        cycle, end = 0, time.monotonic() + 40
        while 0 not in images_alone(job).values():
            cycle += 1
            check(time.monotonic() < end, "it is not saved", job.text())
            open_gate(store, cycle)
            job.wait_for(f"cycle {cycle}\r?$", 1)
        check(1 in images_alone(job).values(), job.text())
        end_of_answers(job, store, cycle + 1)
        open_gate(store, KILL_STEP + 1)
        check(job.finish() == 0, job.status, job.text())


def answers_are_on_another_host():
    """The tag is of host h1, which tells h0, where the process is, when half of its memory for answers is full."""
    catches_up(["-np", "3", "--launcher", RSH, "--hosts", "h0:2,h1:1", "--copies", "1"], 0, 0, 150)


def saved_after_it():
    """Snapshots of all, requests to bspctl and --restart go on working."""
    store = new_store()
    with Job([BSPRUN, "-v", *SEVERAL, f"--ckpt={store}", "--every", "1000s", *work(400, store)]) as job:
        job.wait_for("round 40", 4)
        open_gate(store)
        check(kill_rank(job, OBJECTS), job.text())
        expect(run([BSPCTL, "--wait", str(job.os_pid), "save"]), 0)
        expect(run([BSPCTL, "--wait", str(job.os_pid), "drain", "h1"]), 0)
        kill_one(job, OBJECTS)
        time.sleep(0.1)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())
        check(ALONE in job.text(), job.text())
        before = [line.rstrip("\r") for line in job.text().splitlines()]
    result = expect(bsprun("--restart", store), 0)
    shown = sorted(line for line in before + result.out.splitlines() if not line.startswith("bsprun: "))
    check(shown == answer(400), f"seed {seed}", before, result.out)


def counted():
    """bspstat and the report say how many were restarted alone; the job is ended by hand, long before it would be over."""
    report, store = os.path.join(scratch, "report"), new_store()
    with Job([BSPRUN, *SEVERAL, f"--ckpt={store}", "--every", "1000s", f"--report={report}", *work(50000, store)]) as job:
        job.wait_for("round 40", 4)
        open_gate(store)
        for count, words in ((1, "1 process"), (2, "2 processes")):
            check(kill_rank(job, OBJECTS), job.text())
            job.wait_for(ALONE, count)
            facts = json.loads(expect(run([BSPSTAT, "--json", str(job.os_pid)]), 0).out)
            check(facts["restarted_alone"] == count and facts["restarts"] == 0, facts)
            shown = expect(run([BSPSTAT, str(job.os_pid)]), 0).out
            check(f"; 0 restarts, {words} restarted alone; term 1" in shown, shown)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())
        check("0 faults recovered from; 2 processes restarted alone; " in job.text(), job.text())
    with open(report) as file:
        facts = json.load(file)
    check(facts["restarted_alone"] == 2 and facts["faults"] == facts["rollbacks"] == 0, facts)


def files():
    """What a process has done otherwise than by the dataspace cannot be told apart: all go back."""
    path, given, store = os.path.join(scratch, "kept open"), os.path.join(scratch, "input"), new_store()
    with open(given, "w") as file:
        file.write("a line\n" * 3)
    with Job([BSPRUN, "-np", "3", f"--ckpt={store}", "--every", "1000s", OBJECTS, "line", path], stdin=open(given)) as job:
        ospids = job.wait_ready(3)
        job.wait_for(": a line", 3)
        wait_until(lambda: committed(store), "snapshot 0")
        time.sleep(0.5)  # its open files are looked at ten times a second
        os.kill(ospids[1], signal.SIGKILL)
        job.wait_for(TOGETHER, 1)
        check("it has files open for writing" in job.text(), job.text())
        job.signal(signal.SIGINT)
        job.finish()


def reader_of(job):
    """The process whose input is not /dev/null."""
    return next(pid for pid in ranks_of(job, OBJECTS) if os.readlink(f"/proc/{pid}/fd/0").startswith("pipe:"))


def input_again():
    """Who reads the input is given it again from its image on, whatever has been read or is on its way."""
    count, given = 6000, os.path.join(scratch, "much input")
    with open(given, "w") as file:
        file.writelines(f"line {number} {'x' * 200}\n" for number in range(count))
    wanted = expect(bsprun("-np", "3", OBJECTS, "lines", "0", stdin=open(given)), 0).out.splitlines()
    check(wanted[-1].startswith(f"in all {count} lines, {os.path.getsize(given)} bytes, "), wanted)
    for reader, every in ((0, "1000s"), (0, "0.2s"), (2, "0.2s")):
        store = new_store()
        with Job([BSPRUN, "-np", "3", "--stdin", str(reader), f"--ckpt={store}", "--every", every, OBJECTS, "lines", "300", gate_of(store)],
                 stdin=open(given)) as job:
            job.wait_for("1000 lines", 1)
            open_gate(store)
            for kills, lines in enumerate((1000, 2500, 4500), start=1):
                job.wait_for(f"{lines} lines", 1)
                os.kill(reader_of(job), signal.SIGKILL)
                job.wait_for(ALONE, kills)
            check(job.finish() == 0, job.status, job.text())
            check(shown_by(job) == wanted and TOGETHER not in job.text(), wanted, job.text())


if __name__ == "__main__":
    main([storm_on_one_host, storm_on_several_hosts, from_the_beginning, all_if_wanted, a_fault_of_its_own, nobody_can_put_it,
          an_image_gives_way, one_that_is_over_has_most_answers, one_that_cannot_be_saved_has_most_answers, one_that_computes_has_most_answers,
          one_that_computes_is_not_waited_for_long, one_with_few_answers_has_its_turn, answers_are_on_another_host, saved_after_it, counted, files, input_again])
