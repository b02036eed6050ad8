"""Processor Zero is the agent that came first, wherever process 0 begins; when its host is lost, the
next term's is one that lives.
"""
import json
import os
import signal
import subprocess

from loopback import *
from loopback import BIN, LoopbackPlace, check, check_said, main, send, wait_said, wait_until

SUPERSTEPS = 6
BSPSTAT = os.path.join(BIN, "bspstat")


def reference(*words, **more):
    return Reference.of(4, SUPERSTEPS, *words, "-a", **more)


def late(place, start, *words, host="h0", then="h1", **more):
    """A job whose first host comes when another one is there already."""
    place.delay(host)
    job = start(*words, **more)
    wait_said(job, f"host {then} has joined")
    check(f"host {host} has joined" not in job.said(), "it was not late\n", job)
    place.let_come(host)
    return job


def saved(place, *words, options=("--every", "1"), **more):
    return late(place, place.ticker, 4, SUPERSTEPS, *words, "-a", options=("-vv", *options), **more)


def zero_of(place, job):
    """As bspstat shows it."""
    done = subprocess.run([BSPSTAT, "--json", str(job.os_pid)], capture_output=True, check=False,
                          env=dict(os.environ, **place.env))
    check(done.returncode == 0, done)
    return json.loads(done.stdout)["zero"]


def lose(place, host):
    place.will_not_return(host)
    send(place.agent(host), signal.SIGKILL)


def held_at(place, superstep):
    """Every process is there, and the snapshot before is committed."""
    for pid in range(4):
        place.wait_executed(pid, superstep)
    place.wait_committed(superstep)


def whoever_comes_first():
    with LoopbackPlace() as place:
        place.hold(0, 3)
        job = late(place, place.bsprun, "-np", 4, "-vv", TICKER, place.files, SUPERSTEPS, "-a")
        place.wait_executed(0, 3)
        check(zero_of(place, job) == "h1", job)
        place.release(0, 3)
        job.check_all(reference())
        check_said(job, "Processor Zero is host h1 (term 1), p = 4")
        place.check_files(reference())
        place.check_clean()


def with_snapshots():
    with LoopbackPlace() as place:
        job = saved(place)
        job.check_all(reference())
        check_said(job, "Processor Zero is host h1 (term 1), p = 4")
        place.check_files(reference())
        place.check_store()
        place.check_clean()


def its_input_and_status():
    """What concerns process 0 goes to its host all the same."""
    text = b"".join(b"line %d\n" % i for i in range(SUPERSTEPS))
    expected = reference("-i", stdin=text)
    with LoopbackPlace() as place:
        job = saved(place, "-i", "-x", "7", stdin=text).wait(7)
        check(job.out() == expected.out.replace(b"ends with 0", b"ends with 7"), job)
        check_said(job, "Processor Zero is host h1 (term 1)")
        place.check_clean()


def its_host_is_lost():
    with LoopbackPlace() as place:
        place.hold(0, 3)
        job = saved(place)
        held_at(place, 3)
        check(zero_of(place, job) == "h1", job)
        lose(place, "h1")
        wait_said(job, "Processor Zero is host h0 (term 2)")
        check(zero_of(place, job) == "h0", job)
        place.release(0, 3)
        job.check_all(reference())
        place.check_files(reference())
        place.check_clean()


def another_host_is_lost():
    """Also that of process 0: Processor Zero stays where it is."""
    with LoopbackPlace() as place:
        place.hold(0, 3)
        job = saved(place)
        held_at(place, 3)
        lose(place, "h0")
        wait_said(job, "Processor Zero is host h1 (term 2)")
        place.release(0, 3)
        job.check_all(reference())
        place.check_files(reference())
        place.check_clean()


def a_host_without_processes():
    """Nobody waits for what it might write: after a rollback nothing is shown twice."""
    with LoopbackPlace(hosts=3) as place:
        place.hold(0, 3)
        job = place.ticker(4, SUPERSTEPS, "-a")
        held_at(place, 3)
        wait_until(lambda: b"3 prints in superstep 3" in job.out(), "output that comes again")
        place.kill(place.executed(3, 3)[-1])
        place.wait_executed(0, 3, times=2)
        place.release(0, 3)
        job.check_all(reference())
        place.check_files(reference())
        check(job.said().count("\n") == 1, job)
        place.check_clean()


def one_after_the_other():
    with LoopbackPlace(hosts=3) as place:
        place.hold(0, 3)
        job = saved(place, then="h2")
        held_at(place, 3)
        left = list(place.hosts)
        for term in (1, 2):
            zero = zero_of(place, job)
            check(zero in left, zero, "is not one of", left, "\n", job)
            check_said(job, f"Processor Zero is host {zero} (term {term})")
            left.remove(zero)
            lose(place, zero)
            wait_said(job, f"(term {term + 1}), p = 4")
        check(zero_of(place, job) == left[0], job)
        place.release(0, 3)
        job.check_all(reference())
        place.check_files(reference())
        place.check_clean()


def asked_to_stop():
    """Before anything is saved, while process 0 computes."""
    with LoopbackPlace() as place:
        place.hold(0, 1)
        job = late(place, place.bsprun, "-np", 4, "-vv", TICKER, place.files, SUPERSTEPS, "-a")
        place.wait_executed(0, 1)
        job.signal(signal.SIGTERM)
        job.wait(143)
        place.check_clean()


if __name__ == "__main__":
    main([whoever_comes_first, with_snapshots, its_input_and_status, its_host_is_lost,
          another_host_is_lost, a_host_without_processes, one_after_the_other, asked_to_stop], together=3)
