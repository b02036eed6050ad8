#!/usr/bin/env python3
"""Replicas, on hosts all of which are this machine: of some processes more than of others, more and fewer of
them while the job runs, and all of a process on one host; what bspstat and --report say of them."""
import os
import re
import signal
import subprocess

import replicas
from draining import asked, control, refused, said, status
from loopback import BIN, BSPRUN, LoopbackPlace, check, check_said, main, wait_said, wait_until
from replicas import BACK, Scene

BSPSTAT = os.path.join(BIN, "bspstat")
LONG = 300


def cells(job):
    """{pids: [host ...]} of the newest term, as bsprun -v says it; hosts with the only replica are not there."""
    terms = job.said().split("Processor Zero is host")
    said_before = terms[-2] if len(terms) > 1 else ""
    return {match.group(2): match.group(1).replace("host ", "").split(", ")
            for match in re.finditer(r"replicas: (host .*): (process.*)$", said_before, re.MULTILINE)}


def kill(scene, host):
    for pid in scene.processes(host):
        os.kill(pid, signal.SIGKILL)


def ask(scene, *words):
    """bspctl --wait JOB replicas ...; until bsprun has said of the new term what there is to say."""
    begin = "Processor Zero is host"
    before = scene.job.said().count(begin)
    said(control(scene.place, scene.job, "--wait", "replicas", *words), 0, scene.job)
    wait_until(lambda: scene.job.said().count(begin) > before, "the next term")


def some_have_more():
    """Process 0 has two replicas, the loss of one of which costs nothing; that of the host of process 1 does."""
    with Scene(hosts=3, replicas="0=2", supersteps=LONG) as scene:
        zero, _ = scene.zero(), scene.others()
        pair = cells(scene.job)["process 0"]
        check(len(pair) == 2, cells(scene.job), scene.job)
        lost = [host for host in pair if host != zero][0]
        kill(scene, lost)
        wait_said(scene.job, f"host {lost} was lost")
        check(BACK not in scene.job.said(), "it went back", scene.job)
        alone = [host for host in scene.place.hosts if host not in pair][0]
        kill(scene, alone)
        scene.right()
        check_said(scene.job, BACK)


def none_is_lost():
    """Whatever the numbers, the answer is the same."""
    for hosts, numbers in ((3, "1=2"), (4, "0=3"), (4, "0-1=2"), (6, "3"), (5, "0=2,1=3")):
        with Scene(hosts=hosts, replicas=numbers, supersteps=30) as scene:
            scene.right()
            check(BACK not in scene.job.said(), "it went back", scene.job)


def more_and_fewer():
    """A job that began without replicas has them, survives a host, and has none again."""
    with Scene(hosts=4, replicas=1, supersteps=LONG) as scene:
        scene.others()
        ask(scene, "2")
        two = cells(scene.job)
        check(sorted(map(len, two.values())) == [2, 2], two, scene.job)
        check(status(scene.place, scene.job)["replicas"]["of_each"] == "2", scene.job)
        zero = re.findall(r"Processor Zero is host (\S+)", scene.job.said())[-1]
        lost = [host for hosts in two.values() for host in hosts if host != zero][0]
        kill(scene, lost)
        wait_said(scene.job, f"host {lost} was lost; processes with replicas")
        ask(scene, "0=2")
        check(list(map(len, cells(scene.job).values())) == [2], cells(scene.job), scene.job)
        ask(scene, "1")
        check(not cells(scene.job) and status(scene.place, scene.job)["replicas"] is None, scene.job)
        scene.right()
        check(BACK not in scene.job.said(), "it went back", scene.job)


def some_are_missing():
    """A host is lost between the request and the end of the term: whoever waits is told how many are not made."""
    with Scene(hosts=3, replicas=1, supersteps=LONG) as scene:
        scene.others()
        rank = next(rank for rank in status(scene.place, scene.job)["ranks"] if rank["pid"] == 1)
        os.kill(rank["os_pid"], signal.SIGSTOP)  # so that the term does not end before
        ctl = asked(scene.place, scene.job, "--wait", "replicas", "3")
        scene.place.will_not_return(rank["host"])
        kill(scene, rank["host"])
        why = said(ctl, 1, scene.job)
        check("2 replicas are missing, as there are too few hosts: they are made at a snapshot when there are more" in
              why, why, scene.job)
        wait_until(lambda: list(map(len, cells(scene.job).values())) == [2], "what bsprun says of the new term")
        scene.right()


