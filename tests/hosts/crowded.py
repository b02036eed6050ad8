"""Memory is what limits a host: what does not fit is refused, goes elsewhere, or ends the job with its
snapshot.  How much memory the agent of a host sees is written to a file (meminfo.c).

    crowded.py [TEST ...]
"""
import os
import re
import resource
import signal

from draining import (asked, control, ends_well, is_undisturbed, places, reference, refused,
                      running, said, status, step_until, step_until_done)
from loopback import *
from loopback import BUILD, LoopbackPlace, check, check_said, main, marked, send, wait_said, wait_until

MEBIBYTES = 20  # of each process, and some more
SIZE = ("-m", MEBIBYTES)
OBJECTS = os.path.join(BUILD, "tests", "integ", "integ_objects")
OBJECT = 8000000  # bytes of one that is in a file of its own
NEEDS = r"process \d(, with \d that share files with it,)? needs [2-9]\d MiB of memory; "


def saved(place, job, at=3):
    """There is a snapshot with frozen copies of all.  Where process 0 is held then."""
    at = step_until_done(place, job, asked(place, job, "save", "--wait"), at)
    for pid in range(4):
        place.wait_executed(pid, at)
    check(place.committed() > 3, place.committed())
    return at


def loses(place, host):
    place.will_not_return(host)
    place.kills.append(place.committed())
    send(place.agent(host), signal.SIGKILL)


def refused_at_once():
    """And bspstat shows why."""
    with LoopbackPlace(2) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        place.leave_memory("h0", 10)
        for words in (("drain", "h1"), ("remove", "h1"), ("move", "3", "h0")):
            why = refused(place, job, *words)
            check(re.search(r"too little memory: process [23] needs [2-9]\d MiB of memory; "
                            r"host h0 has 10 MiB left$", why.strip()), why)
        said(control(place, job, "rebalance"), 0)  # which moves nothing
        facts = status(place, job)
        left = {host["name"]: host["memory_left"] for host in facts["hosts"]}
        check(left["h0"] == 10 << 20 and left["h1"] > 10 << 20, left)
        check(all(MEBIBYTES << 20 < rank["memory"] < 2 * MEBIBYTES << 20 for rank in facts["ranks"]),
              facts["ranks"])
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2)}, job)
        # One fits, but not both.
        place.leave_memory("h0", MEBIBYTES * 3 // 2)
        why = refused(place, job, "drain", "h1")
        check("beside what else goes there" in why, why)
        place.release(0, 3)
        is_undisturbed(place, job, reference(*SIZE))


def where_they_fit():
    """A host with less load has too little memory."""
    with LoopbackPlace(3) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        at = saved(place, job)
        place.leave_memory("h2", 10)
        loses(place, "h1")
        for pid in range(4):
            place.wait_executed(pid, at, times=2)
        now = places(place, job)
        check(now["h0"] == ("up", 4) and now["h2"] == ("up", 0), now)
        place.release(0, at)
        ends_well(place, job, reference(*SIZE))


def nowhere():
    """The snapshot survives, and the job goes on with a further host."""
    with LoopbackPlace(2) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        at = saved(place, job)
        place.leave_memory("h0", 10)
        loses(place, "h1")
        job.wait(1)
        check_said(job, "host h1", "which ends the job: process", "host h0 has 10 MiB left",
                   f"bsprun --restart {place.store} --hosts h0:2,HOST continues from superstep")
        check(re.search(NEEDS, job.said()), job)
        place.release(0, at)
        # The same again: nobody has more memory now.
        job = place.bsprun("--restart", place.store, "--hosts", "me@h0:2")
        job.wait(1)
        check_said(job, "cannot continue on these hosts: process", "--hosts me@h0:2,HOST continues")
        check("which ends the job" not in job.said(), job)
        # A spare host would be none that is used.
        job = place.bsprun("--restart", place.store, "--hosts", "h0:2,h7:2", "--spares", "1")
        job.wait(1)
        check_said(job, "cannot continue on these hosts: process", "--hosts h0:2,HOST --spares 0 continues")
        job = place.bsprun("--restart", place.store, "--hosts", "h0:2,h7:2", "--spares", "0")
        job.check_tail(reference(*SIZE))
        place.check_files(reference(*SIZE))
        place.check_clean()


def left_where_it_was():
    """Memory gets short between the request and the barrier."""
    with LoopbackPlace(3) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        ctl = asked(place, job, "move", "3", "h2", "--wait")
        place.leave_memory("h2", 10)
        at = step_until(place, lambda: ctl.poll() is not None, 3)
        why = said(ctl, 1)
        check(re.search("process 3 continues on host h1, because there is too little memory: " + NEEDS +
                        "host h2 has 10 MiB left", why), why)
        check("process 3 continues on host h1" in job.said(), job)
        for pid in range(4):
            place.wait_executed(pid, at)
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2), "h2": ("up", 0)}, job)
        place.release(0, at)
        is_undisturbed(place, job, reference(*SIZE))


