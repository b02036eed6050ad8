"""Processes as others see them: names, groups, parents, cores; several jobs at once."""
import os
import re
import subprocess

from harness import (BSPRUN, CORES, PROG, Job, alone, bsprun, check, expect, main, process_stat,
                     run, wait_until)


def command_line(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().rstrip(b"\0").decode().split("\0")


def whoami(job, count):
    """{BSP pid: (os pid, group, parent)}"""
    rows = job.wait_for(r"^rank (\d+) (\d+) group (\d+) parent (\d+)\r?$", count)
    return {int(row[0]): tuple(map(int, row[1:])) for row in rows}


def process_list():
    """Ranks carry the program's own command line, the agent is bspnode."""
    here, name = os.path.split(PROG)
    with Job([BSPRUN, "-np", "3", name, "whoami", "0"], cwd=here, stdin=-1,
             env={"PATH": here + ":/usr/bin:/bin"}) as job:
        ranks = whoami(job, 3)
        for pid in ranks:
            check(command_line(ranks[pid][0]) == [name, "whoami", "0"], pid,
                  command_line(ranks[pid][0]))
        names = sorted(job.members().values())
        check(names == sorted(["bsprun", "bspnode"] + [name[:15]] * 3), names)
        check(command_line(job.agent())[0] == "bspnode", command_line(job.agent()))
        agent = job.agent()
        check(all(parent == agent for _, _, parent in ranks.values()), ranks, agent)
        check(ranks[0][1] == os.getpgid(job.os_pid), "process 0 is in the caller's group", ranks)
        for pid in (1, 2):
            check(ranks[pid][1] == ranks[pid][0], "the others have groups of their own", ranks)
        job.process.stdin.close()
        check(job.finish() == 0, job.text())
        job.check_gone()


def process_list_bare():
    with Job([PROG, "whoami", "0"], env={"BSP_PROCS": "3"}, stdin=-1) as job:
        ranks = whoami(job, 3)
        check(ranks[0][0] == job.os_pid, "the caller stays process 0", ranks, job.os_pid)
        check(ranks[0][2] == os.getpid(), "and our child", ranks)
        agent = job.agent()
        check(ranks[1][2] == ranks[2][2] == agent, ranks, agent)
        check(os.getpgid(agent) == os.getpgid(job.os_pid), "the agent is in the caller's group")
        for fd in (0, 1):
            check(os.readlink(f"/proc/{agent}/fd/{fd}") == "/dev/null", "the agent holds", fd)
        job.process.stdin.close()
        check(job.finish() == 0, job.text())
        job.check_gone(at_once=False)


def agent_holds_nothing_of_the_user():
    """Neither the user's pipes nor a descriptor that happened to be open."""
    with Job(["sh", "-c", 'exec "$0" whoami 0 9>&1', PROG], env={"BSP_PROCS": "2"},
             stdin=-1) as job:
        whoami(job, 2)
        agent = job.agent()
        held = {os.readlink(f"/proc/{agent}/fd/{fd}") for fd in os.listdir(f"/proc/{agent}/fd")
                if fd != "2"}
        check(not any(name.startswith("pipe:") and name ==
                      os.readlink(f"/proc/{job.os_pid}/fd/1") for name in held), held)
        job.process.stdin.close()
        job.finish()


def allowed(result):
    return [int(n) for n in re.findall(r"^pid \d+ may use (\d+)$", result.out, re.M)]


def binding():
    expect(bsprun("--bind", "none", "-np", 2, PROG, "affinity"), 0, out=rf"may use {CORES}$")
    one = allowed(expect(bsprun("-np", 1, PROG, "affinity"), 0))
    check(one == [CORES], "one process alone is not bound", one)
    many = allowed(expect(bsprun("-np", CORES + 1, PROG, "affinity"), 0))
    check(many == [CORES] * (CORES + 1), "more than cores are not bound", many)
    if CORES < 2:
        return
    bound = allowed(expect(bsprun("-np", 2, PROG, "affinity"), 0))
    check(bound in ([1, 1], [CORES, CORES]), bound)
    prefix = alone()
    if prefix:
        bound = allowed(expect(run([*prefix, BSPRUN, "-np", "2", PROG, "affinity"]), 0))
        check(bound == [1, 1], "bound by default when they fit", bound)


def binding_that_does_not_fit():
    expect(bsprun("--bind", "core", "-np", CORES + 1, PROG), 0,
           err=rf"^bsprun: host \S+: --bind-to core: {CORES + 1} processes, but fewer than that many free "
               rf"processors of {CORES}; nothing is bound$")


def second_job_is_not_bound():
    """Whoever comes second finds the cores taken: bound to them it would halve both."""
    if CORES < 2:
        return
    with Job([BSPRUN, "-np", str(CORES), PROG, "whoami", "0"], stdin=-1) as job:
        ranks = whoami(job, CORES)
        if len(os.sched_getaffinity(ranks[0][0])) > 1:
            return  # a job of somebody else was there before
        second = allowed(expect(bsprun("-np", 2, PROG, "affinity"), 0))
        check(second == [CORES] * 2, second)
        job.process.stdin.close()
        check(job.finish() == 0, job.text())


def several_jobs_at_once():
    jobs = [Job([BSPRUN, "-np", "3", PROG, "talk", "30"]) for _ in range(4)]
    try:
        for job in jobs:
            check(job.finish() == 0, job.text())
            check(job.text().count("line ") == 90 and "p = 3" in job.text(), job.text())
            job.check_gone()
    finally:
        for job in jobs:
            job.__exit__()


def job_inside_a_job():
    """A program started by a program is a job of its own."""
    result = expect(bsprun("-np", 2, "sh", "-c", f"'{BSPRUN}' -np 3 '{PROG}'; '{PROG}'"), 0)
    check("p = 3" in result.out and "p = 2" in result.out, result)


def unknown_orphans_are_left_alone():
    """A daemon that the program leaves behind at a normal end lives on."""
    script = f"(setsid sleep 60 > /dev/null 2>&1 & echo daemon $!); '{PROG}' count 2"
    result = run([BSPRUN, "-np", "2", "sh", "-c", script], left=1)
    expect(result, 0, out="^daemon ")


def orphans_of_a_failed_job_are_not():
    script = f"(setsid sleep 60 > /dev/null 2>&1 & echo daemon $!); '{PROG}' exit 1 4"
    expect(bsprun("-np", 2, "sh", "-c", script), 4, out="^daemon ")


def dead_orphans_are_buried():
    """Processes that the program orphaned do not stay zombies; nor are they taken for ranks."""
    def zombies(parent):
        stats = ((entry, process_stat(entry)) for entry in os.listdir("/proc") if entry.isdigit())
        return [entry for entry, stat in stats if stat == ("Z", parent)]

    with Job([BSPRUN, "-np", "2", PROG, "orphan"]) as job:
        job.wait_ready(2)
        agent = job.agent()
        wait_until(lambda: not zombies(agent), "the burial of orphans")
        job.signal(15)
        check(job.finish() == 143, job.text())
        job.check_gone()


def memory_is_given_back():
    """The memory of a job has no name, and is gone with its processes."""
    with Job([BSPRUN, "-np", "2", PROG, "whoami", "0"], stdin=-1) as job:
        whoami(job, 2)
        held = []
        for pid in job.members():
            for fd in os.listdir(f"/proc/{pid}/fd"):
                try:
                    target = os.readlink(f"/proc/{pid}/fd/{fd}")
                except OSError:
                    continue
                if "bspzero" in target:
                    held.append(target)
        check(held and all(target == "/memfd:bspzero (deleted)" for target in held), held)
        job.process.stdin.close()
        job.finish()
        job.check_gone()


if __name__ == "__main__":
    main([process_list, process_list_bare, agent_holds_nothing_of_the_user, binding,
          binding_that_does_not_fit, second_job_is_not_bound, several_jobs_at_once,
          job_inside_a_job, unknown_orphans_are_left_alone, orphans_of_a_failed_job_are_not,
          dead_orphans_are_buried, memory_is_given_back])
