"""bsprun in a Slurm allocation, as an ordinary user: hosts found by itself, preemption, a node that
dies, scancel.
"""
import os
import re
import sys

from jobs import *
from jobs import copied_build
from slurm import COMMANDS, Slurm

SUPERSTEPS = 20
BATCH = """#!/bin/sh
cd "$HOME"
if ls store/*/*/manifest >/dev/null 2>&1; then
    exec {bsprun} --restart store
fi
exec {bsprun} --ckpt store --every 1 {options} {ticker} files {supersteps} -a {words}
"""


class Cluster:
    """A farm with Slurm and what a user needs there."""

    def __init__(self, hosts, controller_apart=False, preempt="REQUEUE"):
        self.farm = Farm(hosts, put=Slurm.PUT)
        try:
            self.slurm = Slurm(self.farm, self.farm.names[controller_apart:], preempt=preempt)
            self.built = copied_build(self.farm)
            self.bsprun = os.path.join(self.built, "bin", "bsprun")
            self.ticker = os.path.join(self.built, "programs", "ticker")
            self.home = self.farm.home
            os.mkdir(os.path.join(self.home, "files"))
            os.chown(os.path.join(self.home, "files"), farms.USER[1], farms.USER[1])
        except BaseException:
            self.farm.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.farm.close()

    def run(self, *words, **more):
        return self.farm.run("a", words, user=self.farm.user, cwd=self.home, **more)

    def submit(self, options, *words, bsprun_options=""):
        script = BATCH.format(bsprun=self.bsprun, ticker=self.ticker, supersteps=SUPERSTEPS,
                              options=bsprun_options, words=" ".join(words))
        done = self.run("sbatch", "--parsable", "-o", "out", "-e", "err", "--open-mode=append",
                        *options, input=script)
        check(done.returncode == 0, done)
        return int(done.stdout)

    def submit_guide_s(self, *options, **environment):
        """The batch script of the guide."""
        harness.shutil.copy(os.path.join(farms.ROOT, "doc", "slurm.sbatch"), self.home)
        path = os.path.join(self.built, "bin") + ":" + farms.SYSTEM_PATH
        variables = "".join(f",{name}={value}" for name, value in environment.items())
        done = self.run("sbatch", "--parsable", *options, "-o", "out", "-e", "err",
                        f"--export=ALL,PATH={path},BSPZERO_EVERY=1{variables}", "slurm.sbatch",
                        "store", self.ticker, "files", str(SUPERSTEPS), "-a")
        check(done.returncode == 0, done)
        return int(done.stdout)

    def text(self, name):
        try:
            with open(os.path.join(self.home, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def executed(self, pid, superstep):
        return any(line.split()[:2] == [str(pid), str(superstep)]
                   for line in self.text("files/witness").decode().splitlines())

    def with_a(self, program):
        """The nodes on which it runs."""
        return [name for name in self.farm.names if program in self.farm.processes(name).values()]

    def hold(self, superstep, p):
        for pid in range(p):
            open(os.path.join(self.home, f"files/hold.{pid}.{superstep}"), "w").close()

    def release(self, superstep, p):
        for pid in range(p):
            os.unlink(os.path.join(self.home, f"files/hold.{pid}.{superstep}"))

    def committed(self):
        return max((s for s, _ in harness.snapshots(os.path.join(self.home, "store"))), default=-1)

    def until(self, condition, what):
        try:
            self.slurm.until(condition, what)
        except FarmError as problem:
            raise Failed(f"{problem}\nout: {self.text('out')}\nerr: {self.text('err')}") from None

    def wait_over(self):
        self.until(lambda: not self.slurm.jobs(), "the end of the job")
        for name in self.farm.names:
            wait_until(lambda: not [n for n in self.farm.processes(name).values()
                                    if n.startswith(("bsp", "ticker"))], f"the end of all on {name}")

    def check_answer(self, p, *words):
        reference = harness.Reference.of(p, SUPERSTEPS, "-a", *words)
        out = self.text("out")
        check(out == reference.out, "stdout", harness.first_difference(out, reference.out),
              self.text("err").decode())


def an_allocation():
    """salloc -N4 bsprun ./prog: one process per core of the allocation."""
    with Cluster(4) as cluster:
        done = cluster.run("salloc", "-Q", "-N4", "--ntasks-per-node=2", cluster.bsprun,
                           cluster.ticker, "files", str(SUPERSTEPS), "-a", timeout=60)
        check(done.returncode == 0, done)
        check(done.stdout.encode() == harness.Reference.of(8, SUPERSTEPS, "-a").out, done)
        done = cluster.run("salloc", "-Q", "-N2", "--ntasks-per-node=1", cluster.bsprun, "-np", "2",
                           "--hosts", "c:1,d:1", cluster.ticker, "files", "3", "-a", timeout=60)
        check(done.returncode != 0 and re.search("bsprun: .*(allocation|[cd])", done.stderr),
              "hosts outside the allocation", done)


def preempted(mode):
    with Cluster(2, preempt=mode) as cluster:
        cluster.hold(7, 2)
        cluster.hold(15, 2)
        job = cluster.submit_guide_s("-N2", "--ntasks-per-node=1", "-c2")
        cluster.until(lambda: cluster.executed(0, 7) and cluster.committed() >= 7, "superstep 7")
        urgent = cluster.farm.popen("a", ["srun", "-p", "high", "-N2", "-c2", "true"],
                                    user=cluster.farm.user)
        cluster.until(lambda: " PreemptTime=None " not in cluster.farm.run(
            "a", ["scontrol", "-o", "show", "job", str(job)]).stdout, "the warning")
        # Else the processes might come to where they are held again before bsprun has asked.
        cluster.until(lambda: b"has to make room" in cluster.text("err"), "what bsprun makes of it")
        cluster.release(7, 2)
        check(urgent.wait(60) == 0, "the urgent job")
        check("stopped after a snapshot" in cluster.text("err").decode(), cluster.text("err").decode())
        cluster.release(15, 2)

        def again():
            cluster.farm.run("a", ["scontrol", "update", f"jobid={job}", "starttime=now"])
            return cluster.slurm.has_completed(job)
        cluster.until(again, "the end of the job")
        cluster.wait_over()
        cluster.check_answer(2)
        # It went on from where it was: nothing was executed twice, and not all by the same process.
        lines = [line.split() for line in cluster.text("files/witness").decode().splitlines()
                 if not line.startswith("end")]
        check(len(lines) == len({tuple(line[:2]) for line in lines}), lines)
        check(len({line[2] for line in lines if line[0] == "0"}) == 2, lines)


def preemption():
    """With the script of the guide: a job that has to make room saves itself, and goes on when there
    is room again."""
    preempted("REQUEUE")


def preemption_that_cancels():
    """Where Slurm would not start the job again, the script has it do so."""
    preempted("CANCEL")


def lose_a_node(*options):
    """Of 4 nodes 3 have a process each; one of them dies.  The fourth takes its place."""
    with Cluster(4) as cluster:
        cluster.submit(["-N4", "--ntasks-per-node=1", "--no-kill"],
                       bsprun_options=" ".join(("-np 3 --heartbeat 2", *options)))
        cluster.hold(7, 3)
        cluster.hold(9, 3)
        cluster.until(lambda: all(cluster.executed(pid, 7) for pid in range(3))
                      and cluster.committed() >= 7, "superstep 7")
        before = cluster.with_a("ticker")
        check(len(before) == 3, "processes are on", before)
        idle = next(name for name in cluster.farm.names if name not in before)
        check((idle in cluster.with_a("bspnode")) == ("--spares" not in options),
              "an agent on", idle, "with", options)
        victim = before[-1]
        cluster.farm.kill_host(victim)
        cluster.release(7, 3)
        cluster.until(lambda: all(cluster.executed(pid, 9) for pid in range(3)), "superstep 9")
        after = cluster.with_a("ticker")
        check(after == sorted({*before, idle} - {victim}), "processes are on", after, "and were on",
              before, cluster.text("err").decode())
        cluster.release(9, 3)
        cluster.wait_over()
        cluster.check_answer(3)


@long
def a_node_that_dies():
    """A node without a process has room."""
    lose_a_node()


def a_node_that_dies_and_a_spare():
    """On a spare nothing runs until it is needed."""
    lose_a_node("--spares", "1")


def the_batch_host_dies():
    """With the script of the guide: the job is started again on nodes that live, and goes on."""
    with Cluster(4, controller_apart=True) as cluster:
        cluster.hold(7, 2)
        job = cluster.submit_guide_s("-N2", "--ntasks-per-node=1", WATCH_SECONDS=1)
        cluster.until(lambda: all(cluster.executed(pid, 7) for pid in range(2))
                      and cluster.committed() >= 7, "superstep 7")
        shown = cluster.farm.run("a", ["scontrol", "show", "job", str(job)]).stdout
        batch = re.search(r"BatchHost=(\w+)", shown)[1]
        check(batch != "a" and "bsprun" in cluster.farm.processes(batch).values(), "bsprun is elsewhere")
        cluster.farm.kill_host(batch)
        cluster.release(7, 2)

        def again():  # Slurm waits a while before it begins a job anew
            cluster.farm.run("a", ["scontrol", "update", f"jobid={job}", "starttime=now"])
            return not cluster.slurm.jobs()
        cluster.until(again, "the end of the job")
        reference = harness.Reference.of(2, SUPERSTEPS, "-a").out
        tail = cluster.text("out")[-200:]
        check(reference.endswith(tail), "stdout ends with", tail, cluster.text("err").decode())


def cancelled():
    """scancel ends it everywhere; what is saved can be gone on with."""
    with Cluster(2) as cluster:
        job = cluster.submit(["-N2", "--ntasks-per-node=1"])
        cluster.hold(7, 2)
        cluster.until(lambda: cluster.executed(0, 7) and cluster.committed() >= 7, "superstep 7")
        cluster.run("scancel", str(job))
        cluster.release(7, 2)
        cluster.wait_over()
        cluster.submit(["-N2", "--ntasks-per-node=1"])
        cluster.wait_over()
        cluster.check_answer(2)


if __name__ == "__main__":
    farms.require(*COMMANDS, root=True)
    main([an_allocation, preemption, preemption_that_cancels, a_node_that_dies, a_node_that_dies_and_a_spare,
          the_batch_host_dies, cancelled], together=4)
