"""What bsprun and Processor Zero foresee of a move: which processes other hosts restore ahead.

    foreseen.py [TEST ...]
"""
import re
import signal

from draining import is_undisturbed, moves, reference, running, step_until
from loopback import *
from loopback import LoopbackPlace, alive, check, main, send, wait_until

TRACED = ("-vv", "--every", "1000")


def told_ahead(job):
    """What hosts have been told to restore ahead: of which snapshot, and how many processes."""
    return [(int(superstep), int(count)) for superstep, count in
            re.findall(r"effect AHEAD term \d+ snapshot (\d+)\.\d+ processes (\d+)", job.said())]


def check_foreseen(place, job, processes):
    """Each snapshot before the one with which they have moved was restored ahead, by each host once."""
    told = told_ahead(job)
    check(told and all(count == processes for _, count in told), told, job)
    check(len({superstep for superstep, _ in told}) == len(told), told, job)
    answers = len(re.findall(r"event AHEAD_READY ", job.said()))
    check(answers >= len(told), answers, told, job)


def of_a_drained_host():
    with LoopbackPlace(3) as place:
        job = running(place, options=TRACED)
        now, at = moves(place, job, "drain", "h1")
        check(now == {"h0": ("up", 2), "h1": ("drained", 0), "h2": ("up", 2)}, now)
        check_foreseen(place, job, 2)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def of_a_process():
    """Process 2 goes with it, as they share a file: bsprun does not know that."""
    with LoopbackPlace(3) as place:
        job = running(place, options=TRACED)
        now, at = moves(place, job, "move", "3", "h2")
        check(now["h2"][1] > 0, now)
        check_foreseen(place, job, 1)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def of_a_host_whose_agent_is_told_to_end():
    """Nobody has asked where processes are: bsprun asks when it has to."""
    with LoopbackPlace(3) as place:
        job = running(place, options=TRACED)
        agent = place.agent("h1")
        send(agent, signal.SIGTERM)
        wait_until(lambda: "host h1 is to be vacated" in job.said(), "what bsprun makes of it")
        at = step_until(place, lambda: not alive(agent), 3)
        for pid in range(4):
            place.wait_executed(pid, at)
        check_foreseen(place, job, 2)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def not_of_a_host_that_joins():
    with LoopbackPlace(2) as place:
        job = running(place, options=TRACED)
        now, at = moves(place, job, "add", "h7")
        check(now["h7"][0] == "up" and not told_ahead(job), now, job)
        place.release(0, at)
        is_undisturbed(place, job, reference())


if __name__ == "__main__":
    main([of_a_drained_host, of_a_process, of_a_host_whose_agent_is_told_to_end, not_of_a_host_that_joins], together=3)
