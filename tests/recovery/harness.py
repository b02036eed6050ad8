"""What the recovery tests share: jobs with snapshots that are disturbed, and what must come out.

Every process of a test carries a marker in its environment, also after it was restored, so "nothing
is left" can be checked without knowing who should have ended it.
"""
import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

from chosen import chosen, long  # noqa: F401

# Signals that the caller ignored would be ignored by every program started here.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1,
                signal.SIGUSR2):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT
                      else signal.SIG_DFL)
for _number in (signal.SIGTERM, signal.SIGHUP):  # so that what is there is removed
    signal.signal(_number, lambda number, _: sys.exit(128 + number))

BIN = os.environ["RECOVERY_BIN"]  # where bsprun and bspnode are
PROGRAMS = os.environ["RECOVERY_PROGRAMS"]  # the test programs, compiled
BSPRUN = os.path.join(BIN, "bsprun")
BSPCKPT = os.path.join(BIN, "bspckpt")
BSPCTL = os.path.join(BIN, "bspctl")
TICKER = os.path.join(PROGRAMS, "ticker")
BEFORE = os.environ.get("RECOVERY_BEFORE", "").split()  # a program that runs others
PATIENCE = float(os.environ.get("RECOVERY_PATIENCE", "60"))  # seconds after which something that should happen never will
MARK = "BSPZ_RECOVERY_MARK"
SKIPPED = 77  # the exit status of a test that cannot be run here

scratch = tempfile.mkdtemp(prefix="bspzero-recovery-")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)


class Failed(Exception):
    pass


def check(truth, *what):
    if not truth:
        raise Failed(" ".join(str(part) for part in what))


