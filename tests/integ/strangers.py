"""Strangers at the ports of a job on several hosts (all of which are this one): scans, garbage,
wrong keys, slow ones, what was recorded and is sent again, peers that have the key and lie.  The
job goes on as if they were not there.

The handshake (lib/net/handshake.c) is made a second time here, from its description.
"""
import base64
import hashlib
import os
import random
import re
import socket
import stat
import struct
import subprocess
import threading

from harness import *

MAGIC = b"bspzero\xb5"
HELLO, REPLY, CONFIRM = 116, 84, 32
BSPRUN_ROLE, AGENT = 0, 1
CONTROL, DATA = 0, 1
ANY = 0xffffffff
ACCEPTED, OTHER_VERSION, NOT_TAKEN, NOT_THE_WANTED = range(4)
TURNS = 20

# What a job prints here; in which order is another test's affair.
EXPECTED = sorted([f"turn {i}" for i in range(TURNS)] + ["p = 4"])


# ---- A job on two hosts, whose JOIN we can read ----

class Spied(Job):
    """Its launcher keeps what bsprun tells each agent."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(dir=scratch)
        launcher = os.path.join(self.folder, "launcher")
        with open(launcher, "w") as file:
            file.write('#!/bin/sh\nBSPZERO_HOST_NAME=$1\nexport BSPZERO_HOST_NAME\nshift\n'
                       f'tee "{self.folder}/join.$BSPZERO_HOST_NAME" | "$@"\n')
        os.chmod(launcher, stat.S_IRWXU)
        super().__init__([BSPRUN, "-np", "4", "--hosts", "h0:2,h1:2", "--launcher", launcher,
                          *options, PROG, "turns", TURNS, "wait"], stdin=subprocess.PIPE)
        try:
            self.wait_ready(1)
        except Failed:
            self.__exit__()
            raise
        with open(os.path.join(self.folder, "join.h0"), "rb") as file:
            join = file.read()
        self.job, self.key = re.search(rb"\xc4\x10(.{16}).*?\xc4\x20(.{32})", join, re.S).groups()

    def ports(self):
        """{port: name of the process that listens there}."""
        found = {}
        listening = {}
        for table in ("tcp", "tcp6"):
            with open("/proc/net/" + table) as file:
                for line in file.readlines()[1:]:
                    fields = line.split()
                    if fields[3] == "0A":
                        listening[fields[9]] = int(fields[1].rpartition(":")[2], 16)
        for pid, name in self.members().items():
            for link in descriptors(pid):
                inode = re.fullmatch(r"socket:\[(\d+)\]", link)
                if inode and inode[1] in listening:
                    found[listening[inode[1]]] = name
        return found

    def ends_well(self, lines=(), perhaps=()):
        """The job goes on to its end and says what it should, and lines that match `lines`."""
        self.process.stdin.write(b"\n")
        self.process.stdin.close()
        check(self.finish() == 0, "status", self.status, self.text())
        said = [line for line in self.text().splitlines() if not line.startswith("ready ")]
        printed = sorted(line for line in said if not line.startswith("bsprun: "))
        check(printed == EXPECTED, "output:", self.text())
        rest = [line for line in said if line.startswith("bsprun: ")]
        for line in rest:
            check(any(re.search(pattern, line) for pattern in [*lines, *perhaps]),
                  "unexpected:", line)
        for pattern in lines:
            check(any(re.search(pattern, line) for line in rest), "missing:", pattern, self.text())
        self.check_gone(at_once=False)


def descriptors(pid):
    links = []
    try:
        for entry in os.listdir(f"/proc/{pid}/fd"):
            try:
                links.append(os.readlink(f"/proc/{pid}/fd/{entry}"))
            except OSError:
                pass
    except OSError:
        pass
    return links


# ---- What strangers do ----

def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def heard(connection, size):
    """What comes until there are `size` bytes or the other side hangs up."""
    got = b""
    try:
        while len(got) < size:
            more = connection.recv(size - len(got))
            if not more:
                break
            got += more
    except ConnectionError:
        pass
    return got


def say(connection, data):
    try:
        connection.sendall(data)
    except ConnectionError:
        pass


def scan(port):
    for i in range(300):
        connection = connect(port)
        if i % 2:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


def babble(port):
    chance = random.Random(port)
    for data in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\xff" * 10000, b"\0" * 10000,
                 MAGIC + bytes(HELLO), MAGIC[:7] + b"x" * 200, chance.randbytes(5000),
                 struct.pack("<I", 0xffffffff) + b"x" * 200, MAGIC + chance.randbytes(5000)):
        with connect(port) as connection:
            say(connection, data)
            check(heard(connection, 1) == b"", "an answer to", data[:20])


def begin_slowly(port, count):
    """So many that begin and do not go on; who hangs up on them does not matter."""
    slow = []
    for i in range(count):
        slow.append(connect(port))
        say(slow[-1], MAGIC[:i % 9])
    return slow


# ---- Peers that have a key ----

class Caller:
    def __init__(self, job, key, number):
        self.job, self.key, self.number = job, key, number

    def hash(self, label, *parts):
        digest = hashlib.blake2b(key=self.key, digest_size=32)
        for part in (label.ljust(16, b"\0"), self.job, *parts):
            digest.update(part)
        return digest.digest()

    def hello(self, own, wanted, version=1):
        body = (MAGIC + struct.pack("<II", version, 0) + bytes(self.number)
                + struct.pack("<5I", *own) + struct.pack("<3I", *wanted) + bytes(4))
        self.said = body + self.hash(b"hello", body)
        assert len(self.said) == HELLO
        return self.said

    def take(self, reply):
        check(len(reply) == REPLY, "a reply of", len(reply), "bytes")
        check(reply[-32:] == self.hash(b"reply", self.said, reply[:-32]), "a reply without proof")
        self.version, self.verdict = struct.unpack("<II", reply[:8])
        return self.hash(b"confirm", self.said, reply)


def caller(job, number=b"n" * 32, key=None):
    return Caller(job.job, key or job.key, number)


def role_of(name):
    return BSPRUN_ROLE if name == "bsprun" else AGENT


def purpose_for(name):
    return CONTROL if name == "bsprun" else DATA


# ---- Somebody on the path ----

class Between:
    """Relays what agents and bsprun say to each other, and keeps it; `change` sees each piece
    first: (bytes so far in that direction, whether to bsprun, piece) -> piece, None to cut."""

    def __init__(self, folder, change=None):
        self.folder, self.change = folder, change
        self.heard = {True: b"", False: b""}
        self.listening = socket.create_server(("", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                agent, _ = self.listening.accept()
            except OSError:
                return
            try:
                with open(os.path.join(self.folder, "port")) as file:
                    bsprun = connect(int(file.read()))
            except OSError: # bsprun has ended
                agent.close()
                continue
            bsprun.settimeout(None)
            for one, other, to_bsprun in ((agent, bsprun, True), (bsprun, agent, False)):
                threading.Thread(target=self.relay, args=(one, other, to_bsprun),
                                 daemon=True).start()

    def relay(self, one, other, to_bsprun):
        so_far = 0
        try:
            while piece := one.recv(65536):
                self.heard[to_bsprun] += piece
                length = len(piece)
                if self.change:
                    piece = self.change(so_far, to_bsprun, piece)
                if piece is None:
                    break
                so_far += length
                other.sendall(piece)
        except OSError:
            pass
        for connection in (one, other):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


class Wire:
    """Hears all that goes through the loopback interface, where that is allowed."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.socket.bind(("lo", 0))
        self.socket.settimeout(0.05)
        self.packets = []
        self.over = False
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        while not self.over:
            try:
                self.packets.append(self.socket.recv(1 << 17))
            except TimeoutError:
                continue

    def heard(self, ports):
        """What went from and to these ports, over TCP and IPv4."""
        self.over = True
        self.thread.join()
        self.socket.close()
        data = b""
        for packet in self.packets:
            if packet[12:14] != b"\x08\x00" or packet[23] != 6:
                continue
            tcp = 14 + (packet[14] & 15) * 4
            if set(struct.unpack(">HH", packet[tcp:tcp + 4])) & ports:
                data += packet[tcp + (packet[tcp + 12] >> 4) * 4:]
        return data