def shared_files():
    """Processes that share them have as many replicas as the first of them, which is known when they are made."""
    with Scene(hosts=3, replicas=1, slots=2, supersteps=LONG) as scene:
        scene.others()
        why = said(control(scene.place, scene.job, "--wait", "replicas", "1=2"), 1, scene.job)
        check("1 replica is missing, as process 1 shares open files with process 0, and has as many replicas: give both "
              "the same number" in why, why, scene.job)
        ask(scene, "2")
        check(list(cells(scene.job)) == ["processes 0-1"], cells(scene.job), scene.job)
        scene.right()


def what_is_refused():
    """With one message, and the job goes on."""
    with Scene(hosts=2, replicas=1, supersteps=LONG) as scene:
        scene.others()
        for words, text in ((("5",), "give a number from 1 to 4"), (("0=9",), "give a number of replicas from 1 to 4"),
                            (("0=2,0=2",), "process 0 is named twice"),
                            (("7=2",), "it has no process 7: its processes are 0 to 1"),
                            (("3",), "these replicas need 3 hosts, and 2 take part"),
                            (("0=2",), "these replicas need 3 hosts, and 2 take part")):
            why = refused(scene.place, scene.job, "replicas", *words)
            check(text in why, words, why)
        why = refused(scene.place, scene.job, "replicas", status=2)
        check("give a number from 1 to 4" in why, why)
        again = said(control(scene.place, scene.job, "replicas", "1"), 0)
        check("replicas are already: 1" in again, again)
        scene.right()
        check(scene.job.said().count("Processor Zero is host") == 1, "the term has ended", scene.job)


def moves_are_refused():
    """Who waits for a move while replicas are asked for is told; without them processes are moved again."""
    with Scene(hosts=3, replicas=1, supersteps=LONG) as scene:
        scene.others()
        rank = next(rank for rank in status(scene.place, scene.job)["ranks"] if rank["pid"] == 1)
        free = next(host for host in scene.place.hosts if host not in
                    {rank["host"] for rank in status(scene.place, scene.job)["ranks"]})
        os.kill(rank["os_pid"], signal.SIGSTOP)  # so that the term does not end before
        move = asked(scene.place, scene.job, "--wait", "move", "1", free)
        more = asked(scene.place, scene.job, "--wait", "replicas", "0=2")
        os.kill(rank["os_pid"], signal.SIGCONT)
        why = said(move, 1, scene.job)
        check("processes get replicas, which are not moved, by another bspctl" in why, why, scene.job)
        said(more, 0, scene.job)
        why = refused(scene.place, scene.job, "--wait", "move", "1", rank["host"])
        check("it has replicas, which are not moved: bspctl JOB drain HOST vacates a host" in why, why, scene.job)
        ask(scene, "1")
        said(control(scene.place, scene.job, "--wait", "move", "1", free), 0, scene.job)
        scene.right()


def programs_that_cannot():
    with Scene("--replica-files", "check", hosts=2, replicas=1, supersteps=LONG) as scene:
        scene.others()
        why = refused(scene.place, scene.job, "replicas", "2")
        check(" appends to a file, " in why, why)
        scene.right()


def jobs_that_cannot():
    """No snapshots; all replicas on one host."""
    with LoopbackPlace(2) as place:
        for words, text in (((), "it takes no snapshots"),
                            (("--replicas", "2", "--replicas-on-host", "--replica-files", "allow", "--ckpt",
                              place.store), "all replicas of a process on the same host")):
            job = place.bsprun("-np", 2, "-v", *words, replicas.TICKER, place.files, 300, "-t", "10", "-a")
            wait_said(job, "Processor Zero is host")
            why = refused(place, job, "replicas", "2")
            check(text in why, why, job)
            job.wait(0)


