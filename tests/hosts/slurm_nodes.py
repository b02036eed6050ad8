"""Nodes that a Slurm allocation loses and gains while a job runs in it, as an ordinary user."""
import json
import os
import re

from slurm_jobs import *
from slurm_jobs import SUPERSTEPS, Cluster
from slurm import COMMANDS

GONE = "is not a node of Slurm job {job} any more"
COME = "has become a node of Slurm job {job}"


class Allocation(Cluster):
    """A job of p processes that has got to superstep 7, where all are held until they are released."""

    def __init__(self, hosts, nodes, p, *options, launcher=None, each=1):
        super().__init__(hosts)
        self.p = p
        words = [f"-np {p} -v --heartbeat 4", *options]
        if launcher:
            words.append(f"--launcher {self.farm.rsh}")
        self.hold(7, p)
        self.job = self.submit([f"-N{nodes}", f"--ntasks-per-node={each}", "--no-kill"],
                               bsprun_options=" ".join(words))
        self.wait_at(7)

    def wait_at(self, superstep):
        self.until(lambda: all(self.executed(pid, superstep) for pid in range(self.p))
                   and self.committed() >= superstep, f"superstep {superstep}")

    def said(self, text):
        return text.format(job=self.job) in self.text("err").decode()

    def wait_said(self, text):
        self.until(lambda: self.said(text), text)

    def control(self, *words):
        name = self.bsprun_pid()
        return self.run(os.path.join(self.built, "bin", "bspctl"), name, *words)

    def bsprun_pid(self):
        return next(str(farms.number_inside(pid)) for pid, name in self.farm.processes("a").items()
                    if name == "bsprun")

    def states(self):
        """{host: state}, as bspstat shows it."""
        done = self.run(os.path.join(self.built, "bin", "bspstat"), "--json", self.bsprun_pid())
        check(done.returncode == 0, done)
        return {host["name"]: host["state"] for host in json.loads(done.stdout)["hosts"]}

    def shrink(self, nodes):
        done = self.run("scontrol", "update", f"JobId={self.job}", f"NumNodes={nodes}")
        check(done.returncode == 0 and len(self.slurm.allocated(self.job)) == nodes, done)

    def grow(self, nodes):
        """By another job, which gives its nodes away; the second command has then nothing to do, and is
        refused where nobody counts what is used."""
        before = len(self.slurm.allocated(self.job))
        done = self.run("salloc", "--no-shell", f"-N{nodes}", f"--dependency=expand:{self.job}")
        other = re.search(r"Granted job allocation (\d+)", done.stderr)
        check(done.returncode == 0 and other, done)
        done = self.run("scontrol", "update", f"JobId={other[1]}", "NumNodes=0")
        check(done.returncode == 0, done)
        self.run("scontrol", "update", f"JobId={self.job}", "NumNodes=ALL")
        check(len(self.slurm.allocated(self.job)) == before + nodes, self.slurm.allocated(self.job))

    def step_until(self, done, what, at=7):
        """One superstep after the other until it is so."""
        while not done():
            check(at < SUPERSTEPS - 1, "no end of", what, self.text("err").decode())
            self.hold(at + 1, self.p)
            self.release(at, self.p)
            at += 1
            self.wait_at(at)
        return at

    def ends_well(self, at):
        self.release(at, self.p)
        self.wait_over()
        self.check_answer(self.p)

    def executions(self):
        """Of each process and superstep, how often."""
        lines = [tuple(line.split()[:2]) for line in self.text("files/witness").decode().splitlines()]
        return {line: lines.count(line) for line in lines}

    def check_undisturbed(self):
        check(set(self.executions().values()) == {1} and not self.said("restart"),
              "something was executed twice", self.text("err").decode())


def a_node_is_taken_away():
    """Slurm kills all that the job has there, without a warning: a lost host, but one that is not tried
    again."""
    with Allocation(3, 3, 3, "--rejoin 1") as job:
        job.shrink(2)
        job.wait_said("host c was lost")
        job.wait_said("host c " + GONE)
        check(job.slurm.allocated(job.job) == ["a", "b"], job.slurm.allocated(job.job))
        at = job.step_until(lambda: job.executions()["0", "7"] > 1, "the rollback")
        check(job.with_a("ticker") == ["a", "b"], job.with_a("ticker"))
        check(job.states() == {"a": "up", "b": "up", "c": "released"}, job.states())
        check("not a node of Slurm job" in job.control("--wait", "add", "c").stderr, "add c")
        check(not job.said("Unable to create step") and not job.said("could not be started"),
              job.text("err").decode())
        job.ends_well(at)


def a_node_is_left_before():
    """The processes move first: nothing is lost, and nothing notices when the node goes."""
    with Allocation(3, 3, 3, "--rejoin 1") as job:
        done = job.control("remove", "c")
        check(done.returncode == 0, done)
        at = job.step_until(lambda: "bspnode" not in job.farm.processes("c").values(), "the move")
        job.shrink(2)
        at = job.step_until(lambda: job.states()["c"] == "released", "the look", at)
        job.ends_well(at)
        job.check_undisturbed()


def a_node_that_is_not_slurms_to_end():
    """What was started by ssh goes on when the node is taken away: it is left at the next barrier."""
    with Allocation(3, 3, 3, "--rejoin 1", launcher=True) as job:
        job.shrink(2)
        job.wait_said("host c is to be vacated, because it " + GONE)
        at = job.step_until(lambda: job.with_a("bspnode") == ["a", "b"], "the move")
        job.ends_well(at)
        job.check_undisturbed()


def nodes_are_gained():
    """They take part from the next barrier on, and have room for what leaves others."""
    with Allocation(4, 2, 4, "--rejoin 1", each=2) as job:
        check(job.with_a("ticker") == ["a", "b"], job.with_a("ticker"))
        job.grow(2)
        for name in "cd":
            job.wait_said(f"host {name} {COME}")
        at = job.step_until(lambda: job.states() == dict.fromkeys("abcd", "up"), "four hosts")
        done = job.control("drain", "b")
        check(done.returncode == 0, done)
        at = job.step_until(lambda: job.states()["b"] == "drained" and
                            job.with_a("ticker") == ["a", "c"], "processes on c", at)
        job.ends_well(at)
        job.check_undisturbed()




if __name__ == "__main__":
    farms.require(*COMMANDS, root=True)
    main([a_node_is_taken_away, a_node_is_left_before, a_node_that_is_not_slurms_to_end,
          nodes_are_gained], together=3)
