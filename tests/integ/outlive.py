"""A job of a dataspace outlives the loss of a host: its processes are restarted alone on others, which go on (--copies).

outlive.py [SEED]: the moments and victims come from the seed, which is printed; without one from the clock.
OUTLIVE_JOBS=N: so many jobs in the storm, by hand.
"""
import json
import os
import re
import shlex
import signal
import time

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, expect, long, main, run, scratch, wait_until
from kills import chance, new_store, seed
from lost_hosts import BSPSTAT, agents_of, lose, ranks_of, shown_by, zero_of

BSPCTL = os.path.join(BIN, "bspctl")
OBJECTS = os.environ["INTEG_OBJECTS"]
HOSTS = {"h0": 1, "h1": 2, "h2": 1, "h3": 1}  # processes 0; 1 and 2; 3; 4
JOBS = int(os.environ.get("OUTLIVE_JOBS", "3"))
ELSEWHERE = "restarted alone on host"
TOGETHER = "the job continues from superstep"
ANOTHER = "another fault occurred before the job continued"  # the second of two hosts was found to be lost too late
DELAY = 3000  # microseconds of a round

wanted = {}
COMES = os.path.join(scratch, "the late one comes")


def late_rsh(late):
    """Starts agents as RSH does, that of one host when the test says so (comes_late): Processor Zero is not there."""
    path = os.path.join(scratch, f"{late} is late")
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nwhile [ "$1" = {late} ] && [ ! -e {shlex.quote(COMES)} ]; do sleep 0.02; done\nexec {RSH} "$@"\n')
    os.chmod(path, 0o755)
    if os.path.exists(COMES):
        os.unlink(COMES)
    return shlex.quote(path)


def comes_late(job):
    """Lets it come behind another one; with -vv."""
    job.wait_for("host h. has joined", 1)
    with open(COMES, "w"):
        pass


def command(*options, hosts=HOSTS, late=None):
    slots = ",".join(f"{name}:{count}" for name, count in hosts.items())
    return [BSPRUN, "--launcher", late_rsh(late) if late else RSH, "--hosts", slots, f"--ckpt={new_store()}", "--rejoin", "off", *options]


def work(rounds):
    return [OBJECTS, "work", str(rounds), str(DELAY)]


def answer(rounds, processes=5):
    """The output, in any order, of a job that nothing happens to."""
    if (rounds, processes) not in wanted:
        result = expect(bsprun("-np", processes, OBJECTS, "work", rounds, 0), 0, no_err=True)
        wanted[rounds, processes] = sorted(result.out.splitlines())
    return wanted[rounds, processes]


def not_zero(job, *hosts):
    """Those of these hosts where Processor Zero is not, in any order."""
    zero = zero_of(job)
    left = [host for host in hosts if host != zero]
    return chance.sample(left, len(left))


def check_answer(job, rounds):
    check(job.finish() == 0, f"seed {seed}", job.status, job.text())
    check(shown_by(job) == answer(rounds), f"seed {seed}", job.text())
    check("appears in both versions" not in job.text(), f"seed {seed}", job.text())
    job.check_gone()


def behind_a_snapshot(job):
    """Returns when one has just been committed, so that none is being taken: all would go back."""
    job.wait_for("snapshot of superstep", len(re.findall("snapshot of superstep", str(job))) + 1)


def one_host():
    """The processes of the others are never restarted; those of the lost one go on elsewhere, from their snapshot."""
    rounds = 400
    with Job([*command("-v", "--every", "1000s"), *work(rounds)]) as job:
        job.wait_for("round 80", 5)
        victim = not_zero(job, "h1", "h2", "h3")[0]
        before = set(ranks_of(job, *HOSTS)) - set(ranks_of(job, victim))
        check(len(before) == 5 - HOSTS[victim], victim, before)
        lose(job, victim)
        job.wait_for(ELSEWHERE, 1)
        check(before <= set(job.members()), before, job.members(), job.text())
        job.wait_for("round 160", 5)
        check(before <= set(job.members()), before, job.members(), job.text())
        check_answer(job, rounds)
        told = re.findall(rf"host {victim} was lost; process(?:es)? ([0-9 and]+) (?:is|are) restarted alone on host h[0-3], "
                          "from the beginning", job.text())
        moved = sorted(pid for pids in told for pid in pids.split(" and "))
        check(moved == {"h1": ["1", "2"], "h2": ["3"], "h3": ["4"]}[victim], job.text())
        check(TOGETHER not in job.text(), job.text())


