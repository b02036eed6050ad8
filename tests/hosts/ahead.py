"""Processes that are restored ahead of their move, on the host to which they go: what is gained, and that
nothing is lost when it was in vain.

    ahead.py [TEST ...]
"""
import os
import signal
import time

from loopback import *
from loopback import LoopbackPlace, check, environment_of, main, marked, send, wait_until
from draining import SUPERSTEPS, asked, ends_well, moves, places, step_until_done
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


def staged(place, job, count, at):
    """One superstep after the other until so many are; where process 0 is held then.  They are of the
    snapshot that was taken first; the one at which the term ends is taken at the next barrier."""
    end = time.monotonic() + PATIENCE
    while True:
        there = of_job(place)
        if len(there) == count and all(map(is_staged, there)):
            return there, at
        check(time.monotonic() < end, "nothing is restored ahead:", there, job)
        if place.committed() < at and place.executed(0, at):
            place.hold(0, at + 1)
            place.release(0, at)
            at += 1
            place.wait_executed(0, at)
        time.sleep(0.02)


def moves_at_once():
    with LoopbackPlace(3) as place:
        job = running(place)
        now, at = moves(place, job, "move", "3", "h2")
        check(now == {"h0": ("up", 2), "h1": ("up", 1), "h2": ("up", 1)}, now)
        check(f"process 3 {AHEAD} h2" in job.said(), job)
        # And back: to where processes are.
        now, at = moves(place, job, "move", "3", "h1", at=at)
        check(f"process 3 {AHEAD} h1" in job.said(), job)
        place.release(0, at)
        ends_well(place, job, reference())
        check("restart" not in job.said(), job)


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
        check(AHEAD not in job.said(), job)
        check(places(place, job)["h2"] == ("up", 1), job)
        place.release(0, at)
        ends_well(place, job, reference())
        check("restart" not in job.said(), job)


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
    main([moves_at_once, process_0_and_its_input, files_that_are_shared,
          killed_before_it_goes_on, the_host_is_lost, a_rank_is_lost, the_job_is_saved_and_stopped,
          bsprun_is_killed])
