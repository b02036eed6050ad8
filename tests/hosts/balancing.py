"""bsprun --balance auto: processes leave a host that has become slow.

    balancing.py [TEST ...]
    balancing.py --gain [SUPERSTEPS [MICROSECONDS [SECONDS]]]  the figures of doc/migration.md; needs control groups
    balancing.py --overhead [PAIRS [SUPERSTEPS [MICROSECONDS]]]  what looks cost where there is nothing to gain, in
                                                        pairs of runs: ten minutes on a quiet machine
    balancing.py --standstill [MOVES [KIBIBYTES [PERCENT]]]  how long a job waits for a process that moves, and for
                                                        what: with the kernel's record of writes, with hashes, and
                                                        with images that are read only then
    balancing.py --standstill-doc [MOVES]               the same, into doc/migration.md
"""
import concurrent.futures
import contextlib
import ctypes
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

from draining import asked, said, status, stopped
from farm import Farm, FarmError
from loopback import *
from loopback import BIN, BSPRUN, BUILD, LoopbackPlace, check, long, main, marked, wait_until

BURNER = os.environ.get("BURNER", os.path.join(BUILD, "tests/hosts/burner"))
TALKER = os.environ.get("TALKER", os.path.join(BUILD, "tests/hosts/talker"))
BSPCTL = os.path.join(BIN, "bspctl")
BSPSTAT = os.path.join(BIN, "bspstat")
CGROUPS = "/sys/fs/cgroup/cpu"  # version 1
PERIOD_US = 8000
SHARES = 262144  # the most there is: other programs of the machine are not to take any of a quota
SUPERSTEPS, MICROSECONDS = 150, 5000
SET_CHILD_SUBREAPER = 36  # prctl(2)


class Quotas:
    """A control group for each host, with so many cores."""

    def __init__(self, place, cores):
        self.place, self.paths = place, {}
        for host in place.hosts:
            path = self.paths[host] = os.path.join(CGROUPS, f"{os.path.basename(place.directory)}-{host}")
            os.mkdir(path)
            self.set(host, cores)
            with open(os.path.join(path, "cpu.shares"), "w", encoding="ascii") as file:
                file.write(str(SHARES))
            place.write(f"cgroup.{host}", path)

    def set(self, host, cores):
        for name, value in (("cfs_period_us", PERIOD_US), ("cfs_quota_us", int(PERIOD_US * cores))):
            with open(os.path.join(self.paths[host], f"cpu.{name}"), "w", encoding="ascii") as file:
                file.write(str(value))

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        for path in self.paths.values():
            wait_until(lambda path=path: not open(f"{path}/cgroup.procs", encoding="ascii").read(),
                       "the end of " + path)
            os.rmdir(path)