def one_after_the_other():
    """As long as there is another host: those that had come from the first lost one move on."""
    rounds = 700
    with Job([*command("-v", "--every", "0.4s"), *work(rounds)]) as job:
        job.wait_for("round 80", 5)
        kept = set(ranks_of(job, "h0"))
        victims = not_zero(job, "h1", "h2", "h3")
        for number, victim in enumerate(victims):
            behind_a_snapshot(job)
            lose(job, victim)
            if len(victims) == 2 or number < 2:
                job.wait_for(f"host {victim} was lost", 1)
                job.wait_for(f"round {200 * (number + 1)}", 5)
                check(kept <= set(job.members()), kept, job.members(), job.text())
                check(TOGETHER not in job.text(), f"seed {seed}", job.text())
        check_answer(job, rounds)  # with the last one there may be one copy


def one_tag():
    """All answers are about it, and fill what its host and the one with the copies may keep of them: a snapshot is taken early."""
    puts = 6000  # each is kept as 64 bytes, of which there is room for 2048
    with Job([*command("-v", "--every", "1000s", "--dataspace-memory", "1M"), OBJECTS, "puts", "one", "4", str(puts)]) as job:
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        check(re.search(r"snapshot of superstep [1-9]", job.text()), f"seed {seed}", job.text())


def large_objects():
    """They go from one host that backs them to the next, of which one is lost, and then another."""
    rounds, size, hosts = 300, 300000, ["h0", "h1", "h2", "h3", "h4"]
    with Job([*command("--every", "0.5s", "--copies", "4", hosts=dict.fromkeys(hosts, 1)), OBJECTS, "large", str(rounds),
              str(size)]) as job:
        job.wait_for("round 10\n", 5)
        victims = not_zero(job, *hosts)[:2]
        for number, victim in enumerate(victims):
            lose(job, victim)
            job.wait_for(f"round {100 * (number + 1)}\n", 5)
        check(job.finish() == 0, f"seed {seed}", job.status, job.text())
        check(shown_by(job) == sorted(f"pid {pid}: round {i}" for pid in range(5) for i in range(0, rounds, 10)),
              f"seed {seed}", job.text())


def the_first_host():
    """Process 0 is as any other, but its end is that of the job."""
    rounds = 400
    with Job([*command("-vv", "--every", "1000s", late="h0"), *work(rounds)]) as job:
        comes_late(job)
        job.wait_for("round 80", 5)
        before = set(ranks_of(job, *HOSTS)) - set(ranks_of(job, "h0"))
        check(not_zero(job, "h0") and len(before) == 4, before)
        lose(job, "h0")
        job.wait_for("host h0 was lost; process 0 is restarted alone on host h", 1)
        job.wait_for("round 200", 5)
        check(before <= set(job.members()), before, job.members(), job.text())
        check_answer(job, rounds)
        check(TOGETHER not in job.text(), job.text())


def reader_of(job):
    """The host of the process whose input is not /dev/null."""
    for host in HOSTS:
        for pid in ranks_of(job, host):
            if os.readlink(f"/proc/{pid}/fd/0").startswith("pipe:"):
                return host
    return None


def who_reads_the_input():
    """It is given it again on its new host; it moves on as long as Processor Zero is elsewhere."""
    count, given = 6000, os.path.join(scratch, "much input")
    with open(given, "w") as file:
        file.writelines(f"line {number} {'x' * 200}\n" for number in range(count))
    wanted = sorted(expect(bsprun("-np", 5, OBJECTS, "lines", 0, stdin=open(given)), 0).out.splitlines())
    check(any(line.startswith(f"in all {count} lines, {os.path.getsize(given)} bytes, ") for line in wanted), wanted)
    for reader, late, every in (0, "h0", "1000s"), (0, "h0", "0.3s"), (3, "h2", "0.3s"):
        with Job([*command("-vv", "--every", every, "--stdin", str(reader), late=late), OBJECTS, "lines", "400"], stdin=open(given)) as job:
            comes_late(job)
            for losses, lines in enumerate((1000, 2500, 4500)):
                job.wait_for(f"{lines} lines", 1)
                victim = reader_of(job)
                if losses > 0 and not not_zero(job, victim):
                    break
                lose(job, victim)
                job.wait_for(f"{ELSEWHERE}|{TOGETHER}", losses + 1)  # while a snapshot is being taken all go back
            check(job.finish() == 0 and shown_by(job) == wanted, job.status, wanted, job.text())
            check(every == "0.3s" or TOGETHER not in job.text(), job.text())
            job.check_gone()


