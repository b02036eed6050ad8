"""Jobs on hosts whose firewalls let new connections pass to few ports only.

A firewall drops what it does not accept, so who calls hears nothing.
"""
import os
import re
import shutil
import threading
import time

import farm as farms
from farm import Farm
from jobs import BUILD, check, copied_build, main, wait_until
from sshd import Sshd

FIRST, LAST = 20000, 20009
LAUNCHERS = "22, 514"  # sshd, and what farm.rsh calls
WALL = """
table inet wall {{
    chain coming {{
        type filter hook input priority 0; policy drop;
        iif "lo" accept
        tcp flags & (syn | ack) != syn accept
        {rules}
    }}
}}
"""


class Walled:
    """Three hosts; bsprun is called on the first one.  They are reached by ssh where there can be one."""

    def __init__(self, farm):
        self.farm = farm
        self.bin = os.path.join(copied_build(farm), "bin")
        shutil.copy(os.path.join(BUILD, "bin", "bspparam"), self.bin)
        self.launcher = []
        if farm.user:
            Sshd(farm)
        else:
            self.launcher = ["--launcher", farm.rsh]

    def wall(self, name, *rules):
        """A host accepts only what the launcher needs, and new connections of these kinds."""
        rules = "\n".join([f"tcp dport {{ {LAUNCHERS} }} accept", *rules])
        host = self.farm.hosts[name]
        self.farm.command_in(host.init, ["nft", "-f", "-"], input=WALL.format(rules=rules))

    def job(self, *words, hosts="a:2,b:2,c:2"):
        """A program of 2 processes on each host that says nothing."""
        return self.farm.run("a", [os.path.join(self.bin, "bsprun"), "-v", "--hosts", hosts,
                                   *self.launcher, *words, os.path.join(self.bin, "bspparam"),
                                   "-probe", "check"],
                             user=self.farm.user, cwd=self.farm.home)

    def address(self, name):
        return re.escape(self.farm.hosts[name].address)


def walled(function, count=3):
    def test():
        with Farm(count) as farm:
            function(Walled(farm))
    return function.__name__, test


def through_a_range(hosts):
    """All hosts accept ssh and the range, and --ports keeps the job within it."""
    for name in "abc":
        hosts.wall(name, f"tcp dport {FIRST}-{LAST} accept")
    done = hosts.job("--ports", f"{FIRST}-{LAST}")
    check(done.returncode == 0 and re.search(r"\(term 1\), p = 6$", done.stderr, re.M), done)


def bsprun_behind_a_wall(hosts):
    """Without --ports: the address that does not answer is the first one named."""
    hosts.wall("a", f"tcp dport {FIRST}-{LAST} accept")
    done = hosts.job()
    check(done.returncode == 1, done)
    check(re.search(rf"bsprun cannot be reached: {hosts.address('a')}:\d+: no connection within",
                    done.stderr), done)


def an_agent_behind_a_wall(hosts):
    """Agents reach bsprun, but one of them not another."""
    for name in "ac":
        hosts.wall(name, f"tcp dport {FIRST}-{LAST} accept")
    hosts.wall("b", f"ip saddr {hosts.farm.hosts['a'].address} tcp dport {FIRST}-{LAST} accept")
    done = hosts.job("--ports", f"{FIRST}-{LAST}")
    check(done.returncode == 1, done)
    check(re.search(rf"^bsprun: host c has lost host b: {hosts.address('b')}:20\d\d\d: "
                    r"no connection within", done.stderr, re.M), done)
    check("confirmed" not in done.stderr, done)


def an_agent_that_reaches_no_other(hosts):
    """What is said of the connection that is named is said of it, and not of another one that is broken, too."""
    for name in "ad":
        hosts.wall(name, f"tcp dport {FIRST}-{LAST} accept")
    for name in "bc":
        hosts.wall(name, f"ip saddr != {hosts.farm.hosts['d'].address} tcp dport {FIRST}-{LAST} accept")
    done = hosts.job("--ports", f"{FIRST}-{LAST}", hosts="b:2,c:2,d:2")
    broken = re.search(r"^bsprun: the connection between host ([bc]) and host d broke \((\S+):\d+: ", done.stderr, re.M)
    check(broken and re.fullmatch(hosts.address(broken[1]), broken[2]) and "confirmed" not in done.stderr, done)


def connects(farm, name):
    """Whether a process of the host waits for an answer to its first packet."""
    with open(f"/proc/{farm.hosts[name].init}/net/tcp") as file:
        return any(line.split()[3] == "02" for line in file.readlines()[1:])


def for_less_than_the_heartbeat(hosts):
    """What is dropped for a while when links are made: the first packets, for which the kernel takes longer each
    time.  A host that is silent for so long is not lost later either."""
    for name in "ac":
        hosts.wall(name, f"tcp dport {FIRST}-{LAST} accept")
    hosts.wall("b", f"ip saddr {hosts.farm.hosts['a'].address} tcp dport {FIRST}-{LAST} accept")

    def open_again():
        wait_until(lambda: connects(hosts.farm, "c"), "a call from c")
        time.sleep(5.5)
        hosts.farm.command_in(hosts.farm.hosts["b"].init, ["nft", "delete", "table", "inet", "wall"])

    opener = threading.Thread(target=open_again)
    opener.start()
    done = hosts.job("--ports", f"{FIRST}-{LAST}")
    opener.join()
    check(done.returncode == 0 and re.search(r"\(term 1\), p = 6$", done.stderr, re.M), done)


def an_address_that_all_hosts_have():
    """As that of a bridge for containers: with one port for all, who calls that of another host reaches itself
    while the answer of the other one is on its way."""
    if os.geteuid() != 0:
        return "skipped: needs root"
    with Farm(3, wires=True) as farm:
        for name in farm.names:
            for words in (["link", "add", "docker0", "type", "bridge"], ["addr", "add", "172.17.0.1/16", "dev", "docker0"],
                          ["link", "set", "docker0", "up"]):
                farm.command_in(farm.hosts[name].init, ["ip", *words])
        farm.delay("b", 0.2)
        done = farm.run("a", [os.path.join(BUILD, "bin", "bsprun"), "-v", "--hosts", "b:1,c:1", "--launcher", farm.rsh,
                              "--ports", f"{FIRST}-{FIRST}", os.path.join(BUILD, "bin", "bspparam"), "-probe", "check"])
        check(done.returncode == 0 and len(done.stderr.splitlines()) == 1, done)
    return None


if __name__ == "__main__":
    farms.require("nft", *(["ssh", "sshd"] if os.geteuid() == 0 else []))
    main([*map(walled, (through_a_range, bsprun_behind_a_wall, an_agent_behind_a_wall,
                        for_less_than_the_heartbeat)), walled(an_agent_that_reaches_no_other, 4),
          an_address_that_all_hosts_have], together=3)
