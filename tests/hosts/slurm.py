"""A real Slurm on the hosts of a farm: munged and slurmd on each, slurmctld on the first.

    with Farm(4, put=Slurm.PUT) as farm:
        slurm = Slurm(farm)
        farm.run("a", ["srun", "-N4", "hostname"], user=farm.user)

Every node has two cores, whatever the machine has.  Partition `low` is the default and its jobs are
requeued when one of `high` needs their nodes, after GRACE seconds of warning.  A node that says
nothing for SILENCE seconds is down.  No cgroups: processes are found by their parents.
"""
import os
import subprocess
import time

import farm as farms
from farm import FarmError

SILENCE = 6  # less is refused by a slurmctld under load
GRACE = 3
CORES = 2
COMMANDS = ("slurmctld", "slurmd", "srun", "munged")


class Slurm:
    """The daemons; they end with the farm."""

    PUT = {"/etc/slurm": "{scratch}/etc/slurm"}

    def __init__(self, farm, nodes=None, preempt="REQUEUE"):
        """preempt: what becomes of jobs that have to make room."""
        if not farm.user:
            raise FarmError("Slurm needs a farm made by root")
        self.farm = farm
        self.nodes = list(nodes or farm.names)
        self.controller = farm.names[0]
        self.preempt = preempt
        self.daemons = {}  # (daemon, host): process
        self.configure()
        for name in dict.fromkeys([self.controller, *self.nodes]):
            self.start_munged(name)
        self.start_controller()
        for name in self.nodes:
            self.start_node(name)
        self.wait_nodes("idle")

    def configure(self):
        farm = self.farm
        nodes = ",".join(self.nodes)
        farm.write("etc/slurm/slurm.conf", "\n".join([
            "ClusterName=farm", f"SlurmctldHost={self.controller}", "SlurmUser=root",
            "AuthType=auth/munge", "CredType=cred/munge", "MpiDefault=none",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none", "SwitchType=switch/none",
            "AccountingStorageType=accounting_storage/none", "ReturnToService=2",
            "SlurmctldPidFile=/run/slurmctld.pid", "SlurmdPidFile=/run/slurmd.pid",
            "SlurmdSpoolDir=/run/slurmd", f"StateSaveLocation={farm.path('slurm/state')}",
            f"SlurmctldLogFile={farm.path('slurm/slurmctld.log')}",
            f"SlurmdLogFile={farm.path('slurm/slurmd.%h.log')}", "SlurmctldDebug=verbose",
            "SlurmdDebug=verbose", "SchedulerType=sched/backfill",
            "SchedulerParameters=bf_interval=1,sched_interval=1,defer=0,permit_job_expansion",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
            "SlurmdParameters=config_overrides", f"SlurmdTimeout={SILENCE}", "KillWait=2",
            "WaitTime=0", "JobRequeue=1", "MinJobAge=300", "PreemptType=preempt/partition_prio",
            "PreemptMode=REQUEUE", "UnkillableStepTimeout=60", "MessageTimeout=20",
            f"NodeName={nodes} CPUs={CORES} RealMemory=1000 State=UNKNOWN",
            f"PartitionName=low Nodes={nodes} Default=YES MaxTime=INFINITE State=UP PriorityTier=1 "
            f"PreemptMode={self.preempt} GraceTime={GRACE} OverSubscribe=NO",
            f"PartitionName=high Nodes={nodes} MaxTime=INFINITE State=UP PriorityTier=10 "
            "PreemptMode=OFF OverSubscribe=NO"]) + "\n")
        os.makedirs(farm.path("slurm/state"), exist_ok=True)
        key = farm.path("munge.key")
        if not os.path.exists(key):
            with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o400), "wb") as file:
                file.write(os.urandom(1024))

    def daemon(self, name, host, words):
        log = open(self.farm.path("slurm", f"{name}.{host}.out"), "ab")
        self.daemons[name, host] = self.farm.popen(
            host, words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            env={"PATH": farms.SYSTEM_PATH, "LC_ALL": "C"})
        log.close()

    def start_munged(self, host):
        farm = self.farm
        farm.run(host, ["mkdir", "-p", "-m", "755", "/run/munge"])
        self.daemon("munged", host, [
            "munged", "--foreground", "--force", f"--key-file={farm.path('munge.key')}",
            "--socket=/run/munge/munge.socket.2", "--pid-file=/run/munge/munged.pid",
            "--seed-file=/run/munge/munged.seed", "--log-file=/run/munge/munged.log",
            "--num-threads=2"])
        self.until(lambda: farm.run(host, ["munge", "-n"]).returncode == 0, f"munged on {host}")

    def start_controller(self):
        self.daemon("slurmctld", self.controller, ["slurmctld", "-D"])
        self.until(lambda: self.farm.run(self.controller, ["scontrol", "ping"]).stdout.find("UP") > 0,
                   "slurmctld")

    def start_node(self, host):
        self.farm.run(host, ["mkdir", "-p", "/run/slurmd"])
        self.daemon("slurmd", host, ["slurmd", "-D", "-N", host])

    def boot(self, host):
        """Starts a host again after it was off, and its daemons."""
        self.farm.boot(host)
        self.daemons = {key: process for key, process in self.daemons.items() if key[1] != host}
        self.start_munged(host)
        self.start_node(host)

    def states(self):
        """{node: state}, such as idle, alloc, down*."""
        done = self.farm.run(self.controller, ["sinfo", "-h", "-N", "-p", "low", "-o", "%N %t"])
        return dict(line.split() for line in done.stdout.splitlines())

    def wait_nodes(self, state, nodes=None):
        wanted = dict.fromkeys(nodes or self.nodes, state)
        self.until(lambda: wanted.items() <= self.states().items(), f"nodes that are {state}")

    def allocated(self, job):
        """The nodes of its allocation."""
        done = self.farm.run(self.controller, ["squeue", "-h", "-j", str(job), "-o", "%N"])
        names = self.farm.run(self.controller, ["scontrol", "show", "hostnames", done.stdout.strip()])
        return names.stdout.split()

    def jobs(self):
        """{number: state} of the jobs that are not over, such as R, PD, CG."""
        done = self.farm.run(self.controller, ["squeue", "-h", "-o", "%i %t"])
        if done.returncode != 0:  # a controller that is busy does not say that there is none
            raise FarmError(f"squeue: {done.stderr}")
        return {int(line.split()[0]): line.split()[1] for line in done.stdout.splitlines()}

    def has_completed(self, job):
        """Whether it has ended by itself: one that made room is neither that nor, for a moment, among
        jobs()."""
        done = self.farm.run(self.controller, ["scontrol", "-o", "show", "job", str(job)])
        return " JobState=COMPLETED " in done.stdout

    def until(self, condition, what):
        end = time.monotonic() + farms.PATIENCE
        while not condition():
            gone = [key for key, process in self.daemons.items() if process.poll() is not None
                    and self.farm.hosts[key[1]].init]
            if gone or time.monotonic() > end:
                raise FarmError(f"waited in vain: {what}; ended: {gone}\n{self.logs()}")
            time.sleep(0.05)

    def logs(self, most=3000):
        directory, text = self.farm.path("slurm"), ""
        for name in sorted(os.listdir(directory)):
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                with open(path, errors="replace") as file:
                    text += f"---- {name}\n{file.read()[-most:]}\n"
        return text
