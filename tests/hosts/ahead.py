"""Processes that are restored ahead of their move, on the host to which they go: what is gained, and that
nothing is lost when it was in vain.

    ahead.py [TEST ...]
"""
import os
import re
import signal
import subprocess
import time

from loopback import *
from loopback import LoopbackPlace, alive, check, environment_of, main, marked, send, wait_until
from draining import SUPERSTEPS, asked, ends_well, moves, places, status, step_until, step_until_done
import draining

RECEIVING = 47  # recvmsg(2), as /proc/PID/syscall has it
AHEAD = "was restored ahead on host"


def reference(*words, **more):
    """Of processes that share no file: those that do are restored together, and not ahead."""
    return draining.reference("-l", *words, **more)


def running(place, *words, **more):
    return draining.running(place, "-l", *words, **more)


def of_job(place):
    """The processes that are restored ahead, as the operating system numbers them."""
    return [os_pid for os_pid in marked(place.mark)
            if any(entry.startswith(b"BSPZERO_AHEAD=") for entry in environment_of(os_pid))]


def is_staged(os_pid):
    """It waits for what comes next."""
    try:
        with open(f"/proc/{os_pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] == str(RECEIVING)
    except (OSError, IndexError):
        return False


def is_taken(place, at):
    """Whether there is a snapshot of that superstep, whose directory is made before a process goes on, be it complete or not."""
    return any(entry.startswith(f"{at}.") for entry in os.listdir(os.path.join(place.store, jobs(place.store)[0])))


def step(place, at):
    """To the next superstep, in which process 0 is held."""
    place.hold(0, at + 1)
    place.release(0, at)
    place.wait_executed(0, at + 1)
    return at + 1


def staged(place, job, count, at):
    """One superstep after the other until so many are; where process 0 is held then.  They are of the
    snapshot that was taken first; the one at which the term ends is taken at the next barrier."""
    end = time.monotonic() + PATIENCE
    while True:
        there = of_job(place)
        if len(there) == count and all(map(is_staged, there)):
            return there, at
        check(time.monotonic() < end, "nothing is restored ahead:", there, job)
        if place.executed(0, at) and not is_taken(place, at):
            at = step(place, at)
        time.sleep(0.02)


def os_pids(place, job):
    return {rank["pid"]: rank["os_pid"] for rank in status(place, job)["ranks"]}


def moves_at_once():
    with LoopbackPlace(3) as place:
        job = running(place)
        before = os_pids(place, job)
        now, at = moves(place, job, "move", "3", "h2")
        # Nobody has copied those that stay.
        after = os_pids(place, job)
        check({pid for pid in before if before[pid] == after[pid]} == {0, 1, 2}, before, after, job)
        check(now == {"h0": ("up", 2), "h1": ("up", 1), "h2": ("up", 1)}, now)
        check(f"process 3 {AHEAD} h2" in job.said(), job)
        # And back: to where processes are.
        now, at = moves(place, job, "move", "3", "h1", at=at)
        check(f"process 3 {AHEAD} h1" in job.said(), job)
        place.release(0, at)
        ends_well(place, job, reference())
        check("restart" not in job.said(), job)


def at_the_next_snapshot():
    """--precopy off: nothing is written or restored before the one at which the process moves."""
    with LoopbackPlace(3) as place:
        job = running(place, options=(*draining.SELDOM, "--precopy", "off"))
        now, at = moves(place, job, "move", "3", "h2")
        check(now == {"h0": ("up", 2), "h1": ("up", 1), "h2": ("up", 1)}, now)
        check(AHEAD not in job.said() and job.said().count("bsprun: snapshot of") == 2, job)
        place.release(0, at)
        ends_well(place, job, reference())


def what_comes_is_shown():
    """By bspctl hosts and bspstat: which process, where, as of which superstep."""
    with LoopbackPlace(3) as place:
        job = running(place)
        check(status(place, job)["coming"] == [], "nothing has been asked for")
        ctl = asked(place, job, "move", "3", "h2", "--wait")
        _, at = staged(place, job, 1, 3)
        wait_until(lambda: [one["state"] for one in status(place, job)["coming"]] == ["restored ahead"],
                   "what is restored ahead")
        (one,) = status(place, job)["coming"]
        check((one["pid"], one["host"]) == (3, "h2") and 3 <= one["superstep"] <= at and one["memory"] > 0, one)
        line = r"\n  restored ahead to host h2: process 3, as of superstep \d+, [\d.]+ [KM]iB there\n"
        for words in ([draining.BSPCTL, str(job.os_pid), "hosts"], [draining.BSPSTAT, str(job.os_pid)]):
            done = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, **place.env})
            check(re.search(line, done.stdout), done.stdout)
        at = step_until_done(place, job, ctl, at)
        wait_until(lambda: status(place, job)["coming"] == [], "it has come")
        place.release(0, at)
        ends_well(place, job, reference())


def stopped_while_restored(place, job, at):
    """Asks for a move whose process is stopped when it has been restored ahead.  The request, the process, what is shown of it
    when the move is carried out or waits for it, and where process 0 is held then.  Nothing is shown if there were further
    snapshots before the move, as there are on a busy machine: what does not follow is made anew."""
    ctl = asked(place, job, "move", "3", "h2", "--wait")
    (os_pid,), at = staged(place, job, 1, at)
    send(os_pid, signal.SIGSTOP)
    seen = []

    def being_restored():
        seen[:] = [one for one in status(place, job)["coming"] if one["state"] == "being restored"]
        return seen

    at = step_until(place, lambda: being_restored() or ctl.poll() is not None, at)
    return ctl, os_pid, seen, at


