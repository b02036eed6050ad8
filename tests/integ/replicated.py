"""A job of the dataspace whose processes have replicas (--replicas): hosts that are lost, stop or are slow, and what
differs.

replicated.py [SEED]: the moments and victims come from the seed, which is printed; without one from the clock.
REPLICATED_JOBS=N: so many jobs in the storm, by hand.
"""
import os
import re
import signal
import time

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, expect, long, main, run
from kills import chance, new_store, seed
from lost_hosts import agents_of, lose, ranks_of, shown_by, zero_of

BSPCTL = os.path.join(BIN, "bspctl")
OBJECTS = os.environ["INTEG_OBJECTS"]
JOBS = int(os.environ.get("REPLICATED_JOBS", "2"))
BACK = "restart 1 of"
P = 3

wanted = {}


def names(count):
    return [f"h{i}" for i in range(count)]


def command(replicas, *options, hosts=None):
    where = ",".join(f"{name}:2" for name in names(hosts or 2 * replicas))
    return [BSPRUN, "-np", str(P), "--launcher", RSH, "--hosts", where, "--replicas", str(replicas), f"--ckpt={new_store()}",
            "--rejoin", "off", *options]


def answer(*words):
    """The output, in any order, of a job that nothing happens to."""
    if words not in wanted:
        wanted[words] = sorted(expect(bsprun("-np", P, OBJECTS, *words), 0, no_err=True).out.splitlines())
    return wanted[words]


def check_answer(job, *words):
    check(job.finish() == 0, f"seed {seed}", job.status, job.text())
    check(shown_by(job) == answer(*words), f"seed {seed}", job.text())
    job.check_gone()


def cell_of(job, host):
    """The hosts with the same processes, as bsprun -v says."""
    for line in re.findall(r"replicas: (host .*?): process", job.text()):
        hosts = re.findall(r"host (\S+?)(?:,|$)", line)
        if host in hosts:
            return hosts
    raise AssertionError(job.text())


def without_faults():
    for replicas in (2, 3):
        for words in (("ring",), ("count", "30"), ("sizes",), ("tags",), ("mixed",), ("work", "60", "0"), ("steps", "12", "0")):
            # Those that begin with volpex_init and meet in bsp_sync, too, cannot be saved.
            options = [word for word in command(replicas) if words[0] not in ("count", "sizes") or not word.startswith("--ckpt")]
            result = expect(run(options + [OBJECTS, *words]), 0)
            check(sorted(result.out.splitlines()) == answer(*words), replicas, words, result)
            check(BACK not in result.err, result)


def a_host_is_killed():
    """Any of them, that of Processor Zero, and then another one."""
    for which in ("any", "zero", "both"):
        words = ("work", "500", "2000")
        replicas = 3 if which == "both" else 2
        with Job([*command(replicas, "-v"), OBJECTS, *words]) as job:
            job.wait_for("round 80", P)
            victim = zero_of(job) if which != "any" else chance.choice(names(4))
            lose(job, victim)
            job.wait_for(f"host {victim} was lost", 1)
            job.wait_for("round 240", P)
            if which == "both":
                lose(job, chance.choice([name for name in names(6) if name != victim]))
            check_answer(job, *words)
            check(BACK not in job.text(), f"seed {seed}", job.text())


def open_gate(gate):
    with open(gate, "w", encoding="utf-8") as file:
        file.write("1")


def a_process_is_killed():
    words, gate = ("work", "300", "2000"), new_store()  # a name that nothing has yet
    with Job([*command(2), OBJECTS, *words, gate]) as job:
        job.wait_for("round 40", P)
        victim = chance.choice([name for name in names(4) if ranks_of(job, name)])
        os.kill(chance.choice(ranks_of(job, victim)), signal.SIGKILL)
        open_gate(gate)
        job.wait_for("its processes continue in their replicas", 1)
        check_answer(job, *words)
        check(BACK not in job.text(), f"seed {seed}", job.text())


def one_is_slow():
    """The processes of a host stop for a while, and are far behind then: they get what the others have got."""
    words = ("work", "400", "1000")
    with Job([*command(2), OBJECTS, *words]) as job:
        job.wait_for("round 40", P)
        slow = ranks_of(job, chance.choice([name for name in names(4) if ranks_of(job, name)]))
        for pid in slow:
            os.kill(pid, signal.SIGSTOP)
        job.wait_for("round 240", P)
        for pid in slow:
            os.kill(pid, signal.SIGCONT)
        check_answer(job, *words)
        check("was lost" not in job.text() and BACK not in job.text(), f"seed {seed}", job.text())


def one_is_too_far_behind():
    """There is no memory for all that it would still have to get: its host is given up.  A gate holds the others until
    it is stopped, or the one that is stopped could be far before its replica."""
    words, gate = ("work", "1500", "200"), new_store()
    with Job([*command(2, "--dataspace-memory", "300K"), OBJECTS, *words, gate]) as job:
        job.wait_for("round 40", P)
        slow = chance.choice([name for name in names(4) if ranks_of(job, name)])
        for pid in ranks_of(job, slow):
            os.kill(pid, signal.SIGSTOP)
        open_gate(gate)
        job.wait_for(rf"host {slow}: process \d there is so far behind its replicas", 1)
        check_answer(job, *words)
        check(BACK not in job.text(), f"seed {seed}", job.text())