def bspstat_shows_them():
    with Scene(supersteps=LONG) as scene:
        zero, _ = scene.zero(), scene.others()
        facts = status(scene.place, scene.job)
        check(facts["replicas"]["of_each"] == "2" and facts["replicas"]["missing"] == 0, facts)
        ranks = facts["ranks"]
        check(len(ranks) == 4 and sum(rank["leads"] for rank in ranks) == 2, ranks)
        check(len({(rank["pid"], rank["host"]) for rank in ranks}) == 4, ranks)
        lost = [rank for rank in ranks if rank["host"] != zero][0]
        kill(scene, lost["host"])
        wait_said(scene.job, f"host {lost['host']} was lost")
        facts = status(scene.place, scene.job)["replicas"]
        check(facts["lost_now"] == [{"pid": lost["pid"], "host": lost["host"]}] and facts["missing"] == 1, facts)
        text = subprocess.run([BSPSTAT, str(scene.job.os_pid)], capture_output=True, check=False, text=True,
                              env=dict(os.environ, **scene.place.env)).stdout
        check(f"replicas: 2, 1 of them missing; lost: pid {lost['pid']} on {lost['host']}" in text, text)
        check(" leads " in text, text)
        scene.right()


def the_report_counts_them():
    with Scene("--report", "--rejoin", "1", supersteps=LONG) as scene:
        kill(scene, scene.others()[0])
        wait_said(scene.job, "continues from superstep")
        scene.right()
        check_said(scene.job, "replicas: 2; 0 rollbacks; 1 replica lost, 1 made anew")


def all_on_one_host():
    """Those of another host, and of bsprun's own, where a process that dies costs nothing."""
    with Scene("--replicas-on-host", hosts=1, supersteps=LONG) as scene:
        scene.place.wait_committed(20)
        check(list(cells(scene.job).values()) == [["h0", "h0#2"]], cells(scene.job), scene.job)
        other = [host for host in ("h0", "h0#2") if host != scene.zero()][0]
        kill(scene, other)
        scene.right()
        check(BACK not in scene.job.said(), "it went back", scene.job)
    with LoopbackPlace(1) as place:
        job = place.start(BSPRUN, "-np", 2, "--replicas", 2, "--replicas-on-host", "-v", "--ckpt", place.store,
                          "--replica-files", "allow", replicas.TICKER, place.files, 30, env=dict(place.env))
        job.wait(0)
        check(job.out() == replicas.undisturbed(30), "another output than without replicas", job)
        check_said(job, "#2: processes 0-1")


def processor_zero_among_three():
    """With three replicas, and snapshots all the time: the others of a process that is captured have gone on to
    the next barrier, which another Processor Zero must know."""
    with Scene("--every", "2", hosts=6, replicas=3) as scene:
        zero = scene.zero()
        scene.place.wait_committed(20)
        kill(scene, zero)
        wait_said(scene.job, " is Processor Zero now")
        scene.right()
        check(BACK not in scene.job.said(), "it went back", scene.job)


def mistakes():
    with LoopbackPlace(slots=(1, 1, 1)) as place:
        for words, text in ((("--replicas", "0=2,1=3"), "5 hosts are needed"),
                            (("--replicas", "0=2,0=2"), "process 0 is named twice"),
                            (("--replicas", "2=2"), "there is no process 2: with -np 2 they are 0 to 1"),
                            (("--replicas", "0=5"), "give a number of replicas from 1 to 4"),
                            (("--replicas-on-host",), "give their number, 2 to 4, with --replicas"),
                            (("--replicas", "0=2", "--replicas-on-host"), "give one number with --replicas")):
            job = place.bsprun("-np", 2, *words, "true")
            job.wait(2)
            check_said(job, text)


if __name__ == "__main__":
    main([some_have_more, none_is_lost, more_and_fewer, some_are_missing, shared_files, what_is_refused,
          moves_are_refused, programs_that_cannot, jobs_that_cannot, bspstat_shows_them, the_report_counts_them,
          all_on_one_host, processor_zero_among_three, mistakes])
