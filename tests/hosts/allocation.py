"""What bsprun does about the nodes that Slurm says its allocation has.  Slurm is a script here, which
says what a test wants; slurm_nodes.py asks a real one.
"""
import os
import signal
import time

from loopback import *
from loopback import (LoopbackPlace, Reference, check, check_said, first_difference, marked, send, wait_said,
                      wait_until)
from draining import (SUPERSTEPS, asked, control, ends_well, places, reference, refused, said,
                      step_until, step_until_done)

# It answers with a file's text, or does what another file says, and notes that it was asked.
SCONTROL = """#!/bin/sh
echo "$@" >>{directory}/questions
[ ! -e {directory}/slurm.does ] || . {directory}/slurm.does
cat {directory}/nodes
"""
SAYS = "JobId=77 JobName=a JobState=RUNNING PreemptTime={} ReqNodeList=x NodeList={} BatchHost=b\n"
GONE = "is not a node of Slurm job 77 any more"
COME = "has become a node of Slurm job 77"


class AllocationPlace(LoopbackPlace):
    """h0, h1, ... with 2 slots each are the nodes at first."""

    def __init__(self, hosts=2, options=(), rejoin="1", named=False):
        super().__init__(hosts, options=options)
        os.mkdir(self.path("slurm"))
        self.write("slurm/scontrol", SCONTROL.format(directory=self.directory))
        os.chmod(self.path("slurm/scontrol"), 0o700)
        self.env.update(SLURM_JOB_ID="77", SLURM_JOB_NODELIST=f"h[0-{hosts - 1}]",
                        SLURM_NTASKS=str(2 * hosts), SLURM_TASKS_PER_NODE=f"2(x{hosts})",
                        PATH=self.path("slurm") + ":" + os.environ["PATH"])
        if not named:
            self.options = self.options[2:]
        self.options += ["--rejoin", rejoin, "--heartbeat", "4"]
        self.allocate(f"h[0-{hosts - 1}]")

    def allocate(self, nodes, preempted="None"):
        self.write("nodes.new", SAYS.format(preempted, nodes))
        os.rename(self.path("nodes.new"), self.path("nodes"))

    def slurm_does(self, what):
        self.write("slurm.does", what)

    def questions(self):
        try:
            with open(self.path("questions")) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def wait_asked(self, more=1):
        """Until it was asked again, and again, so that what came before the last time is known."""
        before = len(self.questions())
        wait_until(lambda: len(self.questions()) >= before + more, "a question")

    def running(self, p=4, at=3):
        self.hold(0, at)
        job = self.ticker(p, SUPERSTEPS, "-a", options=("-v", "--every", "1000", "--balance", "off"))
        for pid in range(p):
            self.wait_executed(pid, at)
        return job

    def take_away(self, *hosts):
        """As Slurm does: all that is there is killed."""
        self.kills.append(self.committed())
        for host in hosts:
            send(self.agent(host), signal.SIGKILL)


def a_node_is_taken_away_and_comes_back():
    with AllocationPlace() as place:
        job = place.running()
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2)}, job)
        place.allocate("h0")
        place.take_away("h1")
        wait_said(job, "host h1 " + GONE)
        for pid in range(4):
            place.wait_executed(pid, 3, times=2)
        check(places(place, job) == {"h0": ("up", 4), "h1": ("released", 0)}, job)
        place.wait_asked(3)
        check(job.said().count("restart 1 of") == 1 and "could not be" not in job.said(), job)
        check("host h1 is not a node" in refused(place, job, "--wait", "add", "h1"), job)
        place.allocate("h0,h1")
        wait_said(job, "host h1 " + COME)
        at = step_until(place, lambda: places(place, job) == {"h0": ("up", 2), "h1": ("up", 2)}, 3)
        place.release(0, at)
        ends_well(place, job, reference())


def a_node_is_lost_and_stays_one():
    """Another agent is started there."""
    with AllocationPlace() as place:
        job = place.running()
        place.take_away("h1")
        for pid in range(4):
            place.wait_executed(pid, 3, times=2)
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2)}, job)
        check(place.questions() and all("77" in question for question in place.questions()),
              place.questions())
        check("node of" not in job.said(), job)
        place.release(0, 3)
        ends_well(place, job, reference())


