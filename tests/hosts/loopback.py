"""Jobs on several hosts all of which are this machine: the recovery tests' harness with agents that
come late, are not heard of, or cannot be started again.
"""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
for name, directory in (("RECOVERY_BIN", "bin"), ("RECOVERY_PROGRAMS", "tests/recovery"),
                     ("APPS_DIR", "apps")):
    os.environ.setdefault(name, os.path.join(BUILD, directory))
sys.path.insert(0, os.path.join(ROOT, "tests", "recovery"))
from harness import *  # noqa: E402,F403
from harness import (BIN, BSPRUN, MARK, Place, TICKER, alive, check, environment_of,  # noqa: E402
                     marked, wait_until)

PUPPET = os.path.join(BUILD, "tests/hosts/puppet")


def without_blanks(path):
    """The same file by a path that LD_PRELOAD takes."""
    if not set(path) & set(" :"):
        return path
    directory = tempfile.mkdtemp(prefix="bspzero-preloaded-", dir="/tmp")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    os.symlink(path, os.path.join(directory, os.path.basename(path)))
    return os.path.join(directory, os.path.basename(path))


HOLDUP = without_blanks(os.path.join(BUILD, "tests/integ/libholdup.so"))
MEMINFO = without_blanks(os.path.join(BUILD, "tests/hosts/libmeminfo.so"))

# What bsprun is given as --launcher.  A host is late as long as a file of its name says so; dead,
# when another one does; it is another one, of which a file has the name; far, when there is a fifo for what its agent is to be told; a puppet, when a
# file has what that shall do.  How busy it is a file may say, on
# which core it is, which machine hwloc sees, how it gives way to others, in which control group it is, how many descriptors its
# processes may have, which directory it has for itself, where its agent sees the owner, and, if there
# is a file "meminfo", how much memory its agent sees.
LAUNCHER = """#!/bin/sh
host=${{1#*@}}
shift
while [ -e {directory}/late.$host ]; do sleep 0.01; done
[ ! -e {directory}/dead.$host ] || exit 255
[ ! -e {directory}/alias.$host ] || host=$(cat {directory}/alias.$host)
case $* in *--probe*) if [ -e {directory}/load.$host ]; then exec cat {directory}/load.$host; fi;; esac
[ ! -e {directory}/far.$host ] || exec cat >{directory}/far.$host
if [ -e {directory}/join.$host ]; then
    n=$(ls {directory} | grep -c "^join.$host.")
    tee {directory}/join.$host.$((n + 1)) | BSPZERO_HOST_NAME=$host "$@"
    exit
fi
if [ -e {directory}/puppet.$host ]; then
    BSPZERO_HOST_NAME=$host PUPPET=$(cat {directory}/puppet.$host) exec '{puppet}' 2>>{directory}/puppet.log
fi
[ ! -e {directory}/core.$host ] || taskset -cp "$(cat {directory}/core.$host)" $$ >/dev/null
[ ! -e {directory}/machine.$host ] || export HWLOC_SYNTHETIC="$(cat {directory}/machine.$host)"
[ ! -e {directory}/nice.$host ] || renice -n "$(cat {directory}/nice.$host)" $$ >/dev/null
[ ! -e {directory}/limit.$host ] || ulimit -n "$(cat {directory}/limit.$host)"
if [ -e {directory}/private.$host ]; then
    export BSPZERO_HOST_NAME=$host
    exec unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$(cat {directory}/private.$host)" "$@"
fi
[ ! -e {directory}/view.$host ] || set -- "$@" --view {directory}/view.$host
if [ -e {directory}/meminfo ]; then
    export BSPZERO_HOST_NAME=$host ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0"
    MEMINFO={directory}/meminfo.$host LD_PRELOAD={meminfo} exec "$@"
fi
[ ! -e {directory}/cgroup.$host ] || echo $$ >"$(cat {directory}/cgroup.$host)/cgroup.procs"
BSPZERO_HOST_NAME=$host exec "$@"
"""


