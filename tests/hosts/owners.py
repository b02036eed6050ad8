"""bsprun --owner-policy: the processes on a host whose owner is active are slowed, stopped, or leave, and
go on or come back when the owner is quiet.

    owners.py [TEST ...]

The owner is made up: agents see a directory instead of /var/run/utmp, /dev, /proc and /sys, and in it a
terminal whose last input is when the test says.
"""
import contextlib
import os
import platform
import re
import signal
import struct
import subprocess
import time

import draining
from draining import (SELDOM, asked, at_work, ends_well, is_undisturbed, moves, places, reference, refused,
                      running, said, step_until, step_until_done)
from loopback import *
from loopback import (BIN, BSPRUN, BUILD, LoopbackPlace, alive, check, check_said, long, main, marked, send, state_of,
                      wait_said, wait_until)

BURNER = os.environ.get("BURNER", os.path.join(BUILD, "tests/hosts/burner"))
BSPKILL = os.path.join(BIN, "bspkill")
SOON = ":input=1,quiet=0.1"
TERMINAL = "pts/9"
USER_PROCESS = 7
EVER = time.time() + 10 * 86400  # input that is always just now
CPU_V1 = "/sys/fs/cgroup/cpu"


def utmp_entry(line):
    """A session, as in utmp(5)."""
    wide = platform.machine() in ("aarch64", "ppc64le", "s390x", "riscv64")
    head = struct.pack("hxxi32s4s32s256shh", USER_PROCESS, os.getpid(), line.encode(), b"9", b"owner", b"", 0, 0)
    rest = struct.pack("qqq" if wide else "iii", 0, 0, 0) + bytes(36)
    return (head + rest).ljust(400 if wide else 384, b"\0")


class OwnedPlace(LoopbackPlace):
    """Hosts with owners, who are quiet."""

    def __init__(self, hosts=2, slots=None, options=()):
        super().__init__(hosts, slots, options)
        for host in [*self.hosts, "own"]:
            for directory in ("var/run", os.path.dirname("dev/" + TERMINAL), "proc", "sys", "etc"):
                os.makedirs(self.path("view." + host, directory), exist_ok=True)
            self.write(f"view.{host}/var/run/utmp", utmp_entry(TERMINAL))
            self.write(f"view.{host}/dev/{TERMINAL}", "")
            self.quiet(host)

    def input_at(self, host, when):
        os.utime(self.path("view." + host, "dev", TERMINAL), (when, when))

    def active(self, host):
        self.input_at(host, EVER)

    def quiet(self, host):
        self.input_at(host, 1)

    def group_of_processors(self, host):
        """Its agent may make control groups, where those of this machine are ours."""
        os.rmdir(self.path("view." + host, "sys"))
        os.symlink("/sys", self.path("view." + host, "sys"))
        os.mkdir(self.path("view." + host, "proc/self"))
        with open("/proc/self/cgroup", encoding="ascii") as file:
            self.write(f"view.{host}/proc/self/cgroup", file.read())


def options(policy, *more):
    return (*SELDOM, "--owner-policy", policy + SOON, "--balance", "off", *more)


def stopped(os_pids):
    return all(state_of(os_pid) == "T" for os_pid in os_pids)


def begun(job):
    """Until its processes run, and it can be asked."""
    wait_said(job, "Processor Zero is host")


def state(place, job, host):
    return places(place, job)[host][0]


def becomes(place, job, host, wanted):
    def so():
        job.check_running()
        return state(place, job, host) == wanted
    try:
        wait_until(so, f"{host} {wanted}")
    except Failed as failure:
        raise Failed(f"{failure}\n{job}") from None


def yielding(place, *more, policy="yield", **keywords):
    """A job whose processes on h1 are stopped: the job, and those."""
    job = running(place, options=options(policy, *more), **keywords)
    victims = at_work(place, job, "h1")
    check(len(victims) == 2, victims)
    place.active("h1")
    becomes(place, job, "h1", "stopped for its owner")
    wait_until(lambda: stopped(victims), "a stop")
    return job, victims


