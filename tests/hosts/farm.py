#!/usr/bin/env python3
"""Several hosts on this machine: network namespaces with their own names, files and processes.

    with Farm(3) as farm:                  # hosts a, b, c
        farm.run("a", ["ping", "-c1", "b"])
        farm.kill_host("b")                # power off

A host has a host name, an address that the others know by its name, its own /run, /dev/shm, processes
and whatever else is asked for; every other file is the machine's.  farm.rsh is a program that is
called as `rsh HOST COMMAND ...` and works on every host like ssh.  Nothing has a name outside: hosts
of several farms have the same addresses and never meet.  When the test ends, even by kill -9, the
kernel ends everything.

Root can do all of it.  An ordinary user can where the kernel lets users make namespaces of their
own: everybody on the hosts is then root to himself, and there are no wires.

    farm.py [--hosts N] [--user] [--private DIR] [COMMAND ...]    a command (a shell) on the first host
"""
import argparse
import atexit
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from farm_faults import Faults
from farm_parts import (HERE, OWN, PATIENCE, ROOT, STRIDE, SYSTEM_PATH, USER,  # noqa: F401
                        FarmError, Host, Process, children_of, default_names, end_helper, make_program, name_of,
                        not_here, number_inside, read_line)


def require(*commands, root=False):
    """Ends the test unless farms, and these commands, can be had."""
    missing = [name for name in ("ip", "tc", "bridge", *commands)
               if not shutil.which(name, path=SYSTEM_PATH)]
    if missing:
        not_here(f"not installed: {', '.join(missing)}")
    if root and os.geteuid() != 0:
        not_here("this test needs root")
    try:
        with Farm(1):
            pass
    except FarmError as problem:
        not_here(f"no network namespaces here ({problem})")