def wait_until(condition, what, patience=PATIENCE):
    """Polls a condition that must come true; a bound far above what it takes."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, "waited in vain:", what)
        time.sleep(0.002)


# ---- Processes -----------------------------------------------------------------------------------

def environment_of(os_pid):
    """The environment a living process has, as a list of bytes."""
    try:
        with open(f"/proc/{os_pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def name_of(os_pid):
    try:
        with open(f"/proc/{os_pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def state_of(os_pid):
    """The letter of its state, "" when there is no such process."""
    try:
        with open(f"/proc/{os_pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def alive(os_pid):
    return state_of(os_pid) not in ("", "Z", "X")


def children_of(os_pid):
    try:
        with open(f"/proc/{os_pid}/task/{os_pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def copies_of(agent):
    """The frozen copies of processes, and what makes or writes them, that an agent has."""
    return [child for child in children_of(agent) if name_of(child) == "bspzero-copy"]


def kill_copies(agent):
    """Then all processes come back from images: a copy that is not dead yet would be thawed, die, and cost a restart."""
    copies = copies_of(agent)
    for copy in copies:
        send(copy, signal.SIGKILL)
    wait_until(lambda: not any(map(alive, copies)), "the end of the copies")


def marked(mark):
    """The living processes that carry the marker: {os pid: name}."""
    wanted = (MARK + "=" + mark).encode()
    return {int(entry): name_of(entry) for entry in os.listdir("/proc")
            if entry.isdigit() and wanted in environment_of(entry)}


def send(os_pid, number):
    """A signal to a process that may have ended meanwhile; whether it went out."""
    try:
        os.kill(os_pid, number)
        return True
    except ProcessLookupError:
        return False


# ---- What is in a store --------------------------------------------------------------------------

def snapshots(store, job=None):
    """The committed snapshots of the only (or a named) job: [(superstep, term)], ascending."""
    found = []
    for job in [job] if job else jobs(store):
        for entry in listing(os.path.join(store, job)):
            name = re.fullmatch(r"(\d+)\.(\d+)", entry)
            if name and os.path.exists(os.path.join(store, job, entry, "manifest")):
                found.append((int(name[1]), int(name[2])))
    return sorted(found)


def directory(place, name):
    return os.path.join(place.store, jobs(place.store)[0], f"{name[0]}.{name[1]}")


def image(place, name, pid=0):
    return os.path.join(directory(place, name), f"{pid}.img")


def flip(path, at):
    """One bit of the file is another one."""
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(at % size)
        byte = file.read(1)[0]
        file.seek(at % size)
        file.write(bytes([byte ^ 0x10]))


def listing(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def jobs(store):
    return [entry for entry in listing(store) if os.path.isdir(os.path.join(store, entry))]


def temporary_files(store):
    return [os.path.join(directory, name) for directory, _, names in os.walk(store) for name in names
            if name.endswith(".tmp")]


# ---- A place for one test ------------------------------------------------------------------------

class Place:
    """Directories for the program's files and the snapshots, the jobs that use them, the end of all."""

    job_class = None  # Job, unless a test has another one
    program = TICKER

    def __init__(self):
        self.mark = uuid.uuid4().hex
        self.directory = tempfile.mkdtemp(prefix="place-", dir=scratch)
        self.files = os.path.join(self.directory, "files")
        self.store = os.path.join(self.directory, "store")
        os.mkdir(self.files)
        self.started = []
        self.kills = []  # for each: the superstep of the newest snapshot before it
        self.shared_memory = set(os.listdir("/dev/shm"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for job in self.started:
            job.give_up()
        end = time.monotonic() + PATIENCE
        while marked(self.mark) and time.monotonic() < end:
            for os_pid in marked(self.mark):
                send(os_pid, signal.SIGKILL)
            time.sleep(0.01)
        if kind is None:
            shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def start(self, *words, **more):
        job = (self.job_class or Job)(self, [str(word) for word in words], **more)
        self.started.append(job)
        return job

    def ticker(self, p, supersteps, *words, options=("--every", "1"), **more):
        """A ticker under bsprun, with snapshots."""
        return self.start(BSPRUN, "-np", p, "--ckpt", self.store, *options, self.program, self.files,
                          supersteps, *words, **more)

    def restart(self, *words, at="", options=(), **more):
        return self.start(BSPRUN, "--restart", self.store + at, *options, *words, **more)

    def committed(self):
        """The superstep of the newest snapshot, -1: there is none."""
        return max((superstep for superstep, _ in snapshots(self.store)), default=-1)

    def wait_committed(self, superstep):
        """Waits for a snapshot of a superstep or a later one, as long as a job runs that could take
        it."""
        def found():
            running = any(job.process.poll() is None for job in self.started)  # before the look
            if self.committed() >= superstep:
                return True
            check(running, "no job is left that could take a snapshot of superstep", superstep,
                  *self.started)
            return False
        wait_until(found, f"snapshot of superstep {superstep}")

    def wait_copied(self, name):
        """Waits until nothing more is written of a committed snapshot: last comes the copy of its manifest."""
        copy = os.path.join(directory(self, name), "manifest.copy")
        wait_until(lambda: os.path.exists(copy), f"{copy}, and so the end of the snapshot")

    # What the ticker does.

    def hold(self, pid, superstep):
        open(self.path("files", f"hold.{pid}.{superstep}"), "w").close()

    def release(self, pid, superstep):
        os.unlink(self.path("files", f"hold.{pid}.{superstep}"))

    def witness(self):
        """[(pid, superstep, os pid)] of every superstep that was executed."""
        try:
            with open(self.path("files", "witness")) as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        return [tuple(map(int, line.split())) for line in lines if not line.startswith("end")]

    def executed(self, pid, superstep):
        return [os_pid for who, s, os_pid in self.witness() if (who, s) == (pid, superstep)]

    def wait_executed(self, pid, superstep, times=1):
        """Waits until a process is in a superstep (for the n-th time): its os pid."""
        def found():
            for job in self.started:
                job.check_running()
            return len(self.executed(pid, superstep)) >= times
        wait_until(found, f"process {pid} in superstep {superstep}, {times} times")
        return self.executed(pid, superstep)[-1]

    def kill(self, *os_pids):
        """kill -9, of processes that live; what may be executed again is known then."""
        for os_pid in os_pids:
            check(alive(os_pid), "the victim", os_pid, "is not alive")
        committed = self.committed()
        check(committed >= 0, "nothing is committed yet")
        for line in self.ends():
            raise Failed("a process had come to its end before the kill: " + line)
        for os_pid in os_pids:
            send(os_pid, signal.SIGKILL)
        self.kills.append(committed)

    def ends(self):
        try:
            with open(self.path("files", "witness")) as file:
                return [line for line in file if line.startswith("end")]
        except FileNotFoundError:
            return []

    # What must be so in the end.

    def check_executions(self, allowed=None):
        """Nothing was executed again that lay before the newest snapshot at a kill."""
        count = {}
        for pid, superstep, _ in self.witness():
            count[pid, superstep] = count.get((pid, superstep), 0) + 1
        for (pid, superstep), times in sorted(count.items()):
            most = 1 + sum(1 for committed in self.kills if committed <= superstep)
            if times > most:
                raise Failed(f"process {pid} executed superstep {superstep} {times} times; snapshots at the kills: "
                             f"{self.kills}; executed: {self.witness()}\n" + "\n".join(map(str, self.started)))

    def check_clean(self):
        """A copy that is being made when its process ends is no orphan: it ends by itself, a moment later."""
        end = time.monotonic() + 2
        left = marked(self.mark)
        while left and set(left.values()) == {"bspzero-copy"} and time.monotonic() < end:
            time.sleep(0.01)
            left = marked(self.mark)
        check(not left, "processes are left:", left)
        check(not temporary_files(self.store), "left in the store:", temporary_files(self.store))
        def made():  # what another test makes meanwhile goes, too
            return {name for name in set(os.listdir("/dev/shm")) - self.shared_memory
                    if "bsp" in name.lower()}
        end = time.monotonic() + PATIENCE
        while made() and time.monotonic() < end:
            time.sleep(0.1)
        check(not made(), "left in /dev/shm:", made())

    def check_store(self):
        """Every byte of every snapshot that is left here is the one that was written."""
        done = subprocess.run([BSPCKPT, "verify", "--local", self.store], capture_output=True,
                              check=False)
        check(done.returncode == 0, "bspckpt verify:", done.stdout.decode(), done.stderr.decode())

    def contents(self):
        """What the program has left in its directory."""
        found = {}
        for name in sorted(os.listdir(self.files)):
            if name != "witness" and not name.startswith("hold."):
                with open(self.path("files", name), "rb") as file:
                    found[name] = file.read()
        return found

    def check_files(self, reference):
        now, then = self.contents(), reference.files
        check(sorted(now) == sorted(then), "files:", sorted(now), "instead of", sorted(then))
        for name, content in then.items():
            check(now[name] == content, name, "differs:", first_difference(now[name], content))


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return (f"lengths {len(a)} and {len(b)}, from byte {at} on "
            f"{a[max(0, at - 60):at + 60]!r} instead of {b[max(0, at - 60):at + 60]!r}")


# ---- Jobs ----------------------------------------------------------------------------------------

class Job:
    """A command whose output goes to files.  status: of its end, None before."""

    def __init__(self, place, command, stdin=None, env=None, cwd=None, **more):
        self.place, self.command, self.status = place, command, None
        number = len(place.started)
        self.out_path, self.err_path = place.path(f"out.{number}"), place.path(f"err.{number}")
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("BSP_", "BSPZERO_"))}
        environment[MARK] = place.mark
        environment["BSPZERO_HISTORY"] = "off"  # the user's own record is no part of the tests
        environment.update(env or {})
        if isinstance(stdin, bytes):
            stdin = open(place.write(f"in.{number}", stdin), "rb")
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            # A group of its own: where a group has no shell, the kernel hangs it up when one of it is
            # stopped and another one's parent ends, which tests of both do.
            self.process = subprocess.Popen(
                [*BEFORE, *command], stdin=stdin or subprocess.DEVNULL, stderr=err,
                env=environment, cwd=cwd, process_group=0, **{"stdout": out, **more})
        if hasattr(stdin, "close") and stdin is not sys.stdin:
            stdin.close()
        self.os_pid = self.process.pid

    def out(self):
        with open(self.out_path, "rb") as file:
            return file.read()

    def err(self):
        with open(self.err_path, "rb") as file:
            return file.read()

    def program_err(self):
        """stderr without what bsprun itself said."""
        return b"".join(line for line in self.err().splitlines(keepends=True)
                        if not line.startswith(b"bsprun: "))

    def said(self):
        """What bsprun said."""
        return "".join(line + "\n" for line in self.err().decode(errors="replace").splitlines()
                       if line.startswith("bsprun: "))

    def __str__(self):
        return (f"{' '.join(self.command)}\nstatus {self.status}\nstdout:\n"
                f"{self.out().decode(errors='replace')[-1500:]}\nstderr:\n"
                f"{self.err().decode(errors='replace')[-12000:]}")

    def check_running(self):
        """Fails when it has ended although nobody has waited for it yet."""
        if self.status is None and self.process.poll() is not None:
            self.status = self.process.returncode
            raise Failed(f"ended too early: {self}")

    def signal(self, number):
        send(self.os_pid, number)

    def agent(self):
        """The node agent, once it is there."""
        def found():
            self.check_running()
            agents = [pid for pid in children_of(self.os_pid)
                      if name_of(pid) == "bspnode" and alive(pid)]
            return agents[0] if agents else None
        return wait_until(found, "the node agent")

    def wait(self, status=None):
        try:
            self.status = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"never ended: {self}\nprocesses: {marked(self.place.mark)}")
        check(status is None or self.status == status, "the status should be", status, "\n", self)
        return self

    def give_up(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def check_all(self, reference):
        """It ended as the undisturbed one did."""
        self.wait(0)
        check(self.out() == reference.out, "stdout", first_difference(self.out(), reference.out),
              "\n", self)
        check(self.program_err() == reference.err, "stderr",
              first_difference(self.program_err(), reference.err), "\n", self)

    def check_tail(self, reference):
        """It showed the rest of what the undisturbed one did."""
        self.wait(0)
        check(self.out() and reference.out.endswith(self.out()), "stdout is no tail\n", self)
        check(reference.err.endswith(self.program_err()), "stderr is no tail\n", self)


# ---- Undisturbed runs ----------------------------------------------------------------------------

class Reference:
    """What comes out when nobody disturbs: without snapshots, so that they are not trusted here."""

    kept = {}

    def __init__(self, p, words, stdin):
        with Place() as place:
            job = place.start(BSPRUN, "-np", p, TICKER, place.files, *words, stdin=stdin).wait(0)
            place.check_clean()
            self.out, self.err, self.files = job.out(), job.program_err(), place.contents()
            check(b"process 0 ends with" in self.out, "the program does nothing\n", job)

    @staticmethod
    def of(p, *words, stdin=None):
        key = (p, words, stdin)
        if key not in Reference.kept:
            Reference.kept[key] = Reference(p, words, stdin)
        return Reference.kept[key]


def passes(name, function):
    """Runs a test and prints its verdict; whether it passed."""
    start = time.monotonic()
    passed = False
    try:
        verdict = function() or "ok"
        passed = True
    except Failed as failure:
        verdict = f"FAILED: {failure}"
    except Exception:  # an error in the test itself: as bad as a failure
        verdict = f"FAILED: {traceback.format_exc()}"
    print(f"{name} ({time.monotonic() - start:.2f} s): {verdict}", flush=True)
    return passed


def passing_together(tests, together):
    """Runs tests that mostly wait in processes of their own, `together` at a time; how many passed.

    Each has what was made before, and none sees what another does.  What one prints comes at its end.
    """
    waiting, running, passed = list(tests), {}, 0
    try:
        while waiting or running:
            while waiting and len(running) < together:
                test, output = waiting.pop(0), tempfile.TemporaryFile("w+")
                os_pid = os.fork()
                if os_pid == 0:
                    atexit._clear()  # of the parent: the scratch directory, and places that are its
                    os.dup2(output.fileno(), 1)
                    sys.stdout = os.fdopen(1, "w")
                    status = 1
                    try:
                        status = 0 if passes(*test) else 1
                    except SystemExit as end:  # as by a signal: its places have been cleared
                        status = end.code if isinstance(end.code, int) and end.code else 1
                    finally:
                        atexit._run_exitfuncs()
                        sys.stdout.flush()
                        os._exit(status)
                running[os_pid] = output
            os_pid, status = os.wait()
            output = running.pop(os_pid, None)
            if output is not None:
                output.seek(0)
                print(output.read(), end="", flush=True)
                output.close()
                if os.waitstatus_to_exitcode(status) == SKIPPED:
                    sys.exit(SKIPPED)
                passed += status == 0
    finally:
        for os_pid in running:
            send(os_pid, signal.SIGTERM)
        for os_pid in running:
            os.waitpid(os_pid, 0)
    return passed


def main(tests, together=1):
    """Runs the tests (functions, or pairs of a name and a function) that the arguments choose."""
    run = chosen(tests)
    if together > 1 and len(run) > 1:
        passed = passing_together(run, together)
    else:
        passed = sum(passes(*test) for test in run)
    print(f"{passed} of {len(run)} passed")
    sys.exit(0 if run and passed == len(run) else 1)
