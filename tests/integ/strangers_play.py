"""What tests of strangers have: a job whose JOIN they can read, what strangers do, the handshake
(lib/net/handshake.c) made a second time from its description, somebody on the path.
"""
import ctypes
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

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib/wire/wire.h")) as file:
    VERSION = int(re.search(r"#define WIRE_VERSION\s+(\d+)u", file.read())[1])
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
        self.directory = tempfile.mkdtemp(dir=scratch)
        launcher = os.path.join(self.directory, "launcher")
        with open(launcher, "w") as file:
            file.write('#!/bin/sh\nBSPZERO_HOST_NAME=$1\nexport BSPZERO_HOST_NAME\nshift\n'
                       f'tee "{self.directory}/join.$BSPZERO_HOST_NAME" | "$@"\n')
        os.chmod(launcher, stat.S_IRWXU)
        super().__init__([BSPRUN, "-np", "4", "--hosts", "h0:2,h1:2", "--launcher", launcher,
                          *options, PROG, "turns", TURNS, "wait"], stdin=subprocess.PIPE)
        try:
            self.wait_ready(1)
        except Failed:
            self.__exit__()
            raise
        with open(os.path.join(self.directory, "join.h0"), "rb") as file:
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

    def hello(self, own, wanted, version=VERSION):
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

    def __init__(self, directory, change=None):
        self.directory, self.change = directory, change
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
                with open(os.path.join(self.directory, "port")) as file:
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


class Gate(Between):
    """Holds what comes for bsprun while it is shut."""

    def __init__(self, directory):
        self.is_open = threading.Event()
        self.is_open.set()
        self.is_cut = False
        self.held = threading.Event()
        super().__init__(directory, self.pass_on)

    def pass_on(self, _so_far, to_bsprun, piece):
        if to_bsprun and not self.is_open.is_set():
            self.held.set()
            self.is_open.wait()
        return None if self.is_cut else piece

    def cut(self):
        self.is_cut = True
        self.is_open.set()


SO_RCVBUFFORCE, SO_ATTACH_FILTER, SOL_PACKET, PACKET_STATISTICS = 33, 26, 263, 6
SMALLEST, LARGEST = 70, 1 << 13  # what agents say: neither acknowledgements nor large transfers, of which there are too many


def only_small(listener):
    """A filter of the kernel: the length; if it is less than SMALLEST, or more than LARGEST: nothing; else all of it."""
    program = struct.pack("HBBI" * 5, 0x80, 0, 0, 0, 0x35, 0, 2, SMALLEST, 0x25, 1, 0, LARGEST, 0x06, 0, 0, 1 << 17, 0x06, 0, 0, 0)
    room = ctypes.create_string_buffer(program)
    listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", 5, ctypes.addressof(room)))


class Wire:
    """Hears all that goes through the loopback interface, where that is allowed."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 29)
        except PermissionError:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        only_small(self.socket)
        self.socket.bind(("lo", 0))
        self.socket.settimeout(0.05)
        self.packets = []
        self.total = None
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        while self.total is None or len(self.packets) < self.total:
            try:
                self.packets.append(self.socket.recv(1 << 17))
            except TimeoutError:
                continue

    def heard(self, ports):
        """What went from and to these ports until now, over TCP and IPv4."""
        self.total, dropped = struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        check(dropped == 0, dropped, "packets were too many to be heard, of all that goes through this machine")
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
new = "DIRECTORY/port.%d" % os.getpid()
with open(new, "w") as file:
    file.write(port.decode())
os.rename(new, "DIRECTORY/port")
join = join.replace(b":" + port, b":%d" % PORTS[sys.argv[1]])
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


def diverting_launcher(directory, ports):
    launcher = os.path.join(directory, "launcher")
    with open(launcher, "w") as file:
        file.write(DIVERT.replace("DIRECTORY", directory).replace("PORTS", repr(ports)))
    os.chmod(launcher, stat.S_IRWXU)
    return launcher


def diverted(change=None, *words):
    directory = tempfile.mkdtemp(dir=scratch)
    between = Between(directory, change)
    launcher = diverting_launcher(directory, {"h0": between.port, "h1": between.port})
    try:
        return between, bsprun("-np", "4", "--hosts", "h0:2,h1:2", "--launcher", launcher, *words,
                               PROG, "talk", TURNS)
    finally:
        between.close()