def times_of(os_pids):
    """Processor time, in ticks."""
    ticks = 0
    for os_pid in os_pids:
        with open(f"/proc/{os_pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks


def yields():
    """Its processes do not get to run, and no host is lost for it; then it goes on as if nothing had been."""
    with OwnedPlace(2) as place:
        job, victims = yielding(place, "--heartbeat", "1")
        check_said(job, "host h1: its owner is active (input 0 s ago): its processes are stopped")
        place.release(0, 3)
        before, since = times_of(victims), time.monotonic()
        wait_until(lambda: time.monotonic() > since + 3, "three heartbeats")
        check(stopped(victims) and times_of(victims) == before, "it is not idle", job)
        check(state(place, job, "h0") == "up", job)
        place.quiet("h1")
        is_undisturbed(place, job, reference())
        check_said(job, "host h1: its owner is quiet: its processes continue")


def yields_when_told():
    """Not for the last input within the time, and not at once: a pause of the owner is none of the end."""
    with OwnedPlace(2) as place:
        job = running(place, options=(*SELDOM, "--owner-policy", "yield:input=600,quiet=600"))
        victims = at_work(place, job, "h1")
        place.input_at("h1", time.time() - 500)
        becomes(place, job, "h1", "stopped for its owner")
        check_said(job, "host h1: its owner is active (input 50")
        place.quiet("h1")
        since = time.monotonic()
        wait_until(lambda: time.monotonic() > since + 2.5, "two looks")
        check(stopped(victims) and state(place, job, "h1") == "stopped for its owner", job)
        send(job.os_pid, signal.SIGINT)
        job.wait(130)
        place.check_clean()


def without_a_policy():
    with OwnedPlace(2) as place:
        place.active("h1")
        job = running(place)
        check(state(place, job, "h1") == "up", job)
        place.release(0, 3)
        is_undisturbed(place, job, reference())
        check("owner" not in job.said(), job)


def killed_while_stopped():
    for way in ("bspkill", "bspkill -f", "SIGINT", "a time limit", "agents"):
        with OwnedPlace(2) as place:
            more = ("--timeout", "15") if way == "a time limit" else ()
            job, victims = yielding(place, *more)
            expected = {"bspkill": 143, "bspkill -f": 143, "SIGINT": 130, "a time limit": 124}.get(way)
            if way.startswith("bspkill"):
                kill = [BSPKILL, *way.split()[1:], str(job.os_pid)]
                subprocess.run(kill, env=dict(os.environ, **place.env), check=True, capture_output=True)
            elif way == "SIGINT":
                send(job.os_pid, signal.SIGINT)
            elif way == "agents":
                for host in ("h0", "h1"):
                    place.will_not_return(host)
                    send(place.agent(host), signal.SIGKILL)
            job.wait(expected)
            check(not any(map(alive, victims)), way, "leaves what was stopped", job)
            place.check_clean()


def saved_while_stopped():
    """What is asked for at a barrier happens, and then they are stopped again."""
    with OwnedPlace(2) as place:
        job, victims = yielding(place)
        at = step_until_done(place, job, asked(place, job, "save", "--wait"), 3)
        check(place.committed() >= 3, place.committed())
        wait_until(lambda: stopped(victims), "a stop again")
        becomes(place, job, "h1", "stopped for its owner")
        place.quiet("h1")
        place.release(0, at)
        is_undisturbed(place, job, reference())


def not_saved_while_stopped():
    """The snapshot that is asked for fails: they are stopped again nevertheless."""
    with OwnedPlace(1) as place:
        job = running(place, options=options("yield", "--on-refuse", "continue"), p=2)
        ranks = at_work(place, job, "h0")
        in_the_way = [directory(place, (superstep, 1)) for superstep in range(4, draining.SUPERSTEPS + 1)]
        for path in in_the_way:
            open(path, "w").close()
        place.active("h0")
        wait_until(lambda: stopped(ranks), "a stop")
        ctl = asked(place, job, "save", "--wait")
        at = step_until(place, lambda: ctl.poll() is not None, 3)
        check("no snapshot after superstep" in said(ctl, 1, job), job)
        wait_until(lambda: stopped(ranks), "a stop again")
        becomes(place, job, "h0", "stopped for its owner")
        for path in in_the_way:
            os.unlink(path)
        place.quiet("h0")
        place.release(0, at)
        ends_well(place, job, Reference.of(2, draining.SUPERSTEPS, "-a"))


def drained_while_stopped():
    with OwnedPlace(3) as place:
        job, _ = yielding(place)
        now, at = moves(place, job, "drain", "h1")
        check(now["h1"][1] == 0 and now["h2"] == ("up", 2), now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def restarted():
    """The end with a snapshot, within its grace; the job that goes on knows the policy."""
    with OwnedPlace(2) as place:
        job, _ = yielding(place)
        send(job.os_pid, signal.SIGTERM)
        place.release(0, 3)
        job.wait(123)
        again = place.restart(options=("-v",), env=dict(place.env))
        begun(again)
        becomes(place, again, "h1", "stopped for its owner")
        wait_until(lambda: stopped(at_work(place, again, "h1")), "a stop")
        place.quiet("h1")
        again.check_tail(reference())
        place.check_clean()


@long
def a_stopped_one_is_killed():
    """The job goes back, and the processes that come of it are stopped as well."""
    for victim in ("h1", "h0"):
        with OwnedPlace(2) as place:
            job = running(place, options=(*options("yield")[:2], "1", *options("yield")[3:]))
            place.active("h1")
            becomes(place, job, "h1", "stopped for its owner")
            place.kill(at_work(place, job, victim)[-1])
            wait_said(job, "restart 1")
            wait_until(lambda: len(at_work(place, job, "h1")) == 2
                       and stopped(at_work(place, job, "h1")), "a stop of the new ones")
            check(state(place, job, "h1") == "stopped for its owner", job)
            place.quiet("h1")
            place.release(0, 3)
            ends_well(place, job, reference())


def others_compute():
    """Programs of another user, whom the agents see without a made-up directory.  However busy the machine
    is, such a program gets more than a twentieth of a processor."""
    if os.getuid() != 0:
        return "needs root"
    with LoopbackPlace(2) as place:
        job = running(place, options=(*SELDOM, "--owner-policy", "yield:load=0.05,quiet=1"))
        ranks = at_work(place, job, "h0") + at_work(place, job, "h1")
        with subprocess.Popen(["sh", "-c", "while :; do :; done"], user=12345) as other:
            try:
                wait_until(lambda: stopped(ranks), "a stop")
            finally:
                other.kill()
        check(re.search(r"its owner is active \(others use \d.\d\d cores\)", job.said()), job)
        send(job.os_pid, signal.SIGINT)
        job.wait(130)
        place.check_clean()
    return None


# ---- Ctrl-Z --------------------------------------------------------------------------------------

def local_job(place, policy):
    """One on this host alone, whose agent sees the made-up owner: the agent beside this bsprun is a script."""
    directory = place.path("bin")
    os.mkdir(directory)
    bsprun = os.path.join(directory, "bsprun")
    with open(BSPRUN, "rb") as program:
        place.write("bin/bsprun", program.read())
    place.write("bin/bspnode", f"#!/bin/sh\nexec '{os.path.join(BIN, 'bspnode')}' \"$@\" --view "
                               f"'{place.path('view.own')}'\n")
    for name in ("bsprun", "bspnode"):
        os.chmod(os.path.join(directory, name), 0o700)
    place.hold(0, 3)
    job = place.start(bsprun, "-np", 2, "-v", "--owner-policy", policy + SOON, "--ckpt", place.store,
                      "--every", "1000", TICKER, place.files, draining.SUPERSTEPS, "-a", env=dict(place.env))
    return job, [place.wait_executed(pid, 3) for pid in (0, 1)]


def control_z():
    """Ctrl-Z and the owner's policy do not undo each other's stops."""
    expected = Reference.of(2, draining.SUPERSTEPS, "-a")
    with OwnedPlace(2) as place:
        job, ranks = local_job(place, "yield")
        place.active("own")
        wait_until(lambda: stopped(ranks), "a stop")
        os.killpg(job.os_pid, signal.SIGTSTP)
        wait_until(lambda: stopped([job.os_pid]), "the stop of bsprun")
        place.quiet("own")
        since = time.monotonic()
        wait_until(lambda: time.monotonic() > since + 2.5, "two looks")
        check(stopped(ranks), "it was the user who stopped them", job)
        place.active("own")
        wait_until(lambda: time.monotonic() > since + 5, "two looks")
        os.killpg(job.os_pid, signal.SIGCONT)
        wait_said(job, "its processes continue")
        wait_until(lambda: stopped(ranks), "it is the owner who stops them")
        for number in (signal.SIGTSTP, signal.SIGCONT):
            os.killpg(job.os_pid, number)
        wait_until(lambda: stopped(ranks), "a stop again")
        place.quiet("own")
        wait_until(lambda: not any(map(lambda rank: state_of(rank) == "T", ranks)), "they go on")
        place.release(0, 3)
        job.check_all(expected)
        place.check_clean()


# ---- nice ----------------------------------------------------------------------------------------

def burner(place, supersteps, microseconds, policy, *more):
    return place.bsprun("-np", 2, "-v", "--owner-policy", policy, *more, BURNER, supersteps, microseconds)


def answer(supersteps, microseconds):
    done = subprocess.run([BSPRUN, "-np", "2", BURNER, str(supersteps), str(microseconds)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return done.stdout


def slowed(place, job):
    """Their processor time while one passes, in cores."""
    begun(job)
    becomes(place, job, "h0", "slowed for its owner")
    ranks = at_work(place, job, "h0")
    before, since = times_of(ranks), time.monotonic()
    wait_until(lambda: time.monotonic() > since + 3, "three seconds")
    return (times_of(ranks) - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - since)


def is_nice():
    """In turns, where no control group can be made: a tenth of the time."""
    expected = answer(100, 20000)
    with OwnedPlace(1) as place:
        place.active("h0")
        job = burner(place, 100, 20000, "nice" + SOON)
        cores = slowed(place, job)
        check(0 < cores < 0.5, "two processes have", cores, "cores", job)
        place.quiet("h0")
        job.wait(0)
        check(job.out() == expected, job)
        check_said(job, "host h0: its owner is active (input 0 s ago): its processes are slowed",
                   "host h0: its owner is quiet: its processes continue")
        place.check_clean()


def groups_are_usable():
    probe = os.path.join(CPU_V1, f"owners-{os.getpid()}")
    try:
        os.mkdir(probe)
        usable = os.access(os.path.join(probe, "cpu.idle"), os.W_OK)
        os.rmdir(probe)
    except OSError:
        return False
    return usable


@long
def a_group_is_idle():
    """They give way by the kernel's scheduler, and do not if there is nobody to give way to."""
    if not groups_are_usable():
        return "needs control groups"
    expected = answer(200, 10000)
    with OwnedPlace(1) as place:
        place.group_of_processors("h0")
        place.active("h0")
        job = burner(place, 200, 10000, "nice" + SOON)
        begun(job)
        becomes(place, job, "h0", "slowed for its owner")
        group = os.path.join(CPU_V1, f"bspzero-{place.agent('h0')}")

        def read(name):
            with open(os.path.join(group, name), encoding="ascii") as file:
                return file.read().split()
        wait_until(lambda: os.path.exists(group) and read("cpu.idle") == ["1"], "a group that gives way")
        there, ranks = set(map(int, read("cgroup.procs"))), set(at_work(place, job, "h0"))
        check(ranks <= there and place.agent("h0") not in there, there, "instead of", ranks, job)
        place.quiet("h0")
        wait_until(lambda: read("cpu.idle") == ["0"], "a group that does not")
        job.wait(0)
        check(job.out() == expected, job)
        wait_until(lambda: not os.path.exists(group), "the end of " + group)
        place.check_clean()
    return None


@contextlib.contextmanager
def own_group():
    """A control group that other tests do not use: its name."""
    name = f"owners-{os.getpid()}-own"
    os.mkdir(os.path.join(CPU_V1, name))
    try:
        yield name
    finally:
        for path, _, _ in os.walk(os.path.join(CPU_V1, name), topdown=False):
            os.rmdir(path)


def slowed_in_group(place, parent):
    """A job whose processes are in a control group below that one, and the path of that."""
    place.group_of_processors("h0")
    place.write("view.h0/proc/self/cgroup", f"1:cpu:/{parent}\n")
    place.active("h0")
    job = burner(place, 1000000, 10000, "nice" + SOON)
    begun(job)
    becomes(place, job, "h0", "slowed for its owner")
    group = os.path.join(CPU_V1, parent, f"bspzero-{place.agent('h0')}")
    wait_until(lambda: os.path.exists(group), "a group")
    return job, group


def a_group_is_left_and_removed():
    """By an agent that is killed, and by the next one that makes a group."""
    if not groups_are_usable():
        return "needs control groups"
    with own_group() as parent:
        with OwnedPlace(1) as place:
            job, left = slowed_in_group(place, parent)
            send(place.agent("h0"), signal.SIGKILL)
            job.wait()
            wait_until(lambda: not marked(place.mark), "the end of processes that give way to all others")
            check(os.path.exists(left), "nothing is left", job)
        with OwnedPlace(1) as place:
            job, group = slowed_in_group(place, parent)
            check(os.path.exists(group) and not os.path.exists(left), "it is still there", job)
            send(job.os_pid, signal.SIGINT)
            job.wait(130)
            place.check_clean()
    return None


# ---- leave ---------------------------------------------------------------------------------------

def leaving(place, at=3, p=4):
    """A job that has left h1 for its owner, and the superstep in which process 0 is held."""
    job = running(place, options=options("leave"), p=p)
    place.active("h1")
    wait_said(job, "host h1: its owner is active: its processes leave at the next barrier")
    at = step_until(place, lambda: places(place, job)["h1"] == ("left to its owner", 0), at)
    for pid in range(p):
        place.wait_executed(pid, at)
    return job, at


def back(place, job, at, host="h1"):
    place.quiet(host)
    wait_said(job, f"host {host}: its owner is quiet: it is used again from the next barrier")
    return step_until(place, lambda: places(place, job)[host] == ("up", 2), at)


def leaves_and_comes_back():
    with OwnedPlace(3) as place:
        job, at = leaving(place)
        check(places(place, job)["h2"] == ("up", 2), job)
        at = back(place, job, at)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_process_is_killed_when_it_has_left():
    with OwnedPlace(3) as place:
        job, at = leaving(place)
        place.kill(at_work(place, job, "h2")[-1])
        wait_said(job, "restart 1")
        at = step_until(place, lambda: places(place, job)["h1"] == ("left to its owner", 0), at)
        at = back(place, job, at)
        place.release(0, at)
        ends_well(place, job, reference())


def drained_by_the_user_meanwhile():
    """Then that its owner is quiet is no reason to use it."""
    with OwnedPlace(3) as place:
        job, at = leaving(place)
        check("the owner of host h1 is active" in refused(place, job, "add", "h1"), job)
        now, at = moves(place, job, "drain", "h1", at=at)
        check(now["h1"] == ("drained", 0), now)
        check("the owner of host h1 is active" in refused(place, job, "add", "h1"), job)
        check("already drained" in refused(place, job, "drain", "h1"), job)
        place.quiet("h1")
        wait_said(job, "host h1: its owner is quiet\n")
        check(places(place, job)["h1"] == ("drained", 0), job)
        now, at = moves(place, job, "add", "h1", at=at)
        check(now["h1"] == ("up", 2), now)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def nowhere_to_go():
    """Both owners are active: the processes are stopped until there is a host for them."""
    with OwnedPlace(2) as place:
        job, at = leaving(place)
        place.active("h0")
        wait_said(job, "host h0: its owner is active: its processes are stopped, as they cannot leave: "
                       "no other host may have processes")
        becomes(place, job, "h0", "stopped for its owner")
        wait_until(lambda: stopped(at_work(place, job, "h0")), "a stop")
        place.quiet("h1")
        wait_said(job, "host h0: its owner is active: its processes leave at the next barrier")
        at = step_until(place, lambda: places(place, job) == {"h0": ("left to its owner", 0), "h1": ("up", 4)},
                        at)
        place.quiet("h0")
        at = step_until(place, lambda: places(place, job) == {"h0": ("up", 2), "h1": ("up", 2)}, at)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def active_before_there_are_processes():
    """The owner of the program's host; the other host has not come yet, so nobody knows that processes can leave.  The
    program goes on to its beginning, for which all hosts wait."""
    with OwnedPlace(2) as place:
        place.active("h0")
        place.delay("h1")
        early = place.write("early", "")
        program = place.write("program", f"#!/bin/sh\nwhile [ -e '{early}' ]; do sleep 0.01; done\nexec \"$@\"\n")
        os.chmod(program, 0o700)
        place.hold(0, 3)
        job = place.bsprun("-np", 4, "--ckpt", place.store, *options("leave"), program, TICKER, place.files,
                           draining.SUPERSTEPS, "-a")
        wait_said(job, "host h0: its owner is active (input 0 s ago)")
        os.unlink(early)
        place.let_come("h1")
        wait_said(job, "host h0: its owner is active: its processes leave at the next barrier")
        check("cannot leave" not in job.said(), job)
        at = step_until(place, lambda: places(place, job) == {"h0": ("left to its owner", 0), "h1": ("up", 4)}, 3)
        at = back(place, job, at, "h0")
        place.release(0, at)
        is_undisturbed(place, job, reference())


def nowhere_to_go_after_a_restart():
    """The other host does not come, which the job does not wait for: its processes are stopped as soon as they run."""
    with OwnedPlace(2) as place:
        job = running(place, options=options("leave"))
        send(job.os_pid, signal.SIGTERM)
        place.release(0, 3)
        job.wait(123)
        place.active("h0")
        place.will_not_return("h1")
        again = place.restart(options=("-v",), env=dict(place.env))
        wait_said(again, "host h0: its owner is active: its processes are stopped, as they cannot leave: "
                         "no other host may have processes")
        begun(again)
        becomes(place, again, "h0", "stopped for its owner")
        wait_until(lambda: len(at_work(place, again, "h0")) == 4 and stopped(at_work(place, again, "h0")), "a stop")
        place.quiet("h0")
        again.check_tail(reference())
        place.check_clean()


def the_other_host_is_lost():
    """What has left comes back, since there is no other host; it is stopped."""
    with OwnedPlace(2) as place:
        job, at = leaving(place)
        place.will_not_return("h0")
        place.kills.append(place.committed())
        send(place.agent("h0"), signal.SIGKILL)
        becomes(place, job, "h1", "stopped for its owner")
        wait_until(lambda: len(at_work(place, job, "h1")) == 4 and stopped(at_work(place, job, "h1")), "a stop")
        place.quiet("h1")
        place.release(0, at)
        ends_well(place, job, reference())


def the_host_that_was_left_is_lost():
    """It comes back as any other host that was lost, and is used when its owner is quiet."""
    with OwnedPlace(3) as place:
        job, at = leaving(place)
        place.kills.append(place.committed())
        place.quiet("h1")
        send(place.agent("h1"), signal.SIGKILL)
        at = step_until(place, lambda: places(place, job)["h1"] == ("up", 2), at)
        place.release(0, at)
        ends_well(place, job, reference())


@long
def the_host_that_was_left_returns_to_its_owner():
    """Who is still active: it gets no processes, wherever the agent was lost."""
    for dead in (False, True):
        with OwnedPlace(3, options=("--rejoin", "0.2", "--heartbeat", "4")) as place:
            job, at = leaving(place)
            place.kills.append(place.committed())
            if dead:
                place.will_not_return("h1")
            send(place.agent("h1"), signal.SIGKILL)
            for pid in range(4):
                place.wait_executed(pid, at, times=2)
            check(places(place, job)["h1"][1] == 0, "processes are on h1\n", job)
            if dead:
                check(state(place, job, "h1") == "lost", job)
                os.unlink(place.path("dead.h1"))
            def has_returned():
                check(not at_work(place, job, "h1"), "processes are on h1\n", job)
                return state(place, job, "h1") == "left to its owner"
            at = step_until(place, has_returned, at)
            at = back(place, job, at)
            place.release(0, at)
            ends_well(place, job, reference())


def without_snapshots_it_yields():
    with OwnedPlace(2) as place:
        place.active("h1")
        place.hold(0, 3)
        job = place.bsprun("-np", 4, "-v", "--owner-policy", "leave" + SOON, TICKER, place.files,
                           draining.SUPERSTEPS, "-a")
        wait_said(job, "host h1: its owner is active: its processes are stopped, as they cannot leave: "
                       "the job takes no snapshots")
        begun(job)
        becomes(place, job, "h1", "stopped for its owner")
        place.quiet("h1")
        place.release(0, 3)
        job.check_all(reference())
        place.check_clean()


def mistakes():
    for value, what in (("never", "give none, nice, yield or leave"), ("", "give none, nice, yield or leave"),
                        ("yield:", "give thresholds"), ("nice:input=0", "give thresholds"),
                        ("nice:load=x", "give thresholds"), ("leave:quiet=60,", "give thresholds"),
                        ("leave:idle=60", "give thresholds")):
        with LoopbackPlace(2) as place:
            job = place.bsprun("--owner-policy", value, TICKER, 1).wait(2)
            check(f"--owner-policy {value}: {what}" in job.said(), job)
            check(job.said().count("\n") == 1, job)


if __name__ == "__main__":
    main([yields, yields_when_told, without_a_policy, killed_while_stopped, saved_while_stopped, not_saved_while_stopped,
          drained_while_stopped, restarted, a_stopped_one_is_killed, others_compute, control_z, is_nice,
          a_group_is_idle, a_group_is_left_and_removed, leaves_and_comes_back, a_process_is_killed_when_it_has_left,
          drained_by_the_user_meanwhile, nowhere_to_go, active_before_there_are_processes,
          nowhere_to_go_after_a_restart, the_other_host_is_lost,
          the_host_that_was_left_is_lost, the_host_that_was_left_returns_to_its_owner,
          without_snapshots_it_yields, mistakes], together=3)
