"""What the integration tests share: running jobs, counting what they leave behind, reporting.

Every job carries a marker in its environment.  A process of it is found by that marker wherever it
has got to, so "nothing is left" can be checked without knowing who should have ended it.
"""
import atexit
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "recovery"))  # behind: its harness is another one
from chosen import chosen, long  # noqa: E402,F401

# Signals that the caller ignored (nohup, a shell's background job) would be ignored by every
# program started here, and the tests are about what signals do.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1,
                signal.SIGUSR2):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT
                      else signal.SIG_DFL)

# The user's own record of hosts that fail is no part of the tests.
os.environ.setdefault("BSPZERO_HISTORY", "off")

BIN = os.environ["INTEG_BIN"]  # where bsprun and bspnode are
PROG = os.environ["INTEG_PROG"]  # prog.c, compiled
BSPRUN = os.path.join(BIN, "bsprun")
# An option of bsprun: hosts by any names are this one.
RSH = shlex.quote(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "hosts", "local-rsh"))
PATIENCE = 60.0  # seconds after which something that should happen never will

MARK = "BSPZ_INTEG_MARK"
CORES = len(os.sched_getaffinity(0))

scratch = tempfile.mkdtemp(prefix="bspzero-integ-")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)


class Failed(Exception):
    pass


def check(truth, *what):
    if not truth:
        raise Failed(" ".join(str(part) for part in what))


def fresh_mark():
    return uuid.uuid4().hex


def marked(mark):
    """The living processes that carry the marker: {os pid: name}."""
    found = {}
    wanted = (MARK + "=" + mark).encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if wanted not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{entry}/comm") as file:
                found[int(entry)] = file.read().strip()
        except OSError:
            continue
    return found


def process_stat(pid):
    """State and parent of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], int(fields[1])
    except OSError:
        return None


def kill_marked(mark):
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def wait_until(condition, what):
    """Polls a condition that must come true; a bound far above what it takes."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, "waited in vain:", what)
        time.sleep(0.01)