def the_agent_of_a_released_node_lives():
    """It was not started by Slurm, or is not dead yet: its processes move."""
    with AllocationPlace(3) as place:
        job = place.running(6)
        place.allocate("h[0-1]")
        wait_said(job, "host h2 is to be vacated, because it " + GONE)
        at = step_until(place, lambda: places(place, job)["h2"] == ("released", 0), 3)
        check("restart" not in job.said(), job)
        place.allocate("h[0-2]")
        at = step_until(place, lambda: places(place, job)["h2"] == ("up", 2), at)
        place.release(0, at)
        expected = Reference.of(6, SUPERSTEPS, "-a")
        ends_well(place, job, expected)
        check("restart" not in job.said(), job)


def new_nodes_come():
    """With as many slots as the others have: there is room for what a host had that is taken away."""
    with AllocationPlace() as place:
        job = place.running()
        place.allocate("h[0-1],x[7-8]")
        for name in ("x7", "x8"):
            wait_said(job, f"host {name} {COME}")
        at = step_until(place, lambda: list(places(place, job).values()) ==
                        [("up", 2), ("up", 2), ("up", 0), ("up", 0)], 3)
        check("restart" not in job.said(), job)
        place.allocate("h0,x[7-8]")
        place.take_away("h1")
        wait_said(job, "host h1 " + GONE)
        wait_until(lambda: places(place, job) == {"h0": ("up", 2), "h1": ("released", 0),
                                                  "x7": ("up", 2), "x8": ("up", 0)}, "processes on x7")
        place.wait_executed(0, at, times=2)
        place.release(0, at)
        ends_well(place, job, reference())


def a_new_node_goes_before_its_agent_has_come():
    """What starts the agent is ended, and cannot end what starts another one when the node comes again."""
    with AllocationPlace(2, ["--connect-timeout", "600"]) as place:
        def starting():
            return [os_pid for os_pid, name in marked(place.mark).items() if name == "launcher"]

        job = place.running()
        place.delay("x7")
        place.allocate("h[0-1],x7")
        wait_said(job, "host x7 " + COME)
        first = wait_until(starting, "the start of an agent")
        place.allocate("h[0-1]")
        wait_until(lambda: not set(first) & set(starting()), "its end")
        place.allocate("h[0-1],x7")
        wait_until(starting, "the start of another one")
        place.let_come("x7")
        at = step_until(place, lambda: places(place, job)["x7"] == ("up", 0), 3)
        check("could not be started" not in job.said(), job)
        place.release(0, at)
        ends_well(place, job, reference())


def hosts_that_the_user_has_named():
    """Others of the allocation are not taken, and be it bsprun's own host that was left out."""
    for own in ({}, {"SLURMD_NODENAME": "h2"}):
        with AllocationPlace(2, named=True) as place:
            place.env.update(SLURM_JOB_NODELIST="h[0-2]", SLURM_TASKS_PER_NODE="2(x3)", **own)
            place.allocate("h[0-2],x7")
            job = place.running()
            place.wait_asked(3)
            check(set(places(place, job)) == {"h0", "h1"}, own, job)
            place.release(0, 3)
            ends_well(place, job, reference())


def all_hosts_are_named():
    """bsprun's own host by another name than Slurm's: new ones are taken."""
    with AllocationPlace(2, named=True) as place:
        place.options[1] = "localhost:2,h1:2"
        place.env["SLURMD_NODENAME"] = "h0"
        place.allocate("h[0-1],x7")
        job = place.running()
        wait_said(job, "host x7 " + COME)
        at = step_until(place, lambda: set(places(place, job)) == {"h0", "h1", "x7"}, 3)
        place.release(0, at)
        ends_well(place, job, reference())


def several_agents_on_each_host():
    """All of them are on a node of the allocation, also those of a host that has another name there."""
    for hosts in ("h0:2,h1:2", "localhost:2,h1:2"):
        with AllocationPlace(2, ["--replicas", "2", "--replicas-on-host"], named=True) as place:
            place.options[1] = hosts
            place.env["SLURMD_NODENAME"] = "h0"
            place.hold(0, 3)
            job = place.ticker(2, SUPERSTEPS, options=("-v", "--every", "1000", "--replica-files", "allow"))
            place.wait_executed(0, 3, times=2)
            place.wait_asked(3)
            check("node of" not in job.said(), job)
            check({state for state, _ in places(place, job).values()} == {"up"}, places(place, job))
            place.release(0, 3)
            job.check_all(Reference.of(2, SUPERSTEPS))
            check("node of" not in job.said(), job)