def they_stay_on_a_drained_host():
    """Where they have copies, when there is no room elsewhere any more."""
    with LoopbackPlace(slots=[1, 3]) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        ctl = asked(place, job, "drain", "h1", "--wait")
        place.leave_memory("h0", 2 * MEBIBYTES)
        at = step_until(place, lambda: ctl.poll() is not None, 3)
        why = said(ctl, 1)
        check(re.search("process 1 continues on host h1, .*: " + NEEDS + "host h0 has 40 MiB left", why),
              why)
        for pid in range(4):
            place.wait_executed(pid, at)
        check(places(place, job) == {"h0": ("up", 1), "h1": ("drained", 3)}, (places(place, job), job))
        place.release(0, at)
        is_undisturbed(place, job, reference(*SIZE))


def a_host_is_not_removed():
    """When its processes are to leave there is no room elsewhere any more: they stay, and the host is drained; when
    there is room again it is removed."""
    with LoopbackPlace(2) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        ctl = asked(place, job, "remove", "h1", "--wait")
        place.leave_memory("h0", 10)
        at = step_until(place, lambda: ctl.poll() is not None, 3)
        why = said(ctl, 1, job)
        check(re.search(r"process \d continues on host h1, because there is too little memory: " + NEEDS +
                        "host h0 has 10 MiB left", why), why)
        check(job.said().count("continues on host") == 1, job)
        for pid in range(4):
            place.wait_executed(pid, at)
        # What hosts have left is made up, and does not grow when processes end there.
        check(places(place, job)["h1"] == ("drained", 4), (places(place, job), job))
        place.leave_memory("h0", 20 * MEBIBYTES)
        at = step_until_done(place, job, asked(place, job, "remove", "h1", "--wait"), at)
        check(places(place, job) == {"h0": ("up", 4), "h1": ("removed", 0)}, job)
        place.release(0, at)
        is_undisturbed(place, job, reference(*SIZE))


def a_host_is_removed_one_term_later():
    """There might not have been room, but there was: processes had copies where they are."""
    with LoopbackPlace(2) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        ctl = asked(place, job, "remove", "h1", "--wait")
        place.leave_memory("h0", 2 * MEBIBYTES + 10)
        at = step_until(place, lambda: "(term 2)" in job.said(), 3)
        check(ctl.poll() is None, "h1 takes part in term 2")
        place.leave_memory("h0", 20 * MEBIBYTES)  # what has ended there has had as much
        at = step_until_done(place, job, ctl, at)
        for pid in range(4):
            place.wait_executed(pid, at)
        check(places(place, job) == {"h0": ("up", 4), "h1": ("removed", 0)}, job)
        place.release(0, at)
        is_undisturbed(place, job, reference(*SIZE))
        check("continues on" not in job.said() and "(term 3)" in job.said(), job)


def memory_that_is_being_freed():
    """What processes of the former term had counts as free, although it is not yet when they have ended."""
    with LoopbackPlace(2) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        at = saved(place, job)
        place.leave_memory("h0", 10)
        place.free_slowly("h0")
        before = status(place, job)["term"]
        loses(place, "h1")
        wait_until(lambda: status(place, job)["term"] > before, "the next term")
        looks = place.looks("h0")

        def looks_again():
            job.check_running()
            return place.looks("h0") >= looks + 40
        wait_until(looks_again, "an agent that waits for memory")
        place.free("h0", 10 * MEBIBYTES)
        for pid in range(4):
            place.wait_executed(pid, at, times=2)
        check(places(place, job)["h0"] == ("up", 4), job)
        place.release(0, at)
        ends_well(place, job, reference(*SIZE))


def told_to_leave():
    """The host cannot be refused, and what fits nowhere else stays on it."""
    with LoopbackPlace(slots=[1, 3]) as place:
        place.limit_memory()
        job = running(place, *SIZE)
        place.leave_memory("h0", 2 * MEBIBYTES)
        send(place.agent("h1"), signal.SIGTERM)
        wait_said(job, "host h1 is to be vacated, because its agent was told to end by SIGTERM: its processes move "
                       "at the next barrier, if they can: there is too little memory: process")
        at = step_until(place, lambda: "process 1 continues on host h1, because there is too little memory" in
                        job.said(), 3)
        for pid in range(4):
            place.wait_executed(pid, at)
        check(places(place, job) == {"h0": ("up", 1), "h1": ("drained", 3)}, (places(place, job), job))
        place.release(0, at)
        is_undisturbed(place, job, reference(*SIZE))