# A launcher that tells the agent the port of somebody between.
DIVERT = """#!/usr/bin/env python3
import os, re, struct, subprocess, sys
def read(size):
    got = b""
    while len(got) < size:
        more = os.read(0, size - len(got))
        if not more:
            sys.exit(1)
        got += more
    return got
header = read(4)
join = header + read(struct.unpack("<I", header)[0])
port = re.search(rb"[.\\]](?:\\d+)?:(\\d{5})", join)[1]
with open("FOLDER/port.new", "w") as file:
    file.write(port.decode())
os.rename("FOLDER/port.new", "FOLDER/port")
join = join.replace(b":" + port, b":PORT")
os.environ["BSPZERO_HOST_NAME"] = sys.argv[1]
ends = os.pipe()
if os.fork() == 0:
    os.close(ends[0])
    os.write(ends[1], join)
    while os.read(0, 65536):
        pass
    os._exit(0)
os.dup2(ends[0], 0)
os.close(ends[0])
os.close(ends[1])
os.execv(sys.argv[2], sys.argv[2:])
"""


def diverted(change=None, *words):
    folder = tempfile.mkdtemp(dir=scratch)
    between = Between(folder, change)
    launcher = os.path.join(folder, "launcher")
    with open(launcher, "w") as file:
        file.write(DIVERT.replace("FOLDER", folder).replace("PORT", str(between.port)))
    os.chmod(launcher, stat.S_IRWXU)
    try:
        return between, bsprun("-np", "4", "--hosts", "h0:2,h1:2", "--launcher", launcher, *words,
                               PROG, "talk", TURNS)
    finally:
        between.close()