def is_living(os_pid):
    """Whether a thread of it is: one that waits for a disk holds files and locks when the first one is gone."""
    for task in os.listdir(f"/proc/{os_pid}/task"):
        with open(f"/proc/{os_pid}/task/{task}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] not in "ZX":
                return True
    return False


# For sh: several words, of which one has blanks or the like, become one for a shell, which one word is already.
QUOTE = r"""line=
for word; do
    case $word in *[!A-Za-z0-9_./:@%+,=-]* | '') word="'$(printf %s "$word" | sed "s/'/'\\\\''/g")'" ;; esac
    line="$line $word"
done
[ $# -lt 2 ] || set -- "$line"
"""


class Farm(Faults):
    """Hosts and the network between them.

    hosts      how many, or their names
    private    paths that are empty on every host; of them, shared: paths that are seen all the same
    private_on {host: paths that are empty on this one}
    put        {path: file or directory that is seen there}, on every host; {host} stands for its name,
               {scratch} for the farm's own directory
    wires      the links can be slow and lossy, and are slower than those without; all pairs of hosts
               hear each other, and cables have no ends that could be pulled out
    direct     two hosts are linked without a switch between them; neither can be disturbed
    user       hosts know a user of this name with a home, besides those of the machine (root only)
    off        names of hosts that are down until boot(name)
    """

    def __init__(self, hosts=3, private=(), shared=(), private_on=None, put=None, wires=False,
                 direct=False, user=USER[0], off=()):
        names = default_names(hosts) if isinstance(hosts, int) else list(hosts)
        self.hosts = {name: Host(number, name) for number, name in enumerate(names)}
        self.names = names
        self.private, self.shared, self.private_on = list(private), list(shared), private_on or {}
        self.put, self.wires, self.direct = dict(put or {}), wires, direct
        self.as_root = os.geteuid() == 0
        self.user = user if self.as_root else None
        self.keeper = self.cables = None
        self.cuts = set()  # pairs of hosts that do not hear each other
        self.scratch = tempfile.mkdtemp(prefix="bspzero-farm-")
        os.chmod(self.scratch, 0o755)
        atexit.register(self.close)
        try:
            self.program = make_program(self.scratch)
            self.write_files()
            self.start_switch()
            for host in self.hosts.values():
                if host.name not in off:
                    self.boot(host.name)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends everything; harmless when it was done already."""
        atexit.unregister(self.close)
        for host in self.hosts.values():
            self.end_host(host)
        end_helper(self.cables)
        self.cables = None
        if self.keeper:
            self.keeper.communicate()  # the end of its stdin; it removes the directory
            self.keeper = None
        shutil.rmtree(self.scratch, ignore_errors=True)

    # ---- How a host is made -----------------------------------------------------------------

    def path(self, *names):
        """A path in the farm's own directory, which every host sees."""
        return os.path.join(self.scratch, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def write_files(self):
        lines = "".join(f"{host.address} {host.name}\n" for host in self.hosts.values())
        self.write("etc/hosts", "127.0.0.1 localhost\n" + lines)
        self.write("etc/nsswitch.conf", "".join(
            f"{what}: files\n" for what in ("passwd", "group", "shadow", "hosts", "services",
                                            "protocols", "networks", "ethers", "rpc")))
        self.put.setdefault("/etc/hosts", self.path("etc/hosts"))
        self.put.setdefault("/etc/nsswitch.conf", self.path("etc/nsswitch.conf"))
        self.rsh = self.write("rsh", f"#!/bin/sh\nhost=$1; shift\n{QUOTE}exec '{self.program}' rsh \"$host\" \"$@\"\n", 0o755)
        self.home = self.root_home = os.environ.get("HOME", "/")
        if self.user:
            self.write_user()

    def write_user(self):
        """The machine's users and one more; the homes of that and of root are the farm's."""
        name, number = self.user, USER[1]
        self.home, self.root_home = self.path("home"), self.path("root")
        for home, owner in ((self.home, number), (self.root_home, 0)):
            os.mkdir(home, 0o755)
            os.chown(home, owner, owner)
        entries = {"passwd": f"{name}:x:{number}:{number}::{self.home}:/bin/bash\n",
                   "group": f"{name}:x:{number}:\n", "shadow": f"{name}:*:19000:0:99999:7:::\n"}
        for file, entry in entries.items():
            with open(f"/etc/{file}") as original:
                text = re.sub(r"^(root:.*:)/root:", rf"\1{self.root_home}:", original.read(), flags=re.M)
            self.write(f"etc/{file}", text + entry, 0o640 if file == "shadow" else 0o644)
            self.put.setdefault(f"/etc/{file}", self.path("etc", file))

    def helper(self, *words, **more):
        return subprocess.Popen([self.program, *map(str, words)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def start_switch(self):
        self.keeper = self.helper("switch", "root" if self.as_root else "user", self.scratch,
                                  start_new_session=True)
        read_line(self.keeper, "the network between the hosts")
        if self.wires:
            self.cables = self.helper("wires", self.keeper.pid)
            read_line(self.cables, "the wires between the hosts")
        elif not self.direct:
            self.on_switch("ip", "link", "add", "switch", "type", "bridge", "forward_delay", "0")
            self.on_switch("ip", "link", "set", "switch", "up")

    def on_switch(self, *words, **more):
        """Runs a command where the switch is."""
        return self.command_in(self.keeper.pid, words, **more)

    def command_in(self, process, words, check=True, **more):
        done = subprocess.run([self.program, "enter", str(process), "0", "0", "/", *words],
                              capture_output=True, text=True, check=False,
                              env={"PATH": SYSTEM_PATH}, **more)
        if check and done.returncode != 0:
            raise FarmError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done

    def layout(self, host):
        """What the host sees, as host.c reads it."""
        put = [(path, source.format(host=host.name, scratch=self.scratch))
               for path, source in self.put.items()]
        for _, source in put:  # what a test will write there later
            if source.startswith(self.scratch + "/") and not os.path.exists(source):
                os.makedirs(source)
        put += [(path, path) for path in [self.scratch, *self.shared]]
        lines = [f"keep\t{i}\t{source}" for i, (_, source) in enumerate(put)]
        lines += ["empty\t/run\t0755", "empty\t/dev/shm\t1777"]
        for path in [*self.private, *self.private_on.get(host.name, ())]:
            lines.append(f"empty\t{path}\t1777")
        lines += [f"put\t{i}\t{path}" for i, (path, _) in enumerate(put)]
        lines += [f"net\t{host.address}\t16", "go"]
        return "".join(line + "\n" for line in lines)

    def boot(self, name):
        """Starts a host (again)."""
        host = self.hosts[name]
        if host.helper:
            raise FarmError(f"{name} runs already")
        host.helper = self.helper("host", self.keeper.pid, name, STRIDE * (host.number % 10),
                                  start_new_session=True)
        host.init = int(read_line(host.helper, f"host {name}"))
        self.plug(host)
        host.helper.stdin.write(self.layout(host).encode())
        host.helper.stdin.close()
        answer = read_line(host.helper, f"host {name}")
        if answer != "ready":
            raise FarmError(f"host {name}: {answer}")

    def plug(self, host):
        """Links a host to the others."""
        if self.wires:
            self.tell_wires("plug", host.number, host.init)
            host.wire = {"delay": 0, "loss": 0, "rate": 0, "out": 1, "in": 1}
            return
        if self.direct:
            if host.number == 0:
                self.on_switch("ip", "link", "add", "other", "type", "veth", "peer", "name", "eth0",
                               "netns", str(host.init))
            else:
                self.on_switch("ip", "link", "set", "other", "netns", str(host.init), "name", "eth0")
            return
        self.on_switch("ip", "link", "add", host.port, "type", "veth", "peer", "name", "eth0",
                       "netns", str(host.init))
        self.on_switch("ip", "link", "set", host.port, "master", "switch", "up")

    def end_host(self, host):
        """Kills every process of a host and waits for the end of its namespaces."""
        end_helper(host.helper)
        if host.wire and self.cables.poll() is None:
            self.tell_wires("unplug", host.number)
        host.helper, host.wire, host.init, host.stopped = None, None, 0, []

    # ---- Commands ---------------------------------------------------------------------------

    def popen(self, name, argv, user=None, cwd=None, env=None, **more):
        """A command on a host, as root (as the caller, for whom is none) or as another user."""
        host = self.hosts[name]
        if not host.init:
            raise FarmError(f"host {name} is down")
        uid = gid = 0
        home = self.home if user else self.root_home
        if user:
            uid, gid = (USER[1],) * 2 if user == self.user else pwd.getpwnam(user)[2:4]
        if env is None:
            env = {k: v for k, v in os.environ.items() if not k.startswith(("BSP_", "BSPZERO_"))}
            env.update(BSPZERO_HISTORY="off", HOME=home, PATH=os.environ.get("PATH", SYSTEM_PATH))
            if user:
                env.update(USER=user, LOGNAME=user)
        return Process([self.program, "enter", str(host.init), str(uid), str(gid), cwd or "/",
                        *map(str, argv)], env=env, **more)

    def run(self, name, argv, input=None, timeout=PATIENCE, **more):
        """Runs a command on a host to its end: status, stdout and stderr as text."""
        more.setdefault("stdin", subprocess.PIPE if input is not None else subprocess.DEVNULL)
        process = self.popen(name, argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             **more)
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise FarmError(f"no end after {timeout} s on {name}: {' '.join(map(str, argv))}\n"
                            f"{out}\n{err}") from None
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def processes(self, name):
        """The living processes of a host, without the farm's own: {number outside: name}."""
        host, found = self.hosts[name], {}
        if not host.init:
            return found
        try:
            wanted = os.readlink(f"/proc/{host.init}/ns/pid")
        except OSError:
            return found
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == host.init:
                continue
            try:
                with open(f"/proc/{entry}/stat") as file:
                    name = file.read().partition("(")[2].rpartition(")")[0]
                if is_living(entry) and os.readlink(f"/proc/{entry}/ns/pid") == wanted \
                        and name not in OWN:
                    found[int(entry)] = name
            except OSError:
                continue
        return found

    def outside(self, number):
        """The process that has this number on its host: its number here; 0: there is none."""
        for name in self.names:
            for os_pid in self.processes(name):
                try:
                    if number_inside(os_pid) == number:
                        return os_pid
                except (OSError, StopIteration):
                    continue
        return 0

    def host_of(self, os_pid):
        """The name of the host a process runs on; "": on none."""
        return next((name for name in self.names if os_pid in self.processes(name)), "")

class Loopback:
    """Hosts 127.0.0.2, 127.0.0.3, ... that are this machine: for those who may make no namespaces.

    The launcher starts commands here, in an environment that says which host it is.  A host is its
    processes; links cannot be disturbed.
    """

    MARK = "FARM_HOST"

    def __init__(self, hosts=3):
        self.names = [f"127.0.0.{number + 2}" for number in range(hosts)]
        self.scratch = tempfile.mkdtemp(prefix="bspzero-farm-")
        self.token = os.path.basename(self.scratch)
        atexit.register(self.close)
        self.root_home = os.environ.get("HOME", "/")
        self.rsh = self.write("rsh", (
            f"#!/bin/sh\nhost=$1; shift\ncase $host in 127.0.0.*) ;; *) "
            f"echo \"rsh: $host: no such host\" >&2; exit 255;; esac\n"
            f"{QUOTE}cd / && exec env -i PATH={SYSTEM_PATH} HOME=\"$HOME\" "
            f"{self.MARK}={self.token}.$host setsid -w sh -c \"$*\"\n"), 0o755)

    path, write = Farm.path, Farm.write

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        atexit.unregister(self.close)
        for name in self.names:
            self.kill_host(name)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def environment(self, name):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BSP_", "BSPZERO_"))}
        return dict(env, BSPZERO_HISTORY="off", **{self.MARK: f"{self.token}.{name}"})

    def popen(self, name, argv, env=None, **more):
        return subprocess.Popen(list(map(str, argv)), env=dict(self.environment(name), **(env or {})),
                                **more)

    run = Farm.run

    def processes(self, name):
        wanted, found = f"{self.MARK}={self.token}.{name}".encode(), {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        found[int(entry)] = name_of(entry)
            except OSError:
                continue
        return found

    def kill_host(self, name):
        while True:
            left = self.processes(name)
            if not left:
                return
            for os_pid in left:
                try:
                    os.kill(os_pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.005)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--wires", action="store_true", help="links that can be slow and lossy")
    parser.add_argument("--direct", action="store_true", help="two hosts, no switch between them")
    parser.add_argument("--user", action="store_true", help=f"the command runs as {USER[0]}")
    parser.add_argument("--private", action="append", default=[], metavar="DIR",
                        help="empty on every host")
    parser.add_argument("--private-on", action="append", default=[], metavar="HOST:DIR",
                        help="empty on this host")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    private_on = {}
    for word in options.private_on:
        host, _, directory = word.partition(":")
        private_on.setdefault(host, []).append(directory)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Farm(options.hosts, private=options.private, private_on=private_on, wires=options.wires,
              direct=options.direct) as farm:
        env = dict(os.environ, RSH=farm.rsh, HOSTS=" ".join(farm.names), HOME=farm.home)
        process = farm.popen(farm.names[0], options.command or ["bash"], env=env, cwd=os.getcwd(),
                             user=farm.user if options.user else None)
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # it has had it, too


if __name__ == "__main__":
    sys.exit(main())
