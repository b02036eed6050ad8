"""Where processes go in a job that goes back: they stay where copies of them are, and what a lost host
had goes where there is room, and with --load others leave some of it."""
import os
import signal
import subprocess

from loopback import *
from loopback import (BIN, ROOT, LoopbackPlace, check, children_of, environment_of, main, name_of, send,
                      wait_until)

SUPERSTEPS = 6
P = 4


def host_of(os_pid):
    """As its agent is called: processes have the environment of process 0."""
    with open(f"/proc/{os_pid}/stat", encoding="ascii", errors="replace") as file:
        agent = int(file.read().rpartition(")")[2].split()[1])
    for word in environment_of(agent):
        if word.startswith(b"BSPZERO_HOST_NAME="):
            return word.split(b"=")[1].decode()
    return None


def lost(busy, options):
    """The hosts of the processes after the second of three hosts is lost, which had the last two."""
    expected = Reference.of(P, SUPERSTEPS, "-a")
    with LoopbackPlace(hosts=3, options=options) as place:
        for host, processes in busy.items():
            place.make_busy(host, processes)
        place.hold(0, 3)
        job = place.ticker(P, SUPERSTEPS, "-a")
        for pid in range(P):
            place.wait_executed(pid, 3)
        place.wait_committed(3)
        before = [host_of(place.executed(pid, 3)[-1]) for pid in range(P)]
        check(before == ["h0", "h0", "h1", "h1"], before, job)
        place.kills.append(place.committed())
        place.will_not_return("h1")
        send(place.agent("h1"), signal.SIGKILL)
        after = [host_of(place.wait_executed(pid, 3, times=2)) for pid in range(P)]
        place.release(0, 3)
        job.check_all(expected)
        place.check_files(expected)
        place.check_clean()
        return after


def where_there_is_room():
    after = lost({}, [])
    check(after == ["h0", "h0", "h2", "h2"], after)


def where_others_leave_some():
    after = lost({"h0": 0, "h1": 0, "h2": 30}, ["--load"])
    check(after == ["h0", "h0", "h0", "h0"], after)


def where_others_leave_most():
    after = lost({"h0": 0, "h1": 0.5, "h2": 1}, ["--load"])
    check(after == ["h0", "h0", "h2", "h2"], after)


def copies_stay_where_they_are():
    """Also on the host that has no part in writing manifests: its processes come from them."""
    expected = Reference.of(P, SUPERSTEPS, "-a")
    with LoopbackPlace(options=["--bind", "none"]) as place:
        place.hold(0, 3)
        job = place.ticker(P, SUPERSTEPS, "-a")
        for pid in range(P):
            place.wait_executed(pid, 3)
        place.wait_committed(3)
        agent = place.agent("h1")
        wait_until(lambda: len(copies_of(agent)) == 2, "a copy of each")
        there = copies_of(agent)
        place.kill(place.executed(0, 3)[-1])
        again = [place.wait_executed(pid, 3, times=2) for pid in (2, 3)]
        check(sorted(again) == sorted(there), again, there)
        place.release(0, 3)
        job.check_all(expected)
        place.check_files(expected)
        place.check_clean()


def all_on_one_of_several():
    """Parts of lines that its processes print in turn come out in turn, as on several hosts."""
    with LoopbackPlace(hosts=3) as place:
        program = place.path("parts")
        done = subprocess.run([os.path.join(BIN, "bspcc"), "-o", program,
                               os.path.join(ROOT, "tests/conform/rules/io_order_partial.c")], check=False)
        check(done.returncode == 0, done)
        for _ in range(20):
            job = place.bsprun("-np", 2, program).wait(0)
            parts = job.out().decode().split()
            check(parts == [f"{i}.{pid}" for i in range(5) for pid in range(2)], parts)
        place.check_clean()


if __name__ == "__main__":
    main([copies_stay_where_they_are, where_there_is_room, where_others_leave_some,
          where_others_leave_most,
          all_on_one_of_several], together=3)