def what_waits_for_images_is_shown():
    """Processes that are being restored: one of them does not go on."""
    with LoopbackPlace(3) as place:
        job = running(place)
        at = 3
        for _ in range(3):
            ctl, os_pid, seen, at = stopped_while_restored(place, job, at)
            if seen:
                break
            check(not alive(os_pid), "it went on though a process was stopped", job)
            at = step_until_done(place, job, ctl, at)
            _, at = moves(place, job, "move", "3", "h1", at=at)
            at = step(place, at)
        check({(one["pid"], one["host"]) for one in seen} >= {(3, "h2")} and seen[0]["superstep"] is None, seen, job)
        send(os_pid, signal.SIGCONT)
        at = step_until_done(place, job, ctl, at)
        place.release(0, at)
        ends_well(place, job, reference())


def process_0_and_its_input():
    text = b"".join(b"line %d\n" % i for i in range(SUPERSTEPS))
    expected = reference("-i", stdin=text)
    with LoopbackPlace(2) as place:
        job = running(place, "-i", stdin=text)
        now, at = moves(place, job, "drain", "h0")
        check(now == {"h0": ("drained", 0), "h1": ("up", 4)}, now)
        check(f"process 0 {AHEAD} h1" in job.said() and f"process 1 {AHEAD} h1" in job.said(), job)
        place.release(0, at)
        ends_well(place, job, expected)


def files_that_are_shared():
    """Two processes of one group: RESTORE makes them together."""
    with LoopbackPlace(3) as place:
        job = draining.running(place)
        now, at = moves(place, job, "drain", "h1")
        check(now["h1"] == ("drained", 0) and AHEAD not in job.said(), now, job)
        place.release(0, at)
        ends_well(place, job, draining.reference())


def killed_before_it_goes_on():
    """The move happens all the same, from all images."""
    with LoopbackPlace(3) as place:
        job = running(place)
        ctl = asked(place, job, "move", "3", "h2", "--wait")
        (os_pid,), at = staged(place, job, 1, 3)
        send(os_pid, signal.SIGKILL)
        wait_until(lambda: not of_job(place), "its end")
        at = step_until_done(place, job, ctl, at)
        # On a busy machine another round follows, for which there is another one.
        check(AHEAD not in job.said() or job.said().count("bsprun: snapshot of") > 3, job)
        check(places(place, job)["h2"] == ("up", 1), job)
        place.release(0, at)
        ends_well(place, job, reference())
        check("restart" not in job.said(), job)


def the_last_snapshot_fails():
    """The image of a process that would stay cannot be written, as there is such a file: all go on where they are, and
    the next one succeeds."""
    with LoopbackPlace(3) as place:
        job = running(place)
        ctl = asked(place, job, "move", "3", "h2", "--wait")
        _, at = staged(place, job, 1, 3)
        one = os_pids(place, job)[1]
        (own,) = (entry.path for entry in os.scandir(place.store) if entry.is_dir())
        directory = os.path.join(own, f"{at + 1}.1")  # of the next barrier
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "1.img.tmp"), "xb"):
            pass
        at = step_until(place, lambda: "process 1 cannot be saved" in job.said(), at)
        at = step_until_done(place, job, ctl, at)
        check(places(place, job)["h2"] == ("up", 1) and os_pids(place, job)[1] == one, job)
        place.release(0, at)
        ends_well(place, job, reference())


def the_host_is_lost():
    """Where they were to go."""
    with LoopbackPlace(3) as place:
        job = running(place)
        asked(place, job, "move", "3", "h2")
        _, at = staged(place, job, 1, 3)
        place.will_not_return("h2")
        place.kill(place.agent("h2"))
        wait_until(lambda: not of_job(place), "the end of what was restored there")
        place.wait_executed(0, place.committed(), 2)
        place.release(0, at)
        job.check_all(reference())
        place.check_files(reference())
        place.check_clean()


def a_rank_is_lost():
    """The job goes back to the snapshot that those restored ahead have: they go on as they are."""
    with LoopbackPlace(3) as place:
        job = running(place)
        asked(place, job, "move", "3", "h2")
        _, at = staged(place, job, 1, 3)
        place.kill(place.executed(1, at)[-1])
        place.wait_executed(0, place.committed(), 2)
        check(places(place, job)["h2"] == ("up", 1), job)
        place.release(0, at)
        ends_well(place, job, reference())
        check(f"process 3 {AHEAD} h2, 0 snapshots before" in job.said(), job)


def the_job_is_saved_and_stopped():
    with LoopbackPlace(3) as place:
        job = running(place)
        ctl = asked(place, job, "move", "3", "h2", "--wait")
        _, at = staged(place, job, 1, 3)
        job.signal(signal.SIGTERM)
        place.release(0, at)
        job.wait(123)
        ctl.communicate(timeout=PATIENCE)
        place.kills.append(place.committed())
        job = place.bsprun("--restart", place.store)
        job.check_tail(reference())
        place.check_clean()


def bsprun_is_killed():
    with LoopbackPlace(3) as place:
        job = running(place)
        ctl = asked(place, job, "move", "3", "h2", "--wait")
        staged(place, job, 1, 3)
        job.signal(signal.SIGKILL)
        ctl.communicate(timeout=PATIENCE)
        wait_until(lambda: not marked(place.mark), "the end of all processes")
        place.check_clean()


if __name__ == "__main__":
    main([moves_at_once, at_the_next_snapshot, what_comes_is_shown, what_waits_for_images_is_shown, process_0_and_its_input,
          files_that_are_shared,
          killed_before_it_goes_on, the_last_snapshot_fails, the_host_is_lost, a_rank_is_lost, the_job_is_saved_and_stopped,
          bsprun_is_killed], together=3)