def processor_zero():
    """Another host is named in its place, as long as there is one; what the former one was asked for is asked again."""
    rounds = 800
    with Job([*command("-v", "--every", "1000s"), *work(rounds)]) as job:
        job.wait_for("round 80", 5)
        zeros = []
        for number in range(3):
            zeros.append(zero_of(job))
            before = set(ranks_of(job, *HOSTS)) - set(ranks_of(job, zeros[-1]))
            lose(job, zeros[-1])
            job.wait_for(f"host {zeros[-1]} was lost; host h. is Processor Zero now")
            job.wait_for(f"host {zeros[-1]} was lost; process.* restarted alone on host")
            check(before <= set(job.members()) and TOGETHER not in job.text(), before, job.members(), job.text())
            job.wait_for(f"round {200 * (number + 1)}", 5)
            if number == 0:
                expect(run([BSPCTL, "--wait", str(job.os_pid), "save"]), 0)
        check(len(set(zeros)) == 3, zeros)
        check_answer(job, rounds)
        check(TOGETHER not in job.text(), job.text())


def processor_zero_is_silent():
    """What it may still do when it wakes up nobody hears."""
    rounds = 1000
    with Job([*command("--every", "1000s", "--heartbeat", "1"), *work(rounds)]) as job:
        job.wait_for("round 80", 5)
        zero = zero_of(job)
        agent = agents_of(job)[zero]
        os.kill(agent, signal.SIGSTOP)
        job.wait_for(f"host {zero} was lost; process.* restarted alone on host")
        os.kill(agent, signal.SIGCONT)
        check_answer(job, rounds)
        check(TOGETHER not in job.text(), job.text())


def processor_zero_and_another():
    """At once: nobody knows enough, whichever loss is noticed first."""
    rounds = 300
    with Job([*command("--every", "1000s"), *work(rounds)]) as job:
        job.wait_for("round 80", 5)
        zero = zero_of(job)
        lose(job, *chance.sample([zero, not_zero(job, *HOSTS)[0]], 2))
        check_answer(job, rounds)
        check(TOGETHER in job.text() or ANOTHER in job.text(), f"seed {seed}", job.text())


@long
def all_go_back():
    """Where nobody else has what is lost."""
    for options, hosts in ((["--copies", "1"], ["h1"]), (["--copies", "1"], []), (["--recover", "all"], ["h2"]),
                           (["--recover", "all"], []), ([], ["h1", "h2"])):
        rounds = 300
        with Job([*command("--every", "1000s", *options), *work(rounds)]) as job:
            job.wait_for("round 80", 5)
            lose(job, *(hosts or [zero_of(job)]))
            check_answer(job, rounds)
            check(TOGETHER in job.text() or ANOTHER in job.text(), options, hosts, job.text())


@long
def storm():
    """At random moments, during snapshots, restarts and at the end, hosts are lost and come back, processes are killed."""
    for _ in range(JOBS):
        rounds = 600
        outlived = together = 0
        with Job([*command("--every", "0.3s", "--max-restarts", "1000", "--rejoin", "0.3"), *work(rounds)]) as job:
            job.wait_for("round 40", 1)
            for _ in range(4):
                time.sleep(chance.uniform(0, 0.7))
                agents = agents_of(job)
                if job.is_over() or len(agents) < 2:
                    break
                if chance.random() < 0.3:
                    ranks = sorted(ranks_of(job, *agents))
                    victim = chance.choice(ranks) if ranks else None
                else:
                    victim = agents[chance.choice(sorted(agents))]
                if victim:
                    try:
                        os.kill(victim, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            check_answer(job, rounds)
            outlived, together = job.text().count(ELSEWHERE), job.text().count(TOGETHER)
        print(f"{outlived} times restarted elsewhere, {together} times all went back", flush=True)


@long
def saved_and_moved_after_it():
    """Snapshots of all, requests to bspctl and --restart go on working, and it is counted."""
    options = command("-v", "--every", "1000s")
    store = options[options.index("-v") - 3].split("=")[1]
    with Job([*options, *work(2500)]) as job:
        job.wait_for("round 80", 5)
        first, second = not_zero(job, "h1", "h2", "h3")[:2]
        lose(job, first)
        job.wait_for(ELSEWHERE, 1)
        wait_until(lambda: json.loads(expect(run([BSPSTAT, "--json", str(job.os_pid)]), 0).out)["restarted_alone"] == HOSTS[first],
                   "that they are counted")
        expect(run([BSPCTL, "--wait", str(job.os_pid), "save"]), 0)
        check(TOGETHER not in job.text(), job.text())
        expect(run([BSPCTL, "--wait", str(job.os_pid), "drain", second]), 0)
        lose(job, "h0")
        time.sleep(0.2)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())
        before = [line.rstrip("\r") for line in job.text().splitlines()]
    result = expect(bsprun("--restart", store), 0)
    shown = sorted(line for line in before + result.out.splitlines() if not line.startswith("bsprun: "))
    check(shown == answer(2500), f"seed {seed}", before, result.out)


if __name__ == "__main__":
    main([one_host, the_first_host, who_reads_the_input, processor_zero, processor_zero_is_silent,
          processor_zero_and_another, one_after_the_other, one_tag, large_objects, all_go_back, saved_and_moved_after_it, storm])