def one_stops():
    """A host does not answer for longer than the heartbeat."""
    words = ("work", "800", "2000")
    with Job([*command(2, "--heartbeat", "1"), OBJECTS, *words]) as job:
        job.wait_for("round 40", P)
        host = chance.choice(names(4))
        stopped = [agents_of(job)[host], *ranks_of(job, host)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        job.wait_for(f"host {host} was lost", 1)
        check_answer(job, *words)
        check(BACK not in job.text(), f"seed {seed}", job.text())


def all_of_one_are_lost():
    """Then all processes begin again, which is shown once."""
    words, gate = ("work", "300", "2000"), new_store()
    with Job([*command(2, "-v"), OBJECTS, *words, gate]) as job:
        job.wait_for("round 40", P)
        hosts = cell_of(job, "h0")
        check(len(hosts) == 2, hosts)
        lose(job, *hosts)
        open_gate(gate)
        check_answer(job, *words)
        check(BACK in job.text(), f"seed {seed}", job.text())


def one_host_is_left():
    """Its processes have no replicas then, and are saved at their calls: not at each of them."""
    words = ("work", "300", "2000")
    with Job([*command(2, "-v", "--every", "0.1s"), OBJECTS, *words]) as job:
        job.wait_for("round 40", P)
        first = cell_of(job, "h0")
        lose(job, first[0])
        job.wait_for(f"host {first[0]} was lost", 1)
        lose(job, *(name for name in names(4) if name not in first))
        check_answer(job, *words)
        check(BACK in job.text(), f"seed {seed}", job.text())
        check(not re.search(r"snapshot of superstep \d{4}", job.text()), job.text())


def nobody_can_go_on():
    """Each process is named once."""
    result = expect(run(command(2) + [OBJECTS, "wait"]), 1, err="all processes wait, and nothing is on its way to them:")
    waits = re.findall(r"pid (\d): volpex_get of", result.err)
    check(sorted(waits) == ["0", "1", "2"], result)
    with Job([*command(2), OBJECTS, "wait"]) as job:
        job.wait_for("ready", P)
        lose(job, chance.choice(names(4)))
        check(job.finish() == 1, job.status, job.text())
        check(sorted(re.findall(r"pid (\d): volpex_get of", job.text())) == ["0", "1", "2"], job.text())


def hosts_without_processes():
    """All of those may be lost."""
    words, gate = ("work", "300", "2000"), new_store()
    with Job([*command(2, hosts=6), OBJECTS, *words, gate]) as job:
        job.wait_for("round 40", P)
        idle = [name for name in names(6) if not ranks_of(job, name)]
        check(len(idle) == 2, idle, job.text())
        lose(job, *idle)
        open_gate(gate)
        check_answer(job, *words)


def without_snapshots():
    """A loss costs nothing without --ckpt, too."""
    words, gate = ("work", "300", "2000"), new_store()
    options = [word for word in command(2) if not word.startswith("--ckpt")]
    with Job([*options, OBJECTS, *words, gate]) as job:
        job.wait_for("round 40", P)
        lose(job, chance.choice(names(4)))
        open_gate(gate)
        check_answer(job, *words)


def they_differ():
    """Each replica puts its own number: who puts it first is right with `continue`."""
    text = (r"the replicas of process \d on host h\d and host h\d differ in their call 1 of the dataspace, of "
            r'"differ \d+"')
    result = expect(run(command(2, "--on-mismatch", "end") + [OBJECTS, "differ"]), 1, err=text)
    check("is over" not in result.out, result)
    result = expect(run(command(2, "--max-restarts", "1") + [OBJECTS, "differ"]), 1, err=text)
    check(BACK in result.err, result)
    result = expect(run(command(2, "--on-mismatch", "continue") + [OBJECTS, "differ"]), 0, err=text)
    check(sorted(result.out.splitlines()) == [f"pid {pid} is over" for pid in range(P)], result)


@long
def storm():
    """At random moments hosts are lost, as long as each process has a replica or not."""
    for _ in range(JOBS):
        replicas = chance.choice([2, 3])
        words = ("work", "500", "2000")
        with Job([*command(replicas, "-v", "--rejoin", "0.3", "--max-restarts", "1000"), OBJECTS, *words]) as job:
            job.wait_for("round 40", 1)
            for _ in range(3):
                time.sleep(chance.uniform(0, 0.7))
                agents = agents_of(job)
                if job.is_over() or len(agents) < 2:
                    break
                os.kill(agents[chance.choice(sorted(agents))], signal.SIGKILL)
            check_answer(job, *words)
            print(f"{job.text().count('was lost')} lost, back {BACK in job.text()}", flush=True)


if __name__ == "__main__":
    main([without_faults, a_host_is_killed, a_process_is_killed, one_is_slow, one_is_too_far_behind, one_stops, all_of_one_are_lost, one_host_is_left,
          nobody_can_go_on, hosts_without_processes, without_snapshots, they_differ, storm])
