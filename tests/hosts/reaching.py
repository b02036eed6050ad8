"""Hosts reached by a real ssh and a real srun: bsprun and bspload, as an ordinary user."""
import os
import re
import shutil
import sys

import farm as farms
from farm import Farm
from jobs import BUILD, check, copied_build
from slurm import COMMANDS, Slurm
from slurm_jobs import SUPERSTEPS, Cluster
from sshd import Sshd

PATIENCE = 60


class Reach:
    """A farm and what its user calls on the first host."""

    def __init__(self, farm, directory=None):
        self.farm = farm
        self.bin = os.path.join(copied_build(farm), "bin")
        for name in ("bspload", "bspparam"):
            shutil.copy(os.path.join(BUILD, "bin", name), self.bin)
        if directory:
            self.bin = shutil.copytree(self.bin, os.path.join(farm.home, directory))

    def run(self, *words, status=0):
        done = self.farm.run("a", words, user=self.farm.user, cwd=self.farm.home, timeout=PATIENCE)
        check(done.returncode == status, done)
        return done

    def call(self, command, *words, before=(), status=0):
        return self.run(*before, os.path.join(self.bin, command), *words, status=status)

    def job(self, *words, before=(), status=0):
        """A program that runs on the hosts and says nothing."""
        return self.call("bsprun", "-v", *words, os.path.join(self.bin, "bspparam"), "-probe",
                         "check", before=before, status=status)


def processes(done, count):
    check(re.search(f"Processor Zero is host . \\(term 1\\), p = {count}$", done.stderr, re.M), done)


def by_ssh():
    with Farm(4) as farm:
        Sshd(farm, password_on=["c"], strangers=["d"])
        reach = Reach(farm)
        processes(reach.job("--hosts", "a:2,b:2"), 4)
        processes(reach.job("--hosts", "b:1,a:2", "--encrypt"), 3)
        processes(reach.job("--hosts", f"a:1,{farm.user}@b:1"), 2)
        # Neither a password nor an unknown key is asked for: it fails, with what ssh says.
        for host, text in (("c", "Permission denied"), ("d", "Host key verification failed")):
            done = reach.job("--hosts", f"a:2,{host}:2", status=1)
            check(re.search(f"^bsprun: host {host}: ssh ended with status 255\n  .*{text}",
                            done.stderr, re.M), done)
        done = reach.call("bspload", "--hosts", "a,b,c,d", status=1)
        rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:]}
        check(all(int(rows[host][4]) > 0 for host in "ab"), done)
        check(all(rows[host] == ["-"] * 6 for host in "cd"), done)


def from_an_odd_place():
    """Names that mean something to a shell come through ssh as they are."""
    with Farm(2) as farm:
        Sshd(farm)
        reach = Reach(farm, "it's $HOME; a \"place\"")
        processes(reach.job("--hosts", "a:1,b:1"), 2)
        done = reach.call("bspload", "--hosts", "b")
        check(int(done.stdout.splitlines()[1].split()[5]) > 0, done)


def by_srun():
    with Farm(3, put=Slurm.PUT) as farm:
        Slurm(farm)
        reach = Reach(farm)
        processes(reach.job(before=["salloc", "-N3", "-n5"]), 5)
        processes(reach.job(before=["salloc", "-N3", "--exclusive"]), 6)
        processes(reach.job("--hosts", "a:2,c:1", before=["salloc", "-N3"]), 3)
        done = reach.job("--launcher", "slurm", status=2)
        check("not inside a Slurm allocation" in done.stderr, done)
        # Fewer slots than processes: that is said.
        done = reach.job("-np", "5", before=["salloc", "-N2", "-n3"])
        processes(done, 5)
        check("5 processes have 3 slots" in done.stderr, done)
        done = reach.call("bspload", before=["salloc", "-N3"])
        check(sorted(line.split()[0] for line in done.stdout.splitlines()[1:]) == list("abc"), done)


def by_the_batch_script():
    """The script of the manual: stopped by the signal that comes before the time limit, submitted
    again, it comes to its end."""
    with Cluster(2) as cluster:
        shutil.copy(os.path.join(farms.ROOT, "doc", "slurm.sbatch"), cluster.home)
        path = os.path.dirname(cluster.bsprun) + ":" + farms.SYSTEM_PATH
        words = ["sbatch", "--parsable", "-N2", "--ntasks-per-node=1", "-o", "out", "-e", "err",
                 f"--export=ALL,PATH={path},BSPZERO_EVERY=1", "slurm.sbatch", "store",
                 cluster.ticker, "files", str(SUPERSTEPS), "-a"]

        def submit():
            done = cluster.run(*words)
            check(done.returncode == 0, done)
            return int(done.stdout)

        job = submit()
        cluster.hold(7, 2)
        cluster.until(lambda: cluster.executed(0, 7) and cluster.committed() >= 7, "superstep 7")
        done = cluster.run("scancel", "--batch", "--signal=TERM", str(job))
        check(done.returncode == 0, done)
        cluster.release(7, 2)
        cluster.wait_over()
        done = cluster.run("scontrol", "show", "job", str(job))
        check("ExitCode=123:0" in done.stdout, done, cluster.text("err"))
        submit()
        cluster.wait_over()
        cluster.check_answer(2)


def the_batch_script_again():
    """With a store that has jobs: those that have ended are not continued, others are.  What only continues begins none."""
    with Cluster(2) as cluster:
        def at_home(name):
            return os.path.join(cluster.home, name)

        def submit():
            return cluster.submit_guide_s("-N2", "--ntasks-per-node=1")

        def ends(job, status, begun):
            """begun: how often the program has begun by then."""
            cluster.wait_over()
            done = cluster.run("scontrol", "show", "job", str(job))
            check(f"ExitCode={status}:0" in done.stdout, done, cluster.text("err"))
            lines = cluster.text("files/witness").decode().splitlines()
            times = sum(line.split()[:2] == ["0", "1"] for line in lines)
            check(times == begun, "it has begun", times, "times, not", begun, cluster.text("err"))

        cluster.hold(7, 2)
        job = submit()
        cluster.until(lambda: cluster.executed(0, 7) and cluster.committed() >= 7, "superstep 7")
        cluster.run("scancel", "--batch", "--signal=TERM", str(job))
        cluster.release(7, 2)
        ends(job, 123, begun=1)
        # Two others begin, and end, while the snapshots of this one are elsewhere.
        os.rename(at_home("store"), at_home("store.aside"))
        os.rename(at_home("out"), at_home("out.aside"))
        for begun in (2, 3):
            ends(submit(), 0, begun)
            cluster.check_answer(2)
            os.unlink(at_home("out"))
        ends(cluster.submit_guide_s("-N2", "--ntasks-per-node=1", CONTINUE="yes"), 0, begun=3)
        for name in os.listdir(at_home("store.aside")):
            if name != "lock":
                os.rename(at_home(f"store.aside/{name}"), at_home(f"store/{name}"))
        os.rename(at_home("out.aside"), at_home("out"))
        ends(submit(), 0, begun=3)
        cluster.check_answer(2)


if __name__ == "__main__":
    farms.require("sshd", "ssh", *COMMANDS, root=True)
    for test in (by_ssh, from_an_odd_place, by_srun, by_the_batch_script, the_batch_script_again):
        if len(sys.argv) == 1 or test.__name__ in sys.argv[1:]:
            test()
            print(f"{test.__name__}: ok", flush=True)
