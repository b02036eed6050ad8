"""Jobs on the hosts of a farm: the recovery tests' harness, with bsprun on a host that computes
nothing and the processes on the others.

Hosts: the first is where the user sits; the rest are given to bsprun.  All see the same files unless
a test says otherwise.
"""
import os
import signal
import sys

import farm as farms
from farm import Farm, FarmError, number_inside  # noqa: F401

BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(farms.ROOT, "build")))
for name, directory in (("RECOVERY_BIN", "bin"), ("RECOVERY_PROGRAMS", "tests/recovery"),
                     ("APPS_DIR", "apps")):
    os.environ.setdefault(name, os.path.join(BUILD, directory))
sys.path.insert(0, os.path.join(farms.ROOT, "tests", "recovery"))
import harness  # noqa: E402
from harness import *  # noqa: E402,F403
from harness import (BSPRUN, Failed, Job, Place, TICKER, check, name_of, send,  # noqa: E402
                     snapshots, temporary_files, wait_until)

HEARTBEAT = 4  # seconds without a word after which a host is lost; more than a busy machine is silent
GONE = 20  # seconds for what has been told to go; a host that was cut off takes its heartbeat


class HostJob(Job):
    """A command on the first host."""

    def __init__(self, place, command, **more):
        farm = place.farm
        harness.BEFORE[:] = [farm.program, "enter", str(farm.hosts[farm.names[0]].init), "0", "0",
                             "/"]
        try:
            super().__init__(place, command, **more)
        finally:
            harness.BEFORE[:] = []
        def inside():
            found = farms.children_of(self.process.pid)
            return found[0] if found else None
        wait_until(lambda: inside() or self.process.poll() is not None, "bsprun")
        self.os_pid = inside() or self.process.pid

    def give_up(self):
        send(self.os_pid, signal.SIGKILL)
        super().give_up()

    def agent(self, host=None):
        """The agent on a host (the first of the job)."""
        host = host or self.place.job_hosts[0]

        def found():
            self.check_running()
            agents = [pid for pid, name in self.place.farm.processes(host).items()
                      if name == "bspnode"]
            return agents[0] if agents else None
        return wait_until(found, f"the agent on {host}")


class HostPlace(Place):
    """A farm, and the directories and jobs of one test."""

    job_class = HostJob

    def __init__(self, hosts, slots=1, spares=0, heartbeat=HEARTBEAT, options=(), private=False,
                 here=False, **farm):
        """hosts: of the job; one more is bsprun's, unless that is to take part (here); or the names of
        all, bsprun's first.  private: each host has a directory of snapshots of its own."""
        super().__init__()
        os.chmod(harness.scratch, 0o755)
        self.private = private
        if private:
            self.store = self.path("own", "store")
            os.mkdir(self.path("own"))
            farm.setdefault("private", []).append(self.path("own"))
        self.farm = Farm(hosts if isinstance(hosts, list) else hosts + (not here), **farm)
        self.job_hosts = self.farm.names[not here:]
        self.slots = slots
        self.options = ["--launcher", self.farm.rsh, "--heartbeat", heartbeat, *options]
        if spares:
            self.options += ["--spares", spares]

    def host_options(self, names=None):
        names = names or self.job_hosts
        return ["--hosts", ",".join(f"{name}:{self.slots}" for name in names), *self.options]

    def __exit__(self, kind, *rest):
        self.farm.close()
        super().__exit__(kind, *rest)

    def ticker(self, p, supersteps, *words, options=("--every", "1"), **more):
        return super().ticker(p, supersteps, *words, "-a",
                              options=[*options, *self.host_options()], **more)

    def restart(self, *words, at="", options=(), names=None, **more):
        return super().restart(*words, at=at, options=[*self.host_options(names), *options], **more)

    # ---- Who runs where ----

    def witness(self):
        """As the ticker wrote it, with this machine's numbers; of those that are gone, negative."""
        here = {}
        for name in self.farm.names:
            for os_pid in self.farm.processes(name):
                try:
                    here[number_inside(os_pid)] = os_pid
                except (OSError, StopIteration):
                    continue
        return [(pid, superstep, here.get(number, -number))
                for pid, superstep, number in super().witness()]

    def where(self, pid, superstep):
        """The host on which a process executed a superstep."""
        os_pid = self.executed(pid, superstep)[-1]
        host = self.farm.host_of(os_pid)
        check(host, "process", pid, "is nowhere")
        return host

    # ---- What is in the stores ----

    def store_on(self, host):
        """The path by which a host's own directory can be read here."""
        return f"/proc/{self.farm.hosts[host].init}/root{self.store}"

    def stores(self):
        """The directories of snapshots on hosts that run."""
        if not self.private:
            return [self.store]
        return [self.store_on(name) for name in self.farm.names if self.farm.hosts[name].init]

    def committed(self):
        """With directories of their own all hosts of the job have a manifest before it counts."""
        newest = {name: max((superstep for superstep, _ in snapshots(self.store_on(name) if self.private else self.store)),
                            default=-1)
                  for name in self.farm.names if self.farm.hosts[name].init}
        if not self.private:
            return max(newest.values(), default=-1)
        of_job = [superstep for name, superstep in newest.items()
                  if superstep >= 0 and "bspnode" in self.farm.processes(name).values()]
        return min(of_job) if of_job else max(newest.values(), default=-1)

    def wait_kept(self, superstep, pid, hosts):
        """Until these hosts have the image."""
        def have(host):
            return any(name.split(".")[0] == str(superstep) and
                       os.path.exists(os.path.join(directory, f"{pid}.img"))
                       for directory, _, _ in os.walk(self.store_on(host))
                       for name in [os.path.basename(directory)])
        wait_until(lambda: all(have(host) for host in hosts), f"{pid}.img of {superstep} on {hosts}")

    # ---- Faults ----

    def strike(self, *faults):
        """Faults (functions) that cost what was not committed before."""
        committed = self.committed()
        check(committed >= 0, "nothing is committed yet")
        for fault in faults:
            fault()
        self.kills.append(committed)

    # ---- What must be so in the end ----

    def check_clean(self):
        """Nothing is left on any host that runs."""
        def left():
            return {name: found for name in self.farm.names
                    if (found := self.farm.processes(name))}
        try:
            wait_until(lambda: not left(), "the end of all processes", GONE)
        except Failed:
            raise Failed(f"processes are left: {left()}") from None
        super().check_clean()
        for store in self.stores():
            check(not temporary_files(store), "left in the store:", temporary_files(store))

    def check_store(self):
        if not self.private:
            super().check_store()


def copied_build(farm):
    """A directory with bin and programs that every user of the farm may read."""
    for name, files in {"bin": [os.path.join(harness.BIN, name)
                                for name in ("bsprun", "bspnode", "bspckpt", "bspctl", "bspstat")],
                        "programs": [TICKER]}.items():
        directory = farm.path("built", name)
        os.makedirs(directory, exist_ok=True)
        for file in files:
            harness.shutil.copy(file, directory)
    return farm.path("built")