class LoopbackPlace(Place):
    """One test's hosts: h0, h1, ..., all with 2 slots, or so many as are said of each."""

    def __init__(self, hosts=2, slots=None, options=()):
        super().__init__()
        slots = slots or [2] * hosts
        self.hosts = [f"h{i}" for i in range(len(slots))]
        self.launcher = self.write("launcher", LAUNCHER.format(directory=self.directory,
                                                                       puppet=PUPPET, meminfo=MEMINFO))
        os.chmod(self.launcher, 0o700)
        self.options = ["--hosts", ",".join(map("{}:{}".format, self.hosts, slots)),
                        "--launcher", self.launcher, *options]
        # Paths of sockets are short, and $TMPDIR may be long.
        self.sockets = tempfile.mkdtemp(prefix="bspzero-status-", dir="/tmp")
        self.env = {"BSPZERO_STATUS_DIR": os.path.join(self.sockets, "status")}

    def __exit__(self, kind, *rest):
        try:
            super().__exit__(kind, *rest)
        finally:
            shutil.rmtree(self.sockets, ignore_errors=True)

    def entered(self, scene, begin):
        """What __enter__ of a scene in this place gives back; what begins badly is cleaned up, too."""
        self.__enter__()
        try:
            begin()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return scene

    def bsprun(self, *words, **more):
        return self.start(BSPRUN, *self.options, *words, env=dict(self.env), **more)

    def ticker(self, p, supersteps, *words, options=("--every", "1"), **more):
        return self.bsprun("-np", p, "--ckpt", self.store, *options, TICKER, self.files, supersteps,
                           *words, **more)

    def delay(self, host):
        self.write("late." + host, "")

    def let_come(self, host):
        os.unlink(self.path("late." + host))

    def will_not_return(self, host):
        self.write("dead." + host, "")

    def is_also(self, host, name):
        """It can be reached by that name, too."""
        self.write("alias." + name, host)

    def limit_memory(self):
        """Before the job begins."""
        self.write("meminfo", "")

    def leave_memory(self, host, mebibytes):
        """The agent of the host sees so much from now on."""
        self.write(f"new.{host}", f"MemAvailable: {mebibytes << 10} kB\n")
        os.rename(self.path(f"new.{host}"), self.path(f"meminfo.{host}"))

    def free_slowly(self, host):
        """The memory of processes that end there is not free yet."""
        self.write(f"meminfo.{host}.freeing", "")

    def looks(self, host):
        """How often the agent has looked at one since."""
        return os.path.getsize(self.path(f"meminfo.{host}.freeing"))

    def free(self, host, mebibytes):
        """Now it is; that is so much."""
        self.leave_memory(host, mebibytes)
        os.unlink(self.path(f"meminfo.{host}.freeing"))

    def make_busy(self, host, processes):
        """So many processes of others, on 4 cores, is what --load finds there."""
        self.write("load." + host, f"bspload {processes} 0 0 4 1000\n")

    def make_puppet(self, host, trick):
        """See puppet.c: it has no processes, and must be the last host."""
        self.write("puppet." + host, trick)

    def record_join(self, host):
        """What agents of that host are told first is kept; see replay_join."""
        self.write("join." + host, "")

    def replay_join(self, host, number):
        """Another agent that is told what the n-th one was told: a Popen."""
        with open(self.path(f"join.{host}.{number}"), "rb") as join:
            return self.own_agent(host, join)

    def make_far(self, host, late_with):
        """An agent that bsprun cannot end: a Popen.  It stops itself at a file or directory; see holdup.c.
        """
        os.mkfifo(self.path("far." + host))
        with open(os.open(self.path("far." + host), os.O_RDWR), "rb") as join:
            return self.own_agent(host, join, **holdup(late_with))

    def own_agent(self, host, join, **more):
        """One that is a child of the test; join: what it is told first."""
        environment = dict(os.environ, BSPZERO_HOST_NAME=host, **{MARK: self.mark}, **more)
        return subprocess.Popen([os.path.join(BIN, "bspnode"), "--join"], stdin=join,
                                stderr=subprocess.DEVNULL, env=environment)

    def agent(self, host):
        """The node agent on that host, once it is there."""
        wanted = b"BSPZERO_HOST_NAME=" + host.encode()

        def found():
            for job in self.started:
                job.check_running()
            agents = [pid for pid, name in marked(self.mark).items()
                      if name == "bspnode" and alive(pid) and wanted in environment_of(pid)]
            return agents[0] if agents else None
        return wait_until(found, f"the agent of {host}")


def holdup(file, skip=0):
    """The environment of a process that is late with a file, after so many times."""
    return held_up(HOLDUP=file, HOLDUP_SKIP=str(skip))


def holdup_behind(line):
    """The environment of a process that stops itself when it has said a line that ends so."""
    return held_up(HOLDUP_SAID=line)


def held_up(**how):
    sanitizer = os.environ.get("ASAN_OPTIONS", "")
    return {"LD_PRELOAD": HOLDUP, **how, "ASAN_OPTIONS": sanitizer + ":verify_asan_link_order=0"}


def wait_said(job, text):
    """Until bsprun has said it."""
    def found():
        job.check_running()
        return text in job.said()
    try:
        wait_until(found, text)
    except Failed as failure:
        raise Failed(f"{failure}\n{job}") from None


def check_said(job, *texts):
    for text in texts:
        check(text in job.said(), repr(text), "was not said\n", job)