# ---- Tests ----

def a_local_job_listens_nowhere():
    """Neither does one whose only host is named, nor one that keeps snapshots."""
    store = tempfile.mkdtemp(dir=scratch)
    for options in ((), ("--hosts", "localhost:2"), ("--ckpt", os.path.join(store, "store"))):
        with Job([BSPRUN, "-np", "2", *options, PROG, "loop", "0"]) as job:
            job.wait_ready(2)
            check(len(job.members()) >= 4, job.members())
            for pid in job.members():
                check(not any(link.startswith("socket:") and link in sockets_of_tcp()
                              for link in descriptors(pid)), options, "a TCP socket of", pid)


def sockets_of_tcp():
    found = set()
    for table in ("tcp", "tcp6"):
        with open("/proc/net/" + table) as file:
            found |= {f"socket:[{line.split()[9]}]" for line in file.readlines()[1:]}
    return found


def the_key_is_in_no_argument_and_no_environment():
    with Spied() as job:
        forms = [job.key, job.key.hex().encode(), base64.b64encode(job.key)]
        members = job.members()
        check(sum(name == "bspnode" for name in members.values()) == 2, members)
        for pid in members:
            for what in ("cmdline", "environ"):
                with open(f"/proc/{pid}/{what}", "rb") as file:
                    data = file.read()
                check(not any(form in data for form in forms), "the key is in", what, "of", pid)
        job.ends_well()


def strangers_cost_nothing(*options):
    with Spied(*options) as job:
        ports = job.ports()
        check(sorted(ports.values()) == ["bspnode", "bspnode", "bsprun"], ports)
        before = {pid: len(descriptors(pid)) for pid in job.members()}
        slow = [c for port in ports for c in begin_slowly(port, 200)]
        for port in ports:
            scan(port)
            babble(port)
        for connection in slow:
            connection.close()
        # All that they took is given back.
        for pid, count in before.items():
            wait_until(lambda: len(descriptors(pid)) <= count, "the descriptors of " + str(pid))
        job.ends_well()


def strangers_of_an_encrypted_job():
    strangers_cost_nothing("--encrypt")


def a_lost_agent_is_replaced_beside_strangers():
    """The new agent, and the links to it, get in where others hold all the places."""
    with Spied("--ckpt", os.path.join(scratch, "ckpt")) as job:
        slow = [c for port in job.ports() for c in begin_slowly(port, 200)]
        os.kill(next(pid for pid, name in job.members().items() if name == "bspnode"),
                signal.SIGKILL)
        job.wait_for(r"^ready ", 2)
        for connection in slow:
            connection.close()
        # The number in "ready" is another one.
        job.ends_well([r"host h[01] was lost: the connection to its node agent ended"],
                      [r"process 0 has not written the same as before the rollback"])


def a_wrong_key_hears_nothing():
    with Spied() as job:
        for port, name in job.ports().items():
            wrong = caller(job, key=bytes(32))
            with connect(port) as connection:
                say(connection, wrong.hello((AGENT, 0, 1, purpose_for(name), 0),
                                            (role_of(name), ANY, ANY)))
                check(heard(connection, 1) == b"", "an answer to a wrong key by", name)
        job.ends_well()


def what_was_recorded_is_of_no_use():
    with Spied() as job:
        for port, name in job.ports().items():
            # No such incarnation, or the recording itself would have ended the job's own agent.
            own = (AGENT, 0, 4711, purpose_for(name), 0)
            with connect(port) as connection:
                first = caller(job)
                say(connection, first.hello(own, (role_of(name), ANY, ANY)))
                confirm = first.take(heard(connection, REPLY))
                check(first.verdict == ACCEPTED, name, "says", first.verdict)
            with connect(port) as connection:
                say(connection, first.said)
                check(len(heard(connection, REPLY)) == REPLY, "no reply to a good HELLO")
                say(connection, confirm)
                check(heard(connection, 1) == b"", "an answer to a recording by", name)
        job.ends_well()


def another_version_is_named():
    with Spied() as job:
        for port, name in job.ports().items():
            other = caller(job)
            with connect(port) as connection:
                say(connection, other.hello((AGENT, 0, 1, purpose_for(name), 0),
                                            (role_of(name), ANY, ANY), version=99))
                other.take(heard(connection, REPLY))
                check(other.verdict == OTHER_VERSION and other.version == 1, name, other.verdict)
                check(heard(connection, 1) == b"", "it goes on with another version")
        job.ends_well([r"it speaks version 99 of the protocol"])