def replicas_that_do_not_fit():
    """They are refused, and so is nothing that fits; if memory gets short meanwhile the job goes on without them."""
    with LoopbackPlace(slots=(1, 1)) as place:
        place.limit_memory()
        job = place.ticker(2, 400, "-t", "10", "-l", *SIZE, options=(
            "--every", "10", "--replica-files", "allow", "-v"))
        place.wait_committed(20)
        for host in place.hosts:
            place.leave_memory(host, 10)  # beside the process of each
        why = refused(place, job, "replicas", "2")
        check(re.search(r"too little memory: process [01] needs [2-9]\d MiB of memory; host h0 has", why), why)
        check(status(place, job)["term"] == 1, job)
        for host in place.hosts:
            place.leave_memory(host, 3 * MEBIBYTES // 2)  # for one more of them, if that of this term goes
        why = said(control(place, job, "--wait", "replicas", "2"), 1, job)
        check(re.search(r"2 replicas are missing, as there is too little memory: process [01] needs", why), why)
        job.wait(0)


def replicas_that_are_there_already():
    """The host that is left has all processes, and nothing would be made there: either may be drained, or leave."""
    for leaves in ("h0", "h1", "SIGTERM"):
        with LoopbackPlace(slots=(1, 1)) as place:
            place.limit_memory()
            job = place.ticker(2, 300, "-t", "10", *SIZE, options=(
                "--every", "10", "--replicas", "2", "--replica-files", "allow", "-v"))
            place.wait_committed(20)
            for host in place.hosts:
                place.leave_memory(host, 10)
                place.free_slowly(host)  # once the processes of this term have ended
            before = status(place, job)["term"]
            if leaves == "SIGTERM":
                send(place.agent("h1"), signal.SIGTERM)
            else:
                said(control(place, job, "drain", leaves), 0)
            wait_until(lambda: status(place, job)["term"] > before, "the next term")
            for host in place.hosts:
                place.free(host, 10 * MEBIBYTES)
            job.wait(0)
            check("too little memory" not in job.said(), job)
            if leaves == "SIGTERM":
                check_said(job, "host h1 is to be vacated")


def mapped(agent):
    """Bytes of files without names, of objects that do not fit into the memory."""
    total = 0
    with open(f"/proc/{agent}/maps", encoding="ascii") as maps:
        for line in maps:
            if line.endswith(" (deleted)\n") and "/memfd:" not in line:
                begin, end = line.split()[0].split("-")
                total += int(end, 16) - int(begin, 16)
    return total


def program_has_no_more_memory(place):
    """Its processes, of which none is being saved, may have no more address space than they have."""
    for pid, name in marked(place.mark).items():
        if name != "integ_objects":
            continue
        try:
            with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
                size = int(statm.read().split()[0]) * resource.getpagesize()
            resource.prlimit(pid, resource.RLIMIT_AS, (size + OBJECT // 2, resource.RLIM_INFINITY))
        except OSError:
            pass  # the copy of one that has written an image


def objects_that_cannot_be_kept():
    """The agent, or the process that is to keep them, has too little memory: they are gone when they have been got."""
    for agent_has_memory in False, True:
        with LoopbackPlace(1) as place:
            place.limit_memory()
            place.leave_memory("h0", 1024 if agent_has_memory else 1)
            gate = place.path("gate")
            job = place.bsprun("-np", "2", "--ckpt", place.store, "--every", "0.1s", "--on-refuse", "continue", "--recover", "all",
                               "--dataspace-memory", "4M", OBJECTS, "many", "1", OBJECT, "0", gate)
            agent = place.agent("h0")
            wait_until(lambda: b"pid 0 is ready" in job.out(), "its first call")
            if agent_has_memory:
                program_has_no_more_memory(place)
            place.write("gate", "1")
            wait_until(lambda: mapped(agent) >= OBJECT, "an object in a file")
            wait_said(job, "no memory to keep the objects of the dataspace")
            place.write("gate", "2")
            wait_until(lambda: b"pid 0 has seen all" in job.out(), "its end")
            check(mapped(agent) < OBJECT, mapped(agent), job)
            place.write("gate", "3")
            job.wait(0)


if __name__ == "__main__":
    main([refused_at_once, where_they_fit, nowhere, left_where_it_was, they_stay_on_a_drained_host,
          a_host_is_not_removed, a_host_is_removed_one_term_later, memory_that_is_being_freed, told_to_leave,
          replicas_that_do_not_fit, replicas_that_are_there_already, objects_that_cannot_be_kept], together=3)
