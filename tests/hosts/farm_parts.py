"""What the farms of farm.py are made of: hosts, commands on them, the helper that makes them."""
import os
import select
import shutil
import string
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Seconds after which something that should happen never will.
PATIENCE = float(os.environ.get("RECOVERY_PATIENCE", "60"))
OWN = ("farm-init", "farm-session")  # processes of a host that belong to the farm
STRIDE = 3000  # from the numbers of one host's processes to those of the next, in small farms
USER = ("bspuser", 54321)
SOURCES = ("farmhost", "host", "session", "enter", "wire")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class FarmError(Exception):
    pass


def not_here(reason):
    """Ends the test because the machine cannot do what it needs."""
    if os.environ.get("CI") == "true":
        print(f"FAILED: {reason}, and nothing is skipped where CI=true")
        sys.exit(1)
    print(f"skipped: {reason}")
    sys.exit(77)


def default_names(count):
    return list(string.ascii_lowercase[:count]) if count <= 26 else [f"n{i}" for i in range(count)]


def make_program(directory):
    """The helper of the hosts: built already, or compiled now."""
    path = os.path.join(directory, "farmhost")
    built = os.environ.get("FARM_PROGRAM")
    if built:
        shutil.copy(built, path)
        return path
    sources = [os.path.join(HERE, name + ".c") for name in SOURCES]
    subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", f"-I{ROOT}", "-o", path, *sources],
                   check=True)
    return path


def read_line(process, what):
    """A line of a helper's output; what it said instead when it failed."""
    line = b""
    end = time.monotonic() + PATIENCE
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0, end - time.monotonic()))
        byte = os.read(process.stdout.fileno(), 1) if ready else b""
        if not byte:
            process.kill()
            words = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
            raise FarmError(f"{what}: {words or 'no answer'}")
        line += byte
    return line.decode().strip()


def end_helper(process):
    """Kills a helper, if there is one."""
    if process:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def children_of(os_pid):
    try:
        with open(f"/proc/{os_pid}/task/{os_pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def name_of(os_pid):
    try:
        with open(f"/proc/{os_pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def number_inside(os_pid):
    """The number a process has in its own namespace."""
    with open(f"/proc/{os_pid}/status") as file:
        return next(int(line.split()[-1]) for line in file if line.startswith("NSpid:"))


class Host:
    """One host; what is None or empty is down."""

    def __init__(self, number, name):
        self.number, self.name = number, name
        self.address = f"10.77.{number // 200}.{number % 200 + 1}"
        self.port = f"p{number}"
        self.helper = None
        self.wire = None  # with wires: what its link is like
        self.init = 0  # its first process
        self.stopped = []  # processes that freeze stopped


class Process(subprocess.Popen):
    """A command on a host.  inside(): the process itself; pid is only the one that looks after it."""

    def inside(self):
        found = children_of(self.pid)
        return found[0] if found else 0
