"""What can happen to the hosts of a farm, and to the network between them; see farm.py."""
import glob
import os
import signal
import time

from farm_parts import PATIENCE, FarmError, read_line


def thread_state(path):
    try:
        with open(os.path.join(path, "stat")) as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def is_stopped(os_pid):
    """Or gone: none of its threads can start another process.  One that waits uninterruptibly stops before it goes on."""
    return all(thread_state(path) in "TtDZX" for path in glob.glob(f"/proc/{os_pid}/task/*"))


class Faults:
    """Of a Farm."""

    def kill_host(self, name):
        """Power off: nobody hears a word of it any more, then everything on it is gone."""
        host = self.hosts[name]
        self.cut(name)
        self.end_host(host)
        if not self.wires:  # the kernel removes it some time later
            self.on_switch("ip", "link", "del", host.port, check=False)

    def set_wire(self, name, **change):
        host = self.hosts[name]
        if not host.wire:
            raise FarmError("only farms with wires can do that")
        host.wire.update(change)
        self.tell_wires("set", host.number, *(host.wire[what] for what in ("delay", "loss", "rate", "out", "in")))

    def tell_wires(self, *words):
        self.cables.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.cables.stdin.flush()
        read_line(self.cables, "the wires between the hosts")

    def delay(self, name, seconds):
        """Every frame from and to a host is so much later."""
        self.set_wire(name, delay=int(seconds * 1e6))

    def loss(self, name, fraction):
        """So many of its frames are lost, either way."""
        self.set_wire(name, loss=int(fraction * 1e6))

    def rate(self, name, bytes_per_second):
        """Its link carries so much, either way; 0: as much as it can."""
        host = self.hosts[name]
        if host.wire:
            self.set_wire(name, rate=int(bytes_per_second))
            return
        self.on_switch("tc", "qdisc", "del", "dev", host.port, "root", check=False)
        self.command_in(host.init, ["tc", "qdisc", "del", "dev", "eth0", "root"], check=False)
        if bytes_per_second:
            bucket = ["root", "tbf", "rate", f"{int(bytes_per_second * 8)}bit", "burst", "128kb",
                      "latency", "400ms"]
            self.on_switch("tc", "qdisc", "add", "dev", host.port, *bucket)
            self.command_in(host.init, ["tc", "qdisc", "add", "dev", "eth0", *bucket])

    def cut(self, name, cable=False):
        """Nothing passes from or to a host; it notices nothing, or, with cable, that its link is
        down."""
        host = self.hosts[name]
        if host.wire and cable:
            raise FarmError("farms with wires can not do that")
        if host.wire:
            self.set_wire(name, out=0, **{"in": 0})
        elif cable:
            self.on_switch("ip", "link", "set", host.port, "down")
        else:
            self.on_switch("bridge", "link", "set", "dev", host.port, "state", "0")

    def mend(self, name):
        """The opposite of cut, delay, loss and rate."""
        host = self.hosts[name]
        if host.wire:
            self.set_wire(name, delay=0, loss=0, rate=0, out=1, **{"in": 1})
            return
        self.rate(name, 0)
        self.on_switch("ip", "link", "set", host.port, "up")
        end = time.monotonic() + PATIENCE
        forward = ("bridge", "link", "set", "dev", host.port, "state", "3")
        while "Network is down" in self.on_switch(*forward, check=False).stderr:
            if time.monotonic() > end:  # the kernel takes note of a cable some time later
                raise FarmError(f"the link to {name} stays down")
        self.on_switch(*forward)
        self.cuts = {pair for pair in self.cuts if name not in pair}
        self.cut_pairs()

    def cut_between(self, one, other, both=True):
        """Nothing passes from one host to the other (or back), while both hear everybody else."""
        self.cuts |= {(one, other), (other, one)} if both else {(one, other)}
        self.cut_pairs()

    def cut_pairs(self):
        """Makes the switch drop what is in self.cuts and nothing else."""
        if self.wires:
            raise FarmError("farms with wires can not do that")
        rules = "".join(f"add rule bridge farm passing ip saddr {self.hosts[a].address} "
                        f"ip daddr {self.hosts[b].address} drop\n" for a, b in sorted(self.cuts))
        if not rules and not getattr(self, "has_rules", False):
            return
        self.has_rules = True
        text = ("add table bridge farm\ndelete table bridge farm\nadd table bridge farm\n"
                "add chain bridge farm passing { type filter hook forward priority 0; }\n" + rules)
        self.on_switch("nft", "-f", "-", input=text)

    def freeze(self, name, silent=True):
        """Everything on a host stops; silent: its kernel does not answer for it either."""
        host = self.hosts[name]
        if silent:
            self.cut(name)
        end = time.monotonic() + PATIENCE
        while running := [pid for pid in self.processes(name) if not is_stopped(pid)]:
            if time.monotonic() > end:
                raise FarmError(f"the processes {running} of {name} do not stop")
            for os_pid in running:
                if os_pid not in host.stopped:
                    try:
                        os.kill(os_pid, signal.SIGSTOP)
                    except ProcessLookupError:
                        pass
                    host.stopped.append(os_pid)
            time.sleep(0.001)

    def thaw(self, name):
        host = self.hosts[name]
        for os_pid in host.stopped:
            if os_pid in self.processes(name):
                os.kill(os_pid, signal.SIGCONT)
        host.stopped = []
        self.mend(name)