class Cores:
    """Each host has one core, which it shares with so many busy programs.  They have more weight: each has a
    session of its own, by which Linux groups what is to have equal shares, or else by their priority."""

    def __init__(self, place, busy):
        self.busy = []
        cores = sorted(os.sched_getaffinity(0))
        for host, core, count in zip(place.hosts, cores, busy):
            place.write(f"core.{host}", str(core))
            if count > 0:
                place.write(f"nice.{host}", "15")
            self.busy += [subprocess.Popen(["taskset", "-c", str(core), "sh", "-c", "while :; do :; done"],
                                       start_new_session=True)
                          for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        for program in self.busy:
            program.kill()
            program.wait()


def burner(place, p, supersteps, microseconds, *options, state=()):
    return place.bsprun("-np", p, "--bind", "none", "--ckpt", place.store, "-v", *options, BURNER,
                        supersteps, microseconds, *state)


def answer(p, supersteps, microseconds):
    done = subprocess.run([BSPRUN, "-np", str(p), BURNER, str(supersteps), str(microseconds)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return done.stdout


def a_busy_host_is_left():
    """Processes go to the other host, which is idle; nobody has asked for that, and the answer is the same."""
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two processors"
    supersteps = 100
    expected = answer(8, supersteps, MICROSECONDS)
    with LoopbackPlace(slots=(4, 4)) as place, Cores(place, (0, 12)):
        job = burner(place, 8, supersteps, MICROSECONDS)
        job.wait(0)
        check(job.out() == expected, job.out(), expected, job)
        check("balance: " in job.said() and "to host h0" in job.said(), "nothing has moved", job)
        check("restart" not in job.said(), "that was no fault", job)
        place.check_clean()
    return None


def sent_elsewhere_meanwhile(place):
    """Whether the user could send a process to h2 that Processor Zero was about to move to h1."""
    job = burner(place, 4, 1000000, MICROSECONDS, "--every", "1000000", state=(32768, 1))
    wait_until(lambda: job.check_running() or "Processor Zero is" in job.said(), "the job")
    moving = wait_until(lambda: job.check_running() or status(place, job)["coming"], "what is restored ahead")[0]
    other = next(rank for rank in status(place, job)["ranks"] if rank["pid"] != moving["pid"])
    with stopped(other["os_pid"]):  # so that there is no barrier
        ctl = asked(place, job, "move", str(moving["pid"]), "h2", "--wait")
    said(ctl, 0, job)
    where = {rank["pid"]: rank["host"] for rank in status(place, job)["ranks"]}[moving["pid"]]
    in_time = "balance: " not in job.said().partition("bspctl: ")[0]
    check(where == "h2" or not in_time, "process", moving["pid"], "is on", where, job)
    subprocess.run([os.path.join(BIN, "bspkill"), str(job.os_pid)], check=True, env={**os.environ, **place.env},
                   stdout=subprocess.DEVNULL)
    job.process.wait()
    place.check_clean()
    return in_time


def the_user_knows_better():
    """What Processor Zero decided before goes where the user sends it."""
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two processors"
    for _ in range(5):
        with LoopbackPlace(slots=(4, 4, 4)) as place, Cores(place, (3, 0)):
            place.write("core.h2", str(sorted(os.sched_getaffinity(0))[1]))
            history = place.write("history", "bspzero-history 1\n" + share_line("h2", 0.1) + share_line("h1", 0.9))
            os.chmod(history, 0o600)
            place.env["BSPZERO_HISTORY"] = history
            if sent_elsewhere_meanwhile(place):
                return None
    raise Failed("each time the process had moved before")


def share_line(host, share, seconds=3600):
    """What a job has seen of a host, as the history has it (doc/formats.md)."""
    line = f"share 1763836400 hosts-of:{os.uname().nodename} {host} {share:.4f} 0.1000 {seconds:.3f}"
    check_sum = 2166136261
    for byte in line.encode():
        check_sum = (check_sum ^ byte) * 16777619 & 0xffffffff
    return f"{line} {check_sum:08x}\n"


def shares(history):
    """By host, what bspload shows of them."""
    done = subprocess.run([os.path.join(BIN, "bspload"), "--history", "--json"], capture_output=True, check=True,
                          env=dict(os.environ, BSPZERO_HISTORY=history))
    return {host["host"]: host for site in map(json.loads, done.stdout.splitlines()) for host in site["shares"]}


@long
def earlier_jobs_know_better():
    """Two hosts are idle and have no processes; of one of them its owner has left little in earlier jobs.  The other
    one gets those of the busy host."""
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two processors"
    for taken, idle in (("h1", "h2"), ("h2", "h1")):
        with LoopbackPlace(slots=(4, 4, 4)) as place, Cores(place, (3, 0)):
            place.write("core.h2", str(sorted(os.sched_getaffinity(0))[1]))
            history = place.write("history", "bspzero-history 1\n" + share_line(taken, 0.1) + share_line(idle, 0.9))
            os.chmod(history, 0o600)
            place.env["BSPZERO_HISTORY"] = history
            job = burner(place, 4, 1000000, MICROSECONDS)
            wait_until(lambda job=job: re.search("balance: .*\n", job.said()), "a move")
            first = re.search("balance: (.*)", job.said())[1]
            check(f"to host {idle}" in first and f"to host {taken}" not in first, taken, job)
            subprocess.run([os.path.join(BIN, "bspkill"), str(job.os_pid)], check=True, env={**os.environ, **place.env},
                           stdout=subprocess.DEVNULL)
            job.process.wait()
            now = shares(history)
            check(now[taken]["mean"] == 0.1, now)
            place.check_clean()
    return None


def wait_for_shares(place, job, seconds):
    """Until both hosts have been measured for so long: looks between which no superstep was timed do not count."""
    def measured():
        done = subprocess.run([BSPSTAT, "--json", str(job.os_pid)], stdout=subprocess.PIPE, check=True,
                              env={**os.environ, **place.env})
        hosts = json.loads(done.stdout)["hosts"]
        return all(host.get("share_seconds", 0) >= seconds for host in hosts)
    wait_until(lambda: job.check_running() or "Processor Zero is" in job.said(), "the job")
    wait_until(lambda: job.check_running() or measured(), f"{seconds} s of looks that count")


@long
def a_busy_host_is_remembered():
    """Nothing is to be gained, as both hosts are busy; later jobs know that they were."""
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two processors"
    with LoopbackPlace(slots=(4, 4)) as place, Cores(place, (6, 6)):
        history = place.write("history", "bspzero-history 1\n")
        os.chmod(history, 0o600)
        place.env["BSPZERO_HISTORY"] = history
        job = burner(place, 8, 1000000, MICROSECONDS, "-v", "--every", "1000000")
        wait_for_shares(place, job, 1)  # less is not told
        subprocess.run([os.path.join(BIN, "bspkill"), str(job.os_pid)], check=True, env={**os.environ, **place.env},
                       stdout=subprocess.DEVNULL)
        job.process.wait()
        now = shares(history)
        check(all(0 < now[host]["mean"] < 0.7 for host in ("h0", "h1")), now)
        place.check_clean()
    return None


def not_when_it_is_off():
    """There is not even a look: the term has no other reason to consult."""
    with contextlib.ExitStack() as at_once:
        jobs = []
        for balance in ("off", "auto"):
            place = at_once.enter_context(LoopbackPlace(2))
            jobs.append((place, burner(place, 2, 150, MICROSECONDS, "-v", "--every", "100000", "--balance", balance)))
        for (place, job), looks in zip(jobs, (False, True)):
            job.wait(0)
            check(("effect CONSULT" in job.said()) == looks, looks, job)
            place.check_clean()


@long
def saved_on_a_busy_machine():
    """Writers run when processors are idle, which they never are here; but for this one somebody waits."""
    with LoopbackPlace(1) as place, contextlib.ExitStack() as others:
        for _ in range(6 * len(os.sched_getaffinity(0))):
            other = others.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True))
            others.callback(other.kill)
        job = burner(place, 2, 1000000, 10000, "--every", "1000000", state=(131072, 1))
        wait_until(lambda: "Processor Zero is" in job.said(), "the job")
        env = {**os.environ, **place.env}
        for _ in range(2):
            subprocess.run([BSPCTL, "--wait", str(job.os_pid), "save"], check=True, env=env, timeout=30)
        subprocess.run([os.path.join(BIN, "bspkill"), str(job.os_pid)], check=True, env=env)
        job.process.wait()
        place.check_clean()


def comes_together(how):
    """A reason why that cannot be tried, or None."""
    words = [TALKER, "300", "200", *how]
    expected = subprocess.run([BSPRUN, "-np", "4", *words], capture_output=True, check=True).stdout
    try:
        farm = Farm(4)
    except FarmError as problem:
        return f"no network namespaces here ({problem})"
    with farm:
        for host in "cd":
            farm.rate(host, 2000000)
        done = farm.run("a", [BSPRUN, "-np", "4", "--hosts", "a:1,b:1,c:1,d:1", "--launcher", farm.rsh,
                              "--bind", "none", "--ckpt", farm.path("store"), "-v", *words])
        check(done.returncode == 0 and done.stdout == expected.decode(), done)
        hosts = re.search("hosts: (.*)", done.stderr)[1].split()
        print(f"{how or ['put']}: {' '.join(hosts)}", flush=True)
        check("balance: " in done.stderr and hosts[0] == hosts[2] and hosts[1] == hosts[3], done)
    return None


@long
def who_talks_comes_together():
    """Processes 0 and 2, and 1 and 3, give each other so much that two hosts behind slow lines hold all up.  It is the
    lines that take the time, so both ways are tried at once."""
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        why = list(both.map(comes_together, ([], ["get"])))
    return why[0]


def mistakes():
    with LoopbackPlace(2) as place:
        job = place.bsprun("--balance", "often", BURNER, 1, 1).wait(2)
        check("--balance often: give auto or off" in job.said(), job)


def told_moves(job, begun):
    """What bsprun says of moves until the job ends, and after how many seconds."""
    moved = []
    while job.process.poll() is None:
        for line in re.findall(r"balance: (.*?),", job.said())[len(moved):]:
            moved.append(f"{line} at {time.monotonic() - begun:.1f} s")
        time.sleep(0.02)
    return moved


def gain(supersteps=500, microseconds=10000, seconds=0):
    """16 processes on four hosts with 0.4 cores each, of which one has a third of that after so many seconds."""
    times = {}
    for name, balance, slots in (("off", "off", (4,) * 4), ("auto", "auto", (4,) * 4),
                                 ("best", "off", (5, 5, 5, 1))):
        with LoopbackPlace(slots=slots) as place, Quotas(place, 0.4) as quotas:
            begun = time.monotonic()
            job = burner(place, 16, supersteps, microseconds, "--balance", balance)
            if seconds > 0:
                wait_until(lambda job=job: "Processor Zero is" in job.said(), "the job")
                time.sleep(seconds)
            quotas.set("h3", 0.4 / 3)
            moved = told_moves(job, begun)
            times[name] = time.monotonic() - begun
            job.wait(0)
            print(f"{name}: {times[name]:.1f} s, answer {job.out().decode().strip()}, moved {len(moved)} times",
                  *moved, sep="; ", flush=True)
    print(f"{times['auto'] / times['best']:.2f} times the best, {times['off'] / times['auto']:.2f} times as "
          "fast as without")


def busy_seconds():
    """Processor time of the whole machine, by everybody."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, soft, steal, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def median_between(values):
    """The median and the bounds between which that of all such runs is with 95 %, by the order of the values
    alone; of less than six values all of them are within."""
    values, count, outside, tail = sorted(values), len(values), 0, 0.0
    while outside < count // 2:
        tail += math.comb(count, outside) / 2 ** count
        if tail > 0.025:
            break
        outside += 1
    least = max(outside - 1, 0)
    return statistics.median(values), values[least], values[-1 - least]


def timed(slots, p, supersteps, microseconds, balance):
    """Seconds of the job between its begin and end, processor time of bsprun, agents and processes together, and
    what others took of the machine meanwhile, in processors."""
    with LoopbackPlace(slots=slots) as place:
        others, begun = busy_seconds(), time.monotonic()
        job = burner(place, p, supersteps, microseconds, "--every", "100000", "--balance", balance,
                     f"--report={place.path('report')}")
        _, status, usage = os.wait4(job.process.pid, 0)
        job.process.returncode = os.waitstatus_to_exitcode(status)
        passed = time.monotonic() - begun
        own = usage.ru_utime + usage.ru_stime
        with contextlib.suppress(ChildProcessError):  # agents and processes that bsprun has not waited for
            while True:
                usage = os.wait4(-1, 0)[2]
                own += usage.ru_utime + usage.ru_stime
        job.wait(0)
        with open(place.path("report"), encoding="utf-8") as file:
            return json.load(file)["seconds"], own, (busy_seconds() - others - own) / passed


def overhead(pairs=20, supersteps=8000, microseconds=500):
    """Pairs of runs with and without looks, on one host and on four, with as many processes as cores.  What is
    compared are the two of a pair, which see the same machine; every other pair begins with the other one."""
    p = len(os.sched_getaffinity(0))
    check(ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "no reaper of orphans")
    for slots in ((p,), (1,) * 4):
        processes, walls, cpus, loads = sum(slots), [], [], []
        for pair in range(pairs):
            of = {balance: timed(slots, processes, supersteps, microseconds, balance)
                  for balance in (("auto", "off") if pair % 2 else ("off", "auto"))}
            walls.append(100 * (of["auto"][0] / of["off"][0] - 1))
            cpus.append(100 * (of["auto"][1] / of["off"][1] - 1))
            loads += [of["auto"][2], of["off"][2]]
        for what, values in (("time", walls), ("processor time", cpus)):
            print("{} host{}: {} with looks by without {:+.2f} % ({:+.2f} to {:+.2f} %)".format(
                len(slots), "s" if len(slots) > 1 else "", what, *median_between(values)), flush=True)
        print(f"  {pairs} pairs of {processes} processes; others took {statistics.median(loads):.2f} of {p} "
              f"processors ({min(loads):.2f} to {max(loads):.2f}), load {os.getloadavg()[0]:.1f}", flush=True)


# The parts of a move for which all wait: what Processor Zero hears or says at their ends (bsprun -vv), the last time
# that it does.
PHASES = (("capture", r"event CAPTURED "), ("write images", r"event IMAGE_DURABLE "), ("commit", r"event PERSISTED "),
          ("end the term", r"effect FINISH "), ("elect, gather", r"effect CHOOSE "), ("record", r"effect RESTORE "),
          ("restore", r"effect PASS "), ("pass, run", r"effect RUN "))
WAIT = r"effect RELEASE .* decision last snapshot"


class Heard:
    """What a job says, with the time at which it does; at each line of that sign something is done."""

    def __init__(self, job, sign=None, react=None):
        self.lines, self.sign, self.react = [], sign, react
        self.tail = subprocess.Popen(["tail", "-n", "+1", "-f", f"--pid={job.process.pid}", job.err_path],
                                     stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.tail.stdout:
            self.lines.append((time.monotonic(), line))
            if self.sign and self.sign in line:
                self.react()

    def end(self):
        self.reader.join()
        self.tail.wait()

    def phases(self):
        """Milliseconds of each, by name; {}: there was none for which all waited."""
        begins = [i for i, (_, line) in enumerate(self.lines) if re.search(WAIT, line)]
        if not begins:
            return {}
        at, index, found = self.lines[begins[-1]][0], begins[-1], {}
        for name, sign in PHASES:
            end = next((i for i, (_, line) in enumerate(self.lines) if i > index and "effect RUN " in line), None)
            last = [i for i, (_, line) in enumerate(self.lines[:end and end + 1]) if i > index and re.search(sign, line)]
            if last:
                index = last[-1]
                found[name] = 1000 * (self.lines[index][0] - at)
                at = self.lines[index][0]
        return found


# What there is of the environment, and whether a snapshot is there before, and processes are restored ahead.
WAYS = {"recorded": ({}, True, True), "hashed": ({"BSPZERO_TRACK": "off"}, True, True), "not ahead": ({}, True, False),
        "at once": ({"BSPZERO_PRECOPY": "off"}, False, True)}
SAYS = {"recorded": "what has changed is known from the kernel", "hashed": "what has changed is found by hashes",
        "not ahead": "known from the kernel, but the images are read only at the barrier",
        "at once": "without pre-copy: all of it is captured, written and read at the barrier"}
STANDSTILL_DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../doc/migration.md")


def kill_on(place, host, program):
    """The processes of a host that run a program: there those that were restored ahead."""
    for os_pid, name in marked(place.mark).items():
        with contextlib.suppress(OSError):
            with open(f"/proc/{os_pid}/environ", "rb") as file:
                if name == program and b"BSPZERO_HOST_NAME=" + host.encode() in file.read():
                    os.kill(os_pid, signal.SIGKILL)


def move_once(kibibytes, percent, way):
    """Milliseconds for which all waited, by what for; the longest superstep, the one after it, and the median."""
    env, saved, ahead = WAYS[way]
    with LoopbackPlace(slots=(2, 2)) as place:
        place.env.update(env)
        job = burner(place, 2, SUPERSTEPS, 100000, "--balance", "off", "--every", "100000", "-vv",
                     state=(kibibytes, percent))
        heard = Heard(job, None if ahead else "event AHEAD_READY",
                      lambda: kill_on(place, "h1", os.path.basename(BURNER)))
        wait_until(lambda: "RUNNING" in job.said(), "the job")
        env = {**os.environ, **place.env}
        if saved:
            subprocess.run([BSPCTL, "--wait", str(job.os_pid), "save"], check=True, env=env)
        subprocess.run([BSPCTL, "--wait", str(job.os_pid), "move", "1", "h1"], check=True, env=env)
        job.wait(0)
        heard.end()
        median, *longest = map(float, re.search(r"median ([\d.]+) ms, longest ([\d.]+) ([\d.]+)",
                                                job.program_err().decode()).groups())
        return heard.phases(), *longest, median


def standstill(moves=5, kibibytes=524288, percent=1):
    """The time for which all processes of a job waited when one of its two moved, and what it went to.  A snapshot
    of a moment before is there, as in a job that takes them regularly.  The ways take turns, so that what else the
    machine does meets all of them."""
    found = {way: [] for way in WAYS}
    for _ in range(moves):
        for way, runs in found.items():
            parts, longest, following, median = move_once(kibibytes, percent, way)
            runs.append(parts)
            print(f"{way}: all waited {sum(parts.values()):.0f} ms: " +
                  ", ".join(f"{name} {milliseconds:.0f}" for name, milliseconds in parts.items()) +
                  f"; supersteps: longest {longest:.0f} ms, the next {following:.0f}, median {median:.0f}", flush=True)
    lines = [f"Medians of {moves} moves in milliseconds, and the least time of all; load {os.getloadavg()[0]:.1f}.", "",
             "| | all wait | least |" + "".join(f" {name} |" for name, _ in PHASES),
             "|---" * (3 + len(PHASES)) + "|"]
    for way, runs in found.items():
        waits = [sum(parts.values()) for parts in runs]
        lines.append(f"| {SAYS[way]} | {statistics.median(waits):.0f} | {min(waits):.0f} |" +
                     "".join(f" {statistics.median([parts.get(name, 0) for parts in runs]):.0f} |" for name, _ in PHASES))
    print("", *lines, sep="\n")
    return lines


def standstill_doc(moves=9):
    begin, end = "<!-- standstill: begin -->\n", "<!-- standstill: end -->\n"
    lines = [f"Made by `tests/hosts/balancing.py --standstill-doc {moves}`.", *standstill(moves)]
    with open(STANDSTILL_DOC, encoding="utf-8") as file:
        before, _, rest = file.read().partition(begin)
    _, _, after = rest.partition(end)
    with open(STANDSTILL_DOC, "w", encoding="utf-8") as file:
        file.write(before + begin + "\n" + "\n".join(lines) + "\n\n" + end + after)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--gain"]:
        gain(*map(int, sys.argv[2:]))
    elif sys.argv[1:2] == ["--overhead"]:
        overhead(*map(int, sys.argv[2:]))
    elif sys.argv[1:2] == ["--standstill-doc"]:
        standstill_doc(*map(int, sys.argv[2:]))
    elif sys.argv[1:2] == ["--standstill"]:
        standstill(*map(int, sys.argv[2:]))
    else:
        main([a_busy_host_is_left, earlier_jobs_know_better, the_user_knows_better, a_busy_host_is_remembered,
              who_talks_comes_together, not_when_it_is_off, saved_on_a_busy_machine, mistakes])
