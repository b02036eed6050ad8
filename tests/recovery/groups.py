"""Files that were open before bsp_begin when a job goes on on fewer or more hosts: those who shared
an offset still share it, those who did not still do not.

The hosts are all this machine (tests/hosts/local-rsh); one that is down cannot be reached again.
"""
import shlex
import signal

from harness import *

HERE = os.path.dirname(os.path.realpath(__file__))
RSH = shlex.quote(os.path.join(HERE, os.pardir, "hosts", "local-rsh"))
GROUPS = os.path.join(PROGRAMS, "groups")
P, GROUP, SUPERSTEPS = 4, 2, 40
ONE, TWO, MORE = "h0:4", "h0:2,h1:2", "h0:2,h1:2,h2:1,h3:1"


class Jobs(Place):
    """One job after the other on other hosts, and what comes of an undisturbed one."""

    def __init__(self, way, first):
        super().__init__()
        self.words = (SUPERSTEPS, GROUP, way)
        self.rsh = self.write("rsh", f"#!/bin/sh\n[ -e '{self.directory}'/down.$1 ] || "
                              f"exec {RSH} \"$@\"\necho no route >&2\nexit 255\n")
        os.chmod(self.rsh, 0o755)
        with Place() as place:
            place.start(BSPRUN, "-np", P, *self.hosts(first), GROUPS, place.files,
                        *self.words).wait(0)
            self.files_wanted = place.contents()
        self.job = None
        self.hold_all(self.stop(1))
        self.job = self.start(BSPRUN, "-np", P, "--ckpt", self.store, "--every", 1,
                              *self.hosts(first), GROUPS, self.files, *self.words)

    def hosts(self, which):
        return ["--launcher", self.rsh, "--heartbeat", 2, "--hosts", which]

    @staticmethod
    def stop(number):
        """The superstep in which something happens for the n-th time."""
        return 5 * number + number % 2

    def hold_all(self, superstep):
        for pid in range(P):
            self.hold(pid, superstep)

    def wait_held(self, superstep):
        for pid in range(P):
            self.wait_executed(pid, superstep)
        self.wait_committed(superstep)

    def release_all(self, superstep):
        for pid in range(P):
            self.release(pid, superstep)

    def at(self, number, act):
        """Does something when all are held for the n-th time; they will be again."""
        superstep = self.stop(number)
        self.wait_held(superstep)
        self.hold_all(self.stop(number + 1))
        act(superstep)
        self.release_all(superstep)

    def go_on(self, which):
        """Everything is lost; the job goes on on other hosts."""
        def act(_):
            send(self.job.os_pid, signal.SIGKILL)
            self.job.wait(-signal.SIGKILL)
            wait_until(lambda: not marked(self.mark), "the end of all processes")
            self.job = self.restart(options=self.hosts(which))
        return act

    def lose(self, *pids):
        """Of some processes only the images are left."""
        def act(superstep):
            victims = [self.executed(pid, superstep)[-1] for pid in pids]
            self.kill(*victims)
        return act

    def lose_a_copy(self, name, pid):
        """Of one of the host's processes there is nothing but the image; one (of any host) dies."""
        def act(superstep):
            agent = self.agent_of(name)
            ranks = [self.executed(number, superstep)[-1] for number in range(P)]
            here = [rank for rank in ranks if rank in children_of(agent)]
            wait_until(lambda: len(copies_of(agent)) == len(here), "a copy of each")
            self.kill(copies_of(agent)[-1], ranks[pid])
        return act

    def agent_of(self, name):
        wanted = b"BSPZERO_HOST_NAME=" + name.encode()
        found = [os_pid for os_pid, what in marked(self.mark).items()
                 if what == "bspnode" and wanted in environment_of(os_pid)]
        check(len(found) == 1, "the agent of", name, ":", found)
        return found[0]

    def lose_host(self, name):
        def act(_):
            self.write("down." + name, "")
            self.kill(self.agent_of(name))
        return act

    def check_end(self, number):
        self.wait_held(self.stop(number))
        self.release_all(self.stop(number))
        self.job.wait(0)
        now = self.contents()
        for name, content in self.files_wanted.items():
            check(now[name] == content, name, "differs:", first_difference(now[name], content),
                  self.job)
        self.check_store()
        self.check_clean()


def play(way, first, *acts):
    with Jobs(way, first) as jobs:
        for number, act in enumerate(acts, 1):
            name, *words = act
            jobs.at(number, getattr(jobs, name)(*words))
        jobs.check_end(len(acts) + 1)


def on_fewer_hosts():
    play("hosts", TWO, ["go_on", ONE])


def on_fewer_and_more_again():
    """In between some are lost: those that are restored and those that are thawed share again."""
    play("hosts", TWO, ["go_on", ONE], ["lose", 3], ["lose", 0, 2], ["go_on", TWO], ["lose", 1],
         ["go_on", ONE])


def on_more_hosts():
    play("files", ONE, ["go_on", TWO], ["lose", 2], ["go_on", ONE], ["lose", 0, 3])


def host_lost():
    """The other one takes its processes."""
    play("hosts", TWO, ["lose_host", "h1"], ["lose", 2], ["lose", 0, 3])


def all_lost_processes_come_to_one_host():
    """Though there would be room on two, for one each."""
    play("hosts", MORE, ["lose_host", "h1"], ["lose", 2], ["lose", 0, 3])


def a_process_without_a_copy():
    """It goes to the one with which it shares, though another host has nothing to do."""
    play("hosts", MORE, ["lose_a_copy", "h1", 3], ["lose_a_copy", "h0", 2], ["lose", 1, 2])


main([on_fewer_hosts, on_fewer_and_more_again, on_more_hosts, host_lost,
      all_lost_processes_come_to_one_host, a_process_without_a_copy], together=3)