def the_wrong_place_is_named():
    with Spied() as job:
        for port, name in job.ports().items():
            for own, wanted, verdict in (
                    ((AGENT, 0, 1, purpose_for(name), 0), (role_of(name), 77, ANY), NOT_THE_WANTED),
                    ((AGENT, 0, 1, purpose_for(name), 0), (1 - role_of(name), ANY, ANY),
                     NOT_THE_WANTED),
                    ((BSPRUN_ROLE, 0, 1, purpose_for(name), 0), (role_of(name), ANY, ANY),
                     NOT_TAKEN),
                    ((AGENT, 0, 1, 55, 0), (role_of(name), ANY, ANY), NOT_TAKEN)):
                peer = caller(job)
                with connect(port) as connection:
                    say(connection, peer.hello(own, wanted))
                    peer.take(heard(connection, REPLY))
                    check(peer.verdict == verdict, name, "says", peer.verdict, "to", own, wanted)
                    check(heard(connection, 1) == b"", "it goes on with the wrong one")
        job.ends_well([r"the agent of host 0 wants (the agent of host 77|bsprun), and came here",
                       r"the agent of host 0 wants any bsprun, and came here",
                       r"the agent of host 0 wants any agent, and came here",
                       r"bsprun wants what is not offered here",
                       r"the agent of host 0 wants what is not offered here"])


def who_has_the_key_and_lies_is_dropped():
    """Claims to be an agent: one that is there already, is none of the job, or is from another
    time; and goes on with lengths that are not true."""
    with Spied() as job:
        for port, name in job.ports().items():
            for host in (0, 1, 2, 4095, ANY):
                for incarnation in (0, 1, 2, ANY):
                    peer = caller(job, number=os.urandom(32))
                    with connect(port) as connection:
                        say(connection, peer.hello((AGENT, host, incarnation, purpose_for(name), 0),
                                                   (role_of(name), ANY, ANY)))
                        confirm = peer.take(heard(connection, REPLY))
                        say(connection, confirm + b"\xff" * 5000)
        job.ends_well()


def nothing_can_be_overheard():
    """Not even what agents and bsprun say to each other in a job that is not encrypted."""
    between, result = diverted()
    expect(result, 0, out=r"^line 0 of 3$", no_err=True)
    for data in between.heard.values():
        check(len(data) > 1000, "only", len(data), "bytes went that way")
        for word in (b"line", b"integ_prog", b"/tmp", b"PATH", b"bspnode"):
            check(word not in data, word, "can be read on the way")


def an_encrypted_job_can_not_be_overheard():
    """Without --encrypt names of source files can be read between agents, so it would be heard."""
    try:
        Wire().heard(set())
    except PermissionError:
        print("not allowed to listen on lo: not tested")
        return
    for options in ([], ["--encrypt"]):
        wire = Wire()
        with Spied(*options) as job:
            ports = job.ports()
            job.ends_well()
        data = wire.heard({port for port, name in ports.items() if name == "bspnode"})
        check(len(data) > 2000, "only", len(data), "bytes between agents")
        check((b"prog.c" in data) == (options == []), options, "prog.c" in repr(data))


def whatever_is_changed_is_noticed():
    """A changed bit ends that connection, as if it had broken, and nothing else comes of it.  In
    the handshake it costs an address, and there may be another."""
    chance = random.Random(5)
    for to_bsprun, at in ((True, 10), (False, 10), (True, 130), (True, 160), (True, 300),
                          (False, 100), (False, 300)):
        changed = []

        def change(so_far, way, piece):
            if way == to_bsprun and so_far <= at < so_far + len(piece) and not changed:
                changed.append(at)
                piece = bytearray(piece)
                piece[at - so_far] ^= 1 << chance.randrange(8)
            return bytes(piece)

        _, result = diverted(change, "--heartbeat", "1", "--connect-timeout", "5")
        check(changed, "nothing came to byte", at)
        shaking_hands = at < (HELLO + CONFIRM if to_bsprun else REPLY)
        check(result.err or shaking_hands and result.status == 0,
              "nobody has noticed a change at", at, "\n", result)
        for line in result.out.splitlines():
            check(re.fullmatch(r"line \d+ of [0-3]|p = 4", line), "who says", line)


if __name__ == "__main__":
    main([nothing_can_be_overheard, an_encrypted_job_can_not_be_overheard,
          whatever_is_changed_is_noticed,
          a_local_job_listens_nowhere, the_key_is_in_no_argument_and_no_environment,
          strangers_cost_nothing, strangers_of_an_encrypted_job,
          a_lost_agent_is_replaced_beside_strangers, a_wrong_key_hears_nothing,
          what_was_recorded_is_of_no_use, another_version_is_named, the_wrong_place_is_named,
          who_has_the_key_and_lies_is_dropped])