def nobody_looks():
    """--rejoin off: what bspctl asks for is looked up all the same."""
    with AllocationPlace(2, rejoin="off") as place:
        job = place.running()
        check(not place.questions(), place.questions())
        check("host x7 is not a node" in refused(place, job, "--wait", "add", "x7:2"), job)
        check(len(place.questions()) == 1, place.questions())
        place.allocate("h[0-1],x7")
        at = step_until_done(place, job, asked(place, job, "--wait", "add", "x7:2"), 3)
        check(places(place, job)["x7"][0] == "up", places(place, job))
        place.release(0, at)
        ends_well(place, job, reference())


def slurm_does_not_answer():
    """All goes on as if the nodes were as before."""
    for does in ("exit 1", "echo nonsense; exit", "rm -f {0}/nodes", "exec sleep 1000"):
        with AllocationPlace() as place:
            job = place.running()
            place.slurm_does(does.format(place.directory))
            if "sleep" not in does:
                wait_said(job, "the nodes of Slurm job 77 are not known: ")
            place.take_away("h1")
            for pid in range(4):
                place.wait_executed(pid, 3, times=2)
            check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2)}, does, job)
            check(job.said().count("are not known") == 1, does, job)
            place.release(0, 3)
            ends_well(place, job, reference())


def a_spare_is_taken_away():
    """It takes nobody's place."""
    with AllocationPlace(3, ["--spares", "1"]) as place:
        job = place.running()
        place.allocate("h0")
        place.take_away("h1")
        wait_said(job, "host h1 " + GONE)
        for pid in range(4):
            place.wait_executed(pid, 3, times=2)
        check(places(place, job) == {"h0": ("up", 4), "h1": ("released", 0), "h2": ("released", 0)},
              places(place, job))
        place.release(0, 3)
        ends_well(place, job, reference())


def preempted_stops(place, job, release):
    """At the next barrier.  It continues from there."""
    wait_said(job, "Slurm's job 77 has to make room for another job: this job is saved and stopped")
    release()
    job.wait(123)
    check_said(job, "stopped after a snapshot")
    place.allocate("h[0-1]")
    again = place.bsprun("--restart", place.store, "-v")
    again.wait(0)
    output = job.out() + again.out()
    check(output == reference().out, first_difference(output, reference().out))
    place.check_executions()


def the_job_has_to_make_room():
    """Slurm says so when it is asked, and only to agents of other hosts than bsprun's."""
    with AllocationPlace() as place:
        job = place.running()
        place.allocate("h[0-1]", preempted="2026-11-24T03:43:48")
        preempted_stops(place, job, lambda: place.release(0, 3))
    with AllocationPlace(3, rejoin="off") as place:
        job = place.running()
        place.allocate("h[0-2]", preempted="2026-11-24T03:43:48")
        send(place.agent("h1"), signal.SIGTERM)
        preempted_stops(place, job, lambda: place.release(0, 3))


def slurm_says_so_late():
    """When an agent is told to end Slurm does not answer at first, and then not yet why that was."""
    with AllocationPlace(3, rejoin="off") as place:
        job = place.running()
        place.slurm_does("exit 1")
        send(place.agent("h1"), signal.SIGTERM)
        place.wait_asked()
        place.slurm_does("")
        place.wait_asked()
        place.allocate("h[0-2]", preempted="2026-11-24T03:43:48")
        preempted_stops(place, job, lambda: place.release(0, 3))


def the_grace_time_ends_before_the_barrier():
    """The signal by which Slurm says so is not the second one, which kills."""
    with AllocationPlace() as place:
        job = place.running()
        place.allocate("h[0-1]", preempted="2026-11-24T03:43:48")
        wait_said(job, "has to make room")
        time.sleep(1.1)  # later than signals that are the same one
        send(job.os_pid, signal.SIGTERM)
        preempted_stops(place, job, lambda: place.release(0, 3))


def the_job_ends_while_slurm_is_asked():
    with AllocationPlace() as place:
        job = place.running()
        place.slurm_does("exec sleep 1000")
        place.wait_asked()
        place.release(0, 3)
        ends_well(place, job, reference())


if __name__ == "__main__":
    main([a_node_is_taken_away_and_comes_back, a_node_is_lost_and_stays_one,
          the_agent_of_a_released_node_lives, new_nodes_come, a_new_node_goes_before_its_agent_has_come,
          hosts_that_the_user_has_named, all_hosts_are_named, several_agents_on_each_host,
          nobody_looks, slurm_does_not_answer, a_spare_is_taken_away,
          the_job_has_to_make_room, slurm_says_so_late, the_grace_time_ends_before_the_barrier,
          the_job_ends_while_slurm_is_asked], together=3)
