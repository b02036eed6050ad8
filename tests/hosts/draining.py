"""bspctl: hosts that are drained, removed and added while a job runs.  Its processes go on in other
places, execute nothing twice, and the program does not notice.

    draining.py [TEST ...] | draining.py --moves N [--seed SEED]     so many at random, with kills
"""
import contextlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time

from loopback import *
from loopback import (BIN, BSPRUN, TICKER, LoopbackPlace, alive, check, main, marked, send, wait_until)

SUPERSTEPS = 40  # many more than moves take, also where everything is slow
BSPCTL = os.path.join(BIN, "bspctl")
BSPSTAT = os.path.join(BIN, "bspstat")
SELDOM = ("-v", "--every", "1000")


def reference(*words, **more):
    return Reference.of(4, SUPERSTEPS, *words, "-a", **more)


def control(place, job, *words):
    return subprocess.Popen([BSPCTL, str(getattr(job, "os_pid", job)), *words],
                            env=dict(os.environ, **place.env), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def asked(place, job, *words):
    """bsprun has got it, or refuses it."""
    before = job.said().count("bspctl: ")
    ctl = control(place, job, *words)
    wait_until(lambda: job.said().count("bspctl: ") > before or ctl.poll() is not None, words)
    return ctl


def said(ctl, status, job=""):
    try:
        out, err = (text.decode() for text in ctl.communicate(timeout=PATIENCE))
    except subprocess.TimeoutExpired as none:
        ctl.kill()
        ctl.communicate()
        raise Failed(f"{ctl.args} does not end: {job}") from none
    check(ctl.returncode == status, ctl.args, "exits with", ctl.returncode, out, err)
    check(bool(err) == (status != 0), ctl.args, "says", err)
    return err if status else out


def refused(place, job, *words, status=1):
    return said(control(place, job, *words), status)


def status(place, job):
    done = subprocess.run([BSPSTAT, "--json", str(job.os_pid)], capture_output=True, check=False,
                          env=dict(os.environ, **place.env))
    check(done.returncode == 0, done)
    return json.loads(done.stdout)


def at_work(place, job, host):
    """The processes of that host, as the operating system numbers them."""
    return [rank["os_pid"] for rank in status(place, job)["ranks"] if rank["host"] == host]


@contextlib.contextmanager
def stopped(*os_pids):
    for os_pid in os_pids:
        send(os_pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for os_pid in os_pids:
            send(os_pid, signal.SIGCONT)


@contextlib.contextmanager
def dying_slowly(os_pids):
    """They do not get to run while somebody else computes."""
    core = {min(os.sched_getaffinity(0))}
    for os_pid in os_pids:
        os.sched_setaffinity(os_pid, core)
        os.sched_setscheduler(os_pid, os.SCHED_IDLE, os.sched_param(0))
    with subprocess.Popen([sys.executable, "-c", "while True: pass"],
                          preexec_fn=lambda: os.sched_setaffinity(0, core)) as other:
        try:
            yield
        finally:
            other.kill()


def places(place, job):
    """{host: (state, processes)}, as bspstat shows it."""
    facts = status(place, job)
    return {host["name"]: (host["state"], sum(rank["host"] == host["name"] for rank in facts["ranks"]))
            for host in facts["hosts"]}


def running(place, *words, at=3, options=SELDOM, p=4, **more):
    """A job whose processes are in that superstep, and stay there until process 0 is released."""
    place.hold(0, at)
    job = place.ticker(p, SUPERSTEPS, *words, "-a", options=options, **more)
    for pid in range(p):
        place.wait_executed(pid, at)
    return job


def step_until(place, done, at):
    """The job takes one superstep after the other, from the one in which process 0 is held, until it
    is so.  Where process 0 is held then.  Supersteps are long enough for a snapshot, if one is taken: the
    first of two for a move is written while processes go on."""
    while not done():
        place.hold(0, at + 1)
        place.release(0, at)
        at += 1
        wait_until(lambda: done() or place.executed(0, at), f"superstep {at}")
        until = time.monotonic() + 1
        while not done() and place.committed() < at and time.monotonic() < until:
            time.sleep(0.01)
    return at


def step_until_done(place, job, ctl, at, may_fail=False):
    """Process 0 is held in that superstep; the job takes one after the other until it has happened,
    as it may have been asked too late for the next barrier.  Where process 0 is held then."""
    def done():
        job.check_running()
        return ctl.poll() is not None

    try:
        at = step_until(place, done, at)
    except Failed as failure:
        raise Failed(f"{ctl.args[2:]} does not end: {failure}\n{job}") from None
    if ctl.returncode == 0 or not may_fail:
        said(ctl, 0, job)
    else:
        check("continues without it" in said(ctl, 1, job), job)
    return at


def moves(place, job, *words, at=3, p=4):
    """Carries out a command.  Where the processes are then, and in which superstep they are held."""
    at = step_until_done(place, job, asked(place, job, *words, "--wait"), at)
    for pid in range(p):
        place.wait_executed(pid, at)
    return places(place, job), at


def ends_well(place, job, expected):
    """Perhaps after faults."""
    job.check_all(expected)
    place.check_executions()
    place.check_files(expected)
    place.check_store()
    place.check_clean()


def is_undisturbed(place, job, expected):
    ends_well(place, job, expected)
    check("restart" not in job.said(), "that was no fault\n", job)


def drained():
    with LoopbackPlace(3) as place:
        job = running(place)
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("up", 0)}, job)
        now, at = moves(place, job, "drain", "h1")
        check(now == {"h0": ("up", 2), "h1": ("drained", 0), "h2": ("up", 2)}, now)
        now, at = moves(place, job, "add", "h1", at=at)
        check(now == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("up", 0)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def the_host_of_process_0():
    """Its input, and Processor Zero, are there as well."""
    text = b"".join(b"line %d\n" % i for i in range(SUPERSTEPS))
    expected = reference("-i", stdin=text)
    with LoopbackPlace(2) as place:
        job = running(place, "-i", stdin=text)
        now, at = moves(place, job, "drain", "h0")
        check(now == {"h0": ("drained", 0), "h1": ("up", 4)}, now)
        place.release(0, at)
        is_undisturbed(place, job, expected)


def removed():
    with LoopbackPlace(3) as place:
        job = running(place)
        agent = place.agent("h0")
        now, at = moves(place, job, "remove", "h0")
        check(not alive(agent) and now["h0"] == ("removed", 0), now)
        check(now["h1"][1] + now["h2"][1] == 4, now)
        check("is not" not in job.said() and "lost" not in job.said(), job)
        check("does not take part" in refused(place, job, "move", "0", "h0"), job)
        now, at = moves(place, job, "add", "h0", at=at)
        check(now == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("up", 0)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def progress_after_a_removal():
    """The processes were on the host that has left."""
    with LoopbackPlace(2) as place:
        job = running(place, options=(*SELDOM, "--progress"))
        _, at = moves(place, job, "remove", "h1")
        saved = place.committed()
        at = step_until(place, lambda: place.executed(0, saved + 4), at)

        def shown():
            status(place, job)  # with its answers there is a line
            return list(map(int, re.findall(r"superstep (\d+), .* p = 4", job.said())))[-1:]

        wait_until(lambda: shown() > [saved + 1], "progress beyond the last snapshot")
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_spare_joins():
    with LoopbackPlace(3, options=("--spares", "1")) as place:
        job = running(place)
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("spare", 0)}, job)
        now, at = moves(place, job, "add", "h2")
        check(now == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("up", 0)}, now)
        check("already takes part in it" in refused(place, job, "add", "h2"), job)
        now, at = moves(place, job, "remove", "h1", at=at)
        check(now == {"h0": ("up", 2), "h1": ("removed", 0), "h2": ("up", 2)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def new_hosts_join():
    """Hosts that were not named when the job began; it goes on when all that it began with have left."""
    with LoopbackPlace(2) as place:
        job = running(place)
        now, at = moves(place, job, "add", "h7:2")
        check(now == {"h0": ("up", 2), "h1": ("up", 2), "h7": ("up", 0)}, now)
        check("already takes part in it" in refused(place, job, "add", "h7:3"), job)
        now, at = moves(place, job, "add", "h8:3", at=at)
        hosts = said(control(place, job, "hosts"), 0)
        check(re.search(r"h7 +2 .*\n.*h8 +3 ", hosts), hosts)
        now, at = moves(place, job, "remove", "h0", at=at)
        now, at = moves(place, job, "remove", "h1", at=at)
        check(now == {"h0": ("removed", 0), "h1": ("removed", 0), "h7": ("up", 2), "h8": ("up", 2)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_new_host_replaces_a_lost_one():
    """It is asked for, and before the next barrier another one is lost."""
    with LoopbackPlace(2) as place:
        job = running(place)
        ctl = asked(place, job, "add", "h7", "--wait")
        place.will_not_return("h1")
        place.kills.append(place.committed())
        send(place.agent("h1"), signal.SIGKILL)
        at = step_until_done(place, job, ctl, 3)
        now = places(place, job)
        check(now["h1"][0] == "lost" and now["h7"][0] == "up" and now["h0"][1] + now["h7"][1] == 4, now)
        place.release(0, at)
        ends_well(place, job, reference())


def a_new_host_comes_while_the_next_term_begins():
    """Before Processor Zero takes part in it: the hosts are asked for once, and move then."""
    with LoopbackPlace(2) as place:
        job = running(place, options=("-vv", "--every", "1000", "--balance", "off"))
        place.delay("h7")
        ctl = asked(place, job, "add", "h7", "--wait")
        place.will_not_return("h1")
        place.kills.append(place.committed())
        zero = place.agent("h0")
        with dying_slowly(at_work(place, job, "h0")):
            send(zero, signal.SIGSTOP)
            send(place.agent("h1"), signal.SIGKILL)
            wait_until(lambda: places(place, job)["h1"][0] == "lost", "the loss")
            place.let_come("h7")
            wait_until(lambda: "host h7 has joined" in job.said(), "the agent")
            send(zero, signal.SIGCONT)
            place.wait_executed(0, 3, times=2)
        at = step_until_done(place, job, ctl, 3)
        check(places(place, job)["h7"] == ("up", 2), job)
        place.release(0, at)
        ends_well(place, job, reference())


def a_host_that_joins_has_no_processes_yet():
    """What it answers does not count for the job, whichever host answers last."""
    with LoopbackPlace(2) as place:
        job = running(place, options=("-vv", "--every", "1000", "--heartbeat", "60"))
        status(place, job)
        ctl = asked(place, job, "add", "h7", "--wait")
        wait_until(lambda: "host h7 has joined" in job.said(), "the agent")
        found = [status(place, job)["processes"] for _ in range(20)]
        check(found == 20 * [4], found)
        with stopped(place.agent("h0"), place.agent("h1")):
            facts = status(place, job)
            check(facts["processes"] == 4 and facts["ranks"] == [], "only h7 answers", facts)
        at = step_until_done(place, job, ctl, 3)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_host_that_cannot_join():
    """The job goes on without it."""
    with LoopbackPlace(3, options=("--spares", "1")) as place:
        job = running(place)
        place.will_not_return("h2")
        for name in ("h2", "h2:3"):
            check("continues without it" in refused(place, job, "--wait", "add", name), job)
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("lost", 0)}, job)
        os.unlink(place.path("dead.h2"))
        now, at = moves(place, job, "add", "h2")
        check(now == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("up", 0)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_host_where_nothing_can_be_started():
    """Not even its agent; then that comes, and ends when it prepares for the job."""
    with LoopbackPlace(2) as place:
        job = running(place)
        used = set(map(int, os.listdir(f"/proc/{job.os_pid}/fd")))
        before = resource.prlimit(job.os_pid, resource.RLIMIT_NOFILE)
        free = sorted(set(range(len(used) + 2)) - used)
        resource.prlimit(job.os_pid, resource.RLIMIT_NOFILE, (free[0] + 1, before[1]))  # for the request
        for host, text in (("h7", "could not be started"), ("localhost", "no agent can be started there")):
            said_why = refused(place, job, "--wait", "add", host)
            check(text in said_why and "continues without it" in said_why, said_why)
        resource.prlimit(job.os_pid, resource.RLIMIT_NOFILE, before)
        place.write("limit.h7", "14")  # descriptors
        said_why = refused(place, job, "--wait", "add", "h7")
        check("host h7" in said_why and "continues without it" in said_why, said_why)
        check(places(place, job)["h7"] == ("lost", 0), job)
        place.release(0, 3)
        is_undisturbed(place, job, reference())


def a_joining_agent_is_told_to_end():
    """While it waits for the next barrier: the host is not used."""
    with LoopbackPlace(2) as place:
        job = running(place, options=("-vv", "--every", "1000", "--heartbeat", "60"))
        status(place, job)
        ctl = asked(place, job, "add", "h7", "--wait")
        wait_until(lambda: "host h7 has joined" in job.said(), "the agent")
        send(place.agent("h7"), signal.SIGTERM)
        check("told to end by SIGTERM" in said(ctl, 1, job), job)
        check(places(place, job)["h7"] == ("lost", 0), job)
        place.release(0, 3)
        is_undisturbed(place, job, reference())


def a_host_with_a_directory_of_its_own():
    """It has none of the snapshots, and at first no process."""
    if os.geteuid() != 0:
        return "a directory that only one host sees needs root"
    with LoopbackPlace(2) as place:
        job = running(place)
        place.write("private.h7", place.store)
        now, at = moves(place, job, "add", "h7")
        check(now["h7"] == ("up", 0), now)
        now, at = moves(place, job, "drain", "h1", at=at)
        check(now["h7"][1] + now["h0"][1] == 4, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())
    return None


def input_while_the_first_host_comes_back():
    """Process 0 waits for it elsewhere."""
    with LoopbackPlace(2) as place:
        reader, writer = os.pipe()
        job = place.ticker(4, 1000, "-a", "-i", options=("-vv", "--every", "1000"), stdin=reader)
        os.close(reader)

        def read_until(done, at):
            while not done():
                os.write(writer, b"a line\n")
                at += 1
                wait_until(lambda: done() or place.executed(0, at), f"superstep {at}")
            return at

        at = read_until(lambda: place.executed(0, 3), 0)
        ctl = asked(place, job, "remove", "h0", "--wait")
        at = read_until(lambda: ctl.poll() is not None, at)
        said(ctl, 0, job)
        ctl = asked(place, job, "add", "h0", "--wait")
        wait_until(lambda: job.said().count("host h0 has joined") == 2, "the agent")
        read_until(lambda: ctl.poll() is not None, at)
        said(ctl, 0, job)
        os.write(writer, b"a line\n" * 1000)
        os.close(writer)
        job.wait(0)
        place.check_clean()


def a_lost_host_comes_back():
    """Its processes go back there, without anybody asking for that."""
    with LoopbackPlace(2) as place:
        job = running(place, options=(*SELDOM, "--rejoin", "0.2", "--heartbeat", "2"))
        place.will_not_return("h1")
        place.kills.append(place.committed())
        send(place.agent("h1"), signal.SIGKILL)
        wait_until(lambda: places(place, job)["h1"] == ("lost", 0), "the loss")
        for pid in range(4):
            place.wait_executed(pid, 3, times=2)
        os.unlink(place.path("dead.h1"))
        at = step_until(place, lambda: places(place, job)["h1"] == ("up", 2), 3)
        check(job.said().count("restart 1 of") == 1 and "restart 2" not in job.said(), job)
        place.release(0, at)
        ends_well(place, job, reference())


def a_lost_host_prepares_in_vain():
    """Another agent comes there, and ends when it prepares for the job: others do without the host."""
    with LoopbackPlace(2) as place:
        job = running(place, options=SELDOM)
        place.write("limit.h1", "14")  # descriptors
        place.kills.append(place.committed())
        send(place.agent("h1"), signal.SIGKILL)
        for pid in range(4):
            place.wait_executed(pid, 3, times=2)
        check(places(place, job)["h1"] == ("lost", 0), places(place, job))
        check(re.search("bsprun: host h1: .*Too many open files.*; the job continues from", job.said()), job)
        place.release(0, 3)
        ends_well(place, job, reference())


def saved_and_placed_anew():
    with LoopbackPlace(2) as place:
        job = running(place)
        at = step_until_done(place, job, asked(place, job, "--wait", "save"), 3)
        check(place.committed() >= 4, place.committed())
        place.wait_executed(0, at)
        now, at = moves(place, job, "rebalance", at=at)
        check(now == {"h0": ("up", 2), "h1": ("up", 2)}, now)
        check(re.search(r"h0 .* 2  up.*\n.*h1 .* 2  up", said(control(place, job, "hosts"), 0)), job)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def groups_are_not_split():
    """Processes of one host that write to a file at one offset."""
    with LoopbackPlace(slots=(2, 1, 1)) as place:
        job = running(place)
        now, at = moves(place, job, "drain", "h0")
        check(now == {"h0": ("drained", 0), "h1": ("up", 3), "h2": ("up", 1)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_process_moved():
    """With its group."""
    with LoopbackPlace(3) as place:
        job = running(place)
        now, at = moves(place, job, "move", "3", "h2")
        check(now == {"h0": ("up", 2), "h1": ("up", 0), "h2": ("up", 2)}, now)
        now, at = moves(place, job, "move", "0", "h1", at=at)
        check(now == {"h0": ("up", 0), "h1": ("up", 2), "h2": ("up", 2)}, now)
        # There they stay, also after a rollback.
        place.kill(place.executed(3, at)[-1])
        place.wait_executed(0, at, 2)
        check(places(place, job) == now, places(place, job))
        place.release(0, at)
        job.check_all(reference())
        place.check_files(reference())
        place.check_clean()


def a_host_by_another_name():
    """Which shows only when its agent has come."""
    with LoopbackPlace(2) as place:
        job = running(place)
        place.is_also("h1", "10.0.0.1")
        place.is_also("h7", "10.0.0.7")
        why = refused(place, job, "--wait", "add", "10.0.0.1:2")
        check("host 10.0.0.1 is host h1, which already takes part" in why, why)
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2), "10.0.0.1": ("lost", 0)}, job)
        now, at = moves(place, job, "add", "10.0.0.7:2")
        why = refused(place, job, "--wait", "add", "h7")
        check("host h7 is host 10.0.0.7, which already takes part" in why, why)
        # When it takes part no more it may come by the other name.
        now, at = moves(place, job, "remove", "h1", at=at)
        now, at = moves(place, job, "add", "10.0.0.1", at=at)
        check(now["10.0.0.1"] == ("up", 2) and now["h1"] == ("removed", 0), now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def the_own_host_by_its_address():
    """It takes part already, which shows without an agent that would have to be started there."""
    found = subprocess.run(["hostname", "-I"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    with LoopbackPlace(2) as place:
        place.options[1] = "localhost:2,h1:2"
        job = running(place)
        for address in ("127.0.0.1", "::1", *found):
            place.will_not_return(address)
            why = refused(place, job, "--wait", "add", f"[{address}]:2" if ":" in address else address)
            check("already takes part in it" in why, address, why)
        check(len(places(place, job)) == 2, places(place, job))
        place.release(0, 3)
        is_undisturbed(place, job, reference())


def a_process_is_there_already():
    """Nothing has to be done for that; but for one that is about to leave there has."""
    with LoopbackPlace(3) as place:
        job = running(place)
        for words in (("move", "3", "h1"), ("--wait", "move", "3", "h1")):
            out = said(control(place, job, *words), 0, job)
            check(out == "process 3 is on host h1 already\n", out)
        away = asked(place, job, "move", "3", "h2", "--wait")
        back = asked(place, job, "move", "3", "h1", "--wait")
        check("to host h1 now" in said(away, 1, job), job)
        at = step_until_done(place, job, back, 3)
        now = places(place, job)
        check(now["h1"] == ("up", 2), now)
        check(said(control(place, job, "move", "3", "h1"), 0, job) == "process 3 is on host h1 already\n",
              job)
        check(said(control(place, job, "move", "0", "h0"), 0, job) == "process 0 is on host h0 already\n",
              job)
        place.release(0, at)
        is_undisturbed(place, job, reference())
        check(job.said().count("(term ") == 2, "the processes have moved in vain\n", job)


def an_agent_is_told_to_end():
    """As by a cloud that takes its host away; the others go on."""
    with LoopbackPlace(3) as place:
        job = running(place)
        agent = place.agent("h1")
        send(agent, signal.SIGTERM)
        wait_until(lambda: "host h1 is to be vacated" in job.said(), "the end of the second")
        at = step_until(place, lambda: not alive(agent), 3)
        for pid in range(4):
            place.wait_executed(pid, at)
        now = places(place, job)
        check(now == {"h0": ("up", 2), "h1": ("removed", 0), "h2": ("up", 2)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def all_agents_are_told_to_end():
    """It is the whole job that is to end."""
    with LoopbackPlace(3) as place:
        job = running(place)
        for host in place.hosts:
            send(place.agent(host), signal.SIGTERM)
        at = step_until(place, lambda: job.process.poll() is not None, 3)
        job.wait(123)
        check("to be vacated" not in job.said(), job)
        place.release(0, at)
        place.kills.append(place.committed())
        job = place.bsprun("--restart", place.store)
        job.check_tail(reference())
        place.check_files(reference())
        place.check_clean()


def two_agents_are_told_to_end():
    """There is one more."""
    with LoopbackPlace(3) as place:
        job = running(place)
        agents = [place.agent(host) for host in ("h1", "h2")]
        for agent in agents:
            send(agent, signal.SIGTERM)
        wait_until(lambda: "host h2 is to be vacated" in job.said(), "the end of the second")
        at = step_until(place, lambda: not any(map(alive, agents)), 3)
        now = places(place, job)
        check(now == {"h0": ("up", 4), "h1": ("removed", 0), "h2": ("removed", 0)}, now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_fault_comes_first():
    """The job goes on from its snapshot, and the host has nothing all the same."""
    with LoopbackPlace(3) as place:
        job = running(place, options=("-v", "--every", "1"))
        place.wait_committed(3)
        said(control(place, job, "drain", "h1"), 0)
        place.kill(place.executed(3, 3)[-1])
        place.wait_executed(0, 3, 2)
        now = places(place, job)
        check(now["h1"] == ("drained", 0) and "restart 1 of" in job.said(), now, job)
        place.release(0, 3)
        ends_well(place, job, reference())


def a_fault_in_the_middle():
    """A host that stays is lost when the snapshot is committed and the next term has not begun."""
    with LoopbackPlace(3) as place:
        job = running(place)
        place.hold(0, 6)
        ctl = asked(place, job, "drain", "h1", "--wait")
        agent = place.agent("h2")
        send(agent, signal.SIGSTOP)
        place.release(0, 3)
        wait_until(lambda: place.committed() >= 4 or place.executed(0, 6), "the snapshot")
        place.will_not_return("h2")
        send(agent, signal.SIGKILL)
        place.wait_executed(0, 6)
        at = step_until_done(place, job, ctl, 6)
        place.wait_executed(3, at)
        now = places(place, job)
        check(now["h1"] == ("drained", 0) and now["h0"] == ("up", 4), now)
        place.release(0, at)
        job.check_all(reference())
        place.check_files(reference())
        place.check_clean()


def stopped_meanwhile():
    """SIGTERM to bsprun: the job is saved, and goes on when it is restarted."""
    with LoopbackPlace(3) as place:
        job = running(place)
        ctl = asked(place, job, "drain", "h1", "--wait")
        job.signal(signal.SIGTERM)
        place.release(0, 3)
        job.wait(123)
        ctl.communicate(timeout=60)
        place.kills.append(place.committed())
        job = place.bsprun("--restart", place.store)
        job.check_tail(reference())
        place.check_files(reference())
        place.check_clean()


def mistakes():
    with LoopbackPlace(2) as place:
        job = running(place)
        for words, text in ((("drain", "h7"), "it has no host h7"),
                            (("drain", 100 * "h7"), "it has no host " + 100 * "h7"),
                            (("add", "h1"), "host h1 already takes part in it"),
                            (("move", "4", "h1"), "it has no process 4: its processes are 0 to 3"),
                            (("move", "0", "h7"), "it has no host h7")):
            check(text in refused(place, job, *words), words)
        for words in ((), ("drain",), ("hosts", "h0"), ("fly", "h0"), ("drain", "h0", "h1"),
                      ("--now", "drain", "h0"), ("move",), ("move", "0"), ("move", "h0", "0"),
                      ("move", "-1", "h0"), ("move", "0", "h0", "h1"), ("drain", ""),
                      ("drain", "h0 1"), ("add", "h0 h1"), ("add", "h1\n"), ("move", "0", 128 * "h1")):
            refused(place, job, *words, status=2)
        refused(place, "h0", "hosts", status=2)
        check("is not running" in refused(place, os.getpid(), "hosts"), "a job that is none")
        for name, text in (("h7:0", "h7:0"), ("h7:many", "many"), (":4", "host name"), ("a,b", "one host"),
                           ("h7:", "h7:"), ("h1:3", "already takes part in it"), ("H1", "already takes part in it"), ("[::1", "[::1")):
            check(text in refused(place, job, "add", name), name)
        check(set(places(place, job)) == {"h0", "h1"}, "a host that was refused")
        now, at = moves(place, job, "drain", "h1")
        check(now["h1"] == ("drained", 0), now)
        check("already drained" in refused(place, job, "drain", "h1"), job)
        check("gets no processes" in refused(place, job, "move", "0", "h1"), job)
        check("is the last" in refused(place, job, "drain", "h0"), job)
        check("is the last" in refused(place, job, "remove", "h0"), job)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def jobs_that_cannot():
    with LoopbackPlace(2) as place:
        place.hold(0, 3)
        job = place.bsprun("-np", 4, TICKER, place.files, SUPERSTEPS, "-a")
        place.wait_executed(0, 3)
        check("without --ckpt" in refused(place, job, "drain", "h1"), job)
        check("without --ckpt" in refused(place, job, "save"), job)
        place.release(0, 3)
        job.check_all(reference())
        place.check_clean()
    with LoopbackPlace(1) as place:
        place.hold(0, 3)
        job = place.start(BSPRUN, "-np", 4, "--ckpt", place.store, TICKER, place.files, SUPERSTEPS, "-a",
                          env=dict(place.env))
        place.wait_executed(0, 3)
        check("only one host" in refused(place, job, "drain", "h0"), job)
        place.release(0, 3)
        job.check_all(reference())
        place.check_clean()


def any_command(choose, now):
    """What may be asked of hosts in that state."""
    up = [host for host, (state, _) in now.items() if state == "up"]
    drained = [host for host, (state, _) in now.items() if state == "drained"]
    gone = [host for host, (state, _) in now.items() if state == "removed"]
    commands = [("rebalance",)] + [("add", host) for host in drained + gone]
    commands += [("add", f"n{len(now)}:{choose.randrange(1, 4)}")] if len(now) < 6 else []
    commands += [("move", str(choose.randrange(4)), host) for host in up]
    if len(up) > 1:
        commands += [(what, host) for host in up for what in ("drain", "remove")]
    return choose.choice(commands)


def kill_any(place, choose):
    """A process, a frozen copy, or an agent; it may have ended of itself."""
    committed = place.committed()
    wanted = "bspnode" if choose.random() < 0.3 else "ticker"
    found = [os_pid for os_pid, name in marked(place.mark).items() if name == wanted]
    if found:
        send(choose.choice(found), signal.SIGKILL)
        place.kills.append(committed)


def at_random(rounds=10, seed=None):
    """Processes are killed before and while others are moved."""
    seed = time.time_ns() if seed is None else seed
    print(f"{rounds} moves with --seed {seed}", flush=True)
    choose = random.Random(seed)
    supersteps, at = 8 * rounds, 1
    expected, killers = Reference.of(4, supersteps, "-a"), []
    with LoopbackPlace(3) as place:
        place.hold(0, at)
        job = place.ticker(4, supersteps, "-a",
                           options=("-v", "--every", "5", "--max-restarts", "100"))
        for _ in range(rounds):
            place.wait_executed(0, at)
            ctl = asked(place, job, *any_command(choose, places(place, job)), "--wait")
            if choose.random() < 0.2:
                kill_any(place, choose)
            if choose.random() < 0.3:
                killers.append(threading.Timer(choose.random() * 0.15, kill_any, (place, choose)))
                killers[-1].start()
            at = step_until_done(place, job, ctl, at, may_fail=True)  # the agent of a new host is killed
        for killer in killers:
            killer.join()
        place.release(0, at)
        ends_well(place, job, expected)


def of_words(words):
    """--moves N [--seed SEED]"""
    values = dict(zip(words[::2], map(int, words[1::2])))
    moves, seed = values["--moves"], values.get("--seed")
    while moves > 0:
        at_random(min(moves, 25), seed)
        moves, seed = moves - 25, None


if __name__ == "__main__":
    if "--moves" in sys.argv:
        try:
            of_words(sys.argv[1:])
        except Failed as failure:
            sys.exit(str(failure))
        sys.exit(0)
    main([at_random, drained, the_host_of_process_0, removed, progress_after_a_removal, saved_and_placed_anew, a_process_moved,
          a_process_is_there_already, a_host_by_another_name, the_own_host_by_its_address, a_spare_joins, new_hosts_join, a_new_host_replaces_a_lost_one,
          a_new_host_comes_while_the_next_term_begins, a_host_that_joins_has_no_processes_yet, a_host_that_cannot_join,
          a_host_where_nothing_can_be_started, a_joining_agent_is_told_to_end,
          a_host_with_a_directory_of_its_own,
          input_while_the_first_host_comes_back,
          a_lost_host_comes_back, a_lost_host_prepares_in_vain,
          groups_are_not_split, an_agent_is_told_to_end, all_agents_are_told_to_end,
          two_agents_are_told_to_end, a_fault_comes_first, a_fault_in_the_middle, stopped_meanwhile,
          mistakes, jobs_that_cannot], together=3)