def environment(mark, extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BSP_", "BSPZERO_FAULT"))}
    env[MARK] = mark
    env.update(extra or {})
    return {k: v for k, v in env.items() if v is not None}


class Result:
    def __init__(self, status, out, err, mark):
        self.status, self.out, self.err, self.mark = status, out, err, mark

    def __str__(self):
        return f"status {self.status}\nstdout:\n{self.out}\nstderr:\n{self.err}"


def run(command, env=None, stdin=subprocess.DEVNULL, stdin_data=None, cwd=None, left=0, **more):
    """Runs a command to its end; nothing may be left then.  A negative status is a signal.

    Without bsprun nobody waits for the agent, which leaves a moment after process 0.
    """
    mark = fresh_mark()
    if stdin_data is not None:
        stdin = subprocess.PIPE
    process = subprocess.Popen(command, env=environment(mark, env), stdin=stdin, cwd=cwd,
                               stdout=more.pop("stdout", subprocess.PIPE),
                               stderr=more.pop("stderr", subprocess.PIPE), **more)
    try:
        out, err = process.communicate(stdin_data, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Failed("never ended:", command, marked(mark))
    finally:
        if BSPRUN not in command and process.poll() is not None:
            wait_until(lambda: not marked(mark), "the end of all processes of " + str(command))
        survivors = marked(mark)
        kill_marked(mark)
        if process.poll() is None:
            process.kill()
            process.communicate()
    result = Result(process.returncode, (out or b"").decode(errors="replace"),
                    (err or b"").decode(errors="replace"), mark)
    check(len(survivors) == left, "left behind by", command, survivors, result)
    return result


def bsprun(*words, **more):
    return run([BSPRUN, *map(str, words)], **more)


def alone():
    """A prefix that runs a command where no other job is seen (claims on cores are sockets without
    a name in the file system, so a network of its own is enough); None where that is forbidden."""
    for prefix in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            return prefix
    return None


def expect(result, status, out=None, err=None, no_err=False):
    """Compares status; out and err are regular expressions that must occur."""
    check(result.status == status, "status should be", status, "\n", result)
    if out is not None:
        check(re.search(out, result.out, re.M), "stdout lacks", repr(out), "\n", result)
    if err is not None:
        check(re.search(err, result.err, re.M), "stderr lacks", repr(err), "\n", result)
    if no_err:
        check(result.err == "", "stderr is not empty\n", result)
    return result


class Job:
    """A job that runs while the test acts.  Use as a context: leaving it cleans up."""

    def __init__(self, command, env=None, terminal=False, **more):
        self.mark = fresh_mark()
        self.out = b""
        self.terminal = terminal
        self.command = [str(word) for word in command]
        env = environment(self.mark, env)
        if terminal:
            begun, begin = os.pipe()
            self.os_pid, self.fd = pty.fork()
            if self.os_pid == 0:
                os.close(begin)
                os.read(begun, 1)
                os.execve(self.command[0], self.command, env)
            self.settings = termios.tcgetattr(self.fd)  # before the job can change them
            os.close(begin)
            os.close(begun)
            self.process = None
        else:
            self.process = subprocess.Popen(self.command, env=env, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT,
                                            stdin=more.pop("stdin", subprocess.DEVNULL), **more)
            self.os_pid, self.fd = self.process.pid, self.process.stdout.fileno()
        self.status = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_marked(self.mark)
        if self.status is None:
            self.wait_status()
        if self.process:
            self.process.stdout.close()
        else:
            os.close(self.fd)

    def wait_status(self):
        _, status = os.waitpid(self.os_pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        if self.process:
            self.process.returncode = self.status

    def _read(self, seconds):
        """More output; b"" at its end, None when the time is over."""
        readable, _, _ = select.select([self.fd], [], [], max(0, seconds))
        if not readable:
            return None
        try:
            return os.read(self.fd, 65536)
        except OSError:
            return b""

    def wait_for(self, pattern, count=1):
        """Reads until the pattern has occurred `count` times; the matches."""
        end = time.monotonic() + PATIENCE
        while True:
            found = re.findall(pattern, self.text(), re.M)
            if len(found) >= count:
                return found
            more = self._read(end - time.monotonic())
            check(more, "no", count, "times", repr(pattern), "in\n", self.text())
            self.out += more

    def wait_ready(self, count):
        """{BSP pid: os pid} of the `count` processes that said so."""
        pairs = self.wait_for(r"^ready (-?\d+) (\d+)\r?$", count)
        return {int(pid): int(os_pid) for pid, os_pid in pairs}

    def finish(self):
        """Reads all there is and waits for the end."""
        end = time.monotonic() + PATIENCE
        while True:
            more = self._read(end - time.monotonic())
            check(more is not None, "never ended:", self.command, "\n", self.text())
            if more == b"":
                break
            self.out += more
        self.wait_status()
        return self.status

    def text(self):
        return self.out.decode(errors="replace")

    def is_over(self):
        """Whether what was started has ended, though nobody may have waited for it."""
        stat = process_stat(self.os_pid)
        return self.status is not None or not stat or stat[0] in "ZX"

    def __str__(self):
        """What it is and has said so far."""
        while more := self._read(0):
            self.out += more
        return f"{' '.join(self.command)}\n{self.text()}"

    def signal(self, number):
        os.kill(self.os_pid, number)

    def members(self):
        """Like marked(); the process we started also while exec has its environment in hand."""
        members = marked(self.mark)
        stat = process_stat(self.os_pid)
        if self.status is None and self.os_pid not in members and stat and stat[0] not in "ZX":
            members[self.os_pid] = "(starting)"
        return members

    def agent(self):
        agents = [pid for pid, name in self.members().items() if name == "bspnode"]
        check(len(agents) == 1, "one agent expected:", self.members())
        return agents[0]

    def check_gone(self, at_once=True):
        """Nothing of the job is left: now, or (for whoever could not wait) soon."""
        if at_once:
            check(not self.members(), "left behind:", self.members())
        else:
            wait_until(lambda: not self.members(), "the end of all processes of the job")


def jobs(store):
    return [name for name in os.listdir(store) if os.path.isdir(os.path.join(store, name))]


def committed(store):
    """Supersteps of the snapshots of the only job."""
    found = []
    for job in jobs(store) if os.path.isdir(store) else []:
        for name in os.listdir(os.path.join(store, job)):
            if os.path.exists(os.path.join(store, job, name, "manifest")):
                found.append(int(name.partition(".")[0]))
    return sorted(found)


def wait_committed(job, store, superstep):
    """As long as the job runs that is to take it."""
    def found():
        over = job.is_over()
        if (committed(store) or [-1])[-1] >= superstep:
            return True
        check(not over, "it ends before superstep", superstep, "\n", job)
        return False
    wait_until(found, f"superstep {superstep}")


def held_up(variable, value):
    """Options for processes that stop themselves: see holdup.c."""
    preloaded = os.path.join(scratch, "holdup.so")
    if not os.path.exists(preloaded):
        os.symlink(os.environ["INTEG_HOLDUP"], preloaded)  # the path of the build may have blanks
    return ["-x", f"LD_PRELOAD={preloaded}", "-x", f"{variable}={value}",
            "-x", "ASAN_OPTIONS=" + os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"]


def held_copies(hold):
    """Options by which the first copy of a process, but 0, that begins when the file `hold` is there removes it, and stands still."""
    return held_up("HOLDUP_DETACH", hold)


def held_in_capture(hold):
    """... by which the first process that is about to make its image when the file `hold` is there removes it, and stands still."""
    return held_up("HOLDUP_CAPTURE", hold)


def wait_held(job):
    """The process that is held up."""
    held = wait_until(lambda: [pid for pid in marked(job.mark) if (process_stat(pid) or "?")[0] == "T"], "a process that is held up")
    check(len(held) == 1, held)
    return held[0]


def shared_memory():
    """Names in /dev/shm that could be ours; not what another copy's tests/conform/check_runner makes,
    to see whether that is noticed."""
    return {name for name in os.listdir("/dev/shm")
            if "bsp" in name.lower() and not name.startswith("bsp-check-runner-")}


def main(tests):
    """Runs the tests (functions) that the arguments choose; the names are printed for the log."""
    before = shared_memory()
    run = chosen(tests)
    failures = 0 if run else 1
    for name, test in run:
        start = time.monotonic()
        try:
            test()
            verdict = "ok"
        except Failed as failure:
            failures += 1
            verdict = f"FAILED: {failure}"
        print(f"{name} ({time.monotonic() - start:.2f} s): {verdict}", flush=True)
    left = shared_memory() - before
    if left:
        failures += 1
        print("left in /dev/shm:", left)
    sys.exit(1 if failures else 0)
