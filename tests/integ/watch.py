"""bspstat --watch in a terminal: what it shows at which size, its keys, and how it leaves the terminal.

The terminal is emulated by pyte.  Jobs are real where something is done to them; a program that answers as bsprun
does stands for large ones, and for what real ones have only by chance.
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

from harness import BIN, PATIENCE, PROG, RSH, check, environment, expect, fresh_mark, main, run
from status_place import StatusPlace

BSPSTAT = os.path.join(BIN, "bspstat")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UTF8 = {"LC_ALL": "C.UTF-8"}
ASCII = {"LC_ALL": "C"}


# As a shell does: the command is in the foreground, in a process group that can be stopped.  Its process id goes to
# a descriptor that is named.
LEADER = """
import fcntl, os, signal, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.write(int(sys.argv[1]), b"%d\\n" % os.getpid())
    os.close(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
_, status = os.waitpid(child, 0)
code = os.waitstatus_to_exitcode(status)
os._exit(code if code >= 0 else 128 - code)
"""


class Terminal:
    """bspstat --watch at a terminal of that size."""

    def __init__(self, place, *words, rows=24, columns=80, env=None, term="linux"):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.fd, self.inner = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.inner)
        everything = environment(fresh_mark(), {**place.env, "TERM": term, **(env or UTF8)})
        read, write = os.pipe()
        command = [sys.executable, "-c", LEADER, str(write), BSPSTAT, "--watch", "--interval=0.1", *map(str, words)]
        self.process = subprocess.Popen(command, stdin=self.inner, stdout=self.inner, stderr=self.inner,
                                        env=everything, pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as file:
            self.os_pid = int(file.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.kill(self.os_pid, signal.SIGKILL)
            self.process.wait()
        for fd in (self.fd, self.inner):
            if fd >= 0:
                os.close(fd)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            more = os.read(self.fd, 65536)
            self.raw += more
            self.stream.feed(more)
            return True
        return False

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def wait(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not (value := condition()):
            check(time.monotonic() < end and self.process.poll() is None, "no", what, "on the screen\n" + self.text())
            self.read(0.1)
        return value

    def wait_for(self, pattern):
        """Reads until the screen has it; the match."""
        return self.wait(lambda: re.search(pattern, self.text(), re.M), repr(pattern))

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def signal(self, number):
        os.kill(self.os_pid, number)

    def finish(self):
        """Its status as a shell has it, when the terminal is as it was."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            check(time.monotonic() < end, "never ended\n" + self.text())
            self.read(0.05)
        while self.read(0):
            pass
        self.check_restored()
        return self.process.returncode

    def check_restored(self):
        after = termios.tcgetattr(self.inner)
        check(after == self.before, "termios", self.before, after)
        check(not self.screen.cursor.hidden, "the cursor is hidden")


def fake(count, **more):
    """A status of that many processes."""
    return {"pid": 1, "program": "./fake", "directory": "/", "job": "", "zero": "h0", "processes": count, "seconds": 5,
            "superstep": 7, "term": 1, "restarts": 0, "rate": 3, "snapshot": None, "failures": None,
            "hosts": [{"name": f"h{i}", "slots": 100, "memory_left": 1, "state": "up"} for i in range(2)],
            "ranks": [{"pid": pid, "os_pid": 5000 + pid, "superstep": 7, "memory": 4096 * (1 + pid * 7 % count),
                       "computing": pid * 3 % count, "communicating": 0, "waiting": count, "host": f"h{pid % 2}",
                       "state": "computing"} for pid in range(count)], **more}


SERVER = """
import contextlib, os, socket, sys
directory, answer = sys.argv[1:]
server = socket.socket(socket.AF_UNIX)
server.bind(os.path.join(directory, f"job-{os.getpid()}-00000001"))
server.listen(16)
print("ready", flush=True)
while True:
    client, _ = server.accept()
    with client, contextlib.suppress(OSError):  # some only look whether there is a job
        if client.recv(1000) == b"json\\n":
            with open(answer, "rb") as file:
                client.sendall(file.read())
"""


class Server:
    """Answers as a bsprun does."""

    def __init__(self, place, facts):
        os.makedirs(place.env["BSPZERO_STATUS_DIR"], mode=0o700, exist_ok=True)
        self.answer = os.path.join(place.directory, f"answer-{fresh_mark()}")
        self.facts = facts
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, place.env["BSPZERO_STATUS_DIR"], self.answer],
                                        stdout=subprocess.PIPE, env=environment(fresh_mark()))
        self.say(**facts)
        self.process.stdout.readline()

    def say(self, **changed):
        self.facts = {**self.facts, **changed, "pid": self.process.pid}
        with open(self.answer + ".new", "w") as file:
            file.write(json.dumps(self.facts) + "\n")
        os.rename(self.answer + ".new", self.answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.process.stdout.close()

    def end(self):
        self.process.kill()
        self.process.wait()


def rank_rows(terminal):
    """The rows of the table, as words; the first is the pid."""
    return [line.split() for line in terminal.lines() if re.match(r" *\d+ ", line)]


def follows_the_size():
    with StatusPlace() as place, place.job("-np", 3, PROG, "wait", 1) as job:
        job.wait_ready(3)
        with Terminal(place) as terminal:
            terminal.wait_for(r"^    0 .* waiting +\d+ ·{20}$")
            terminal.wait_for(r"^    1 .* computing +\d+ █{20}$")
            terminal.wait(lambda: terminal.lines()[0].startswith(f"job {job.os_pid}: {PROG} wait 1"[:80]), "the job")
            terminal.wait(lambda: re.match(r"superstep \d+, .* per second; 3 processes on 1 host for ",
                                           terminal.lines()[1]), "its progress")
            terminal.wait(lambda: terminal.lines()[-2].startswith("sort p m c w") and terminal.lines()[-1] == "",
                          "the keys")
            terminal.resize(10, 40)
            terminal.wait_for(r"^    1 computing +\d+ █{9}$")
            terminal.wait(lambda: terminal.lines()[-1] == "keys: p m c w s d e q", "short keys")
            terminal.resize(30, 132)
            terminal.wait_for(r"^    1 .* computing +\d+ █{72}$")
            terminal.wait(lambda: terminal.lines()[-2].startswith("sort"), "the keys, at the bottom")
            terminal.resize(2, 5)
            terminal.wait(lambda: terminal.lines() == ["job " + str(job.os_pid)[0], "keys:"], "what fits")
            terminal.type("q")
            check(terminal.finish() == 0, terminal.raw)
        job.signal(signal.SIGINT)
        job.finish()


def without_colours_and_in_ascii():
    """The parts of a bar are told apart by their characters."""
    ranks = fake(2)["ranks"]
    ranks[0].update(computing=10, communicating=5, waiting=5)
    with StatusPlace() as place, Server(place, fake(2, ranks=ranks, program="./ä漢")):
        for term, colours in (("linux", True), ("vt100", False)):
            for env, bar, name in ((UTF8, "██████████▒▒▒▒▒·····", "./ä漢"), (ASCII, "##########+++++.....", "./??")):
                with Terminal(place, term=term, env=env) as terminal:
                    terminal.wait_for(r"^    0 h0 .* computing +7 " + re.escape(bar) + "$")
                    terminal.wait(lambda: terminal.lines()[0].replace("漢 ", "漢").endswith(f": {name}"), name)
                    terminal.type("q")
                    check(terminal.finish() == 0, terminal.raw)
                    coloured = re.search(rb"\x1b\[[0-9;]*3[1-3][;m]", terminal.raw)
                    check(bool(coloured) == colours, term, terminal.raw)
                    check(env == UTF8 or max(terminal.raw) < 128, terminal.raw)


def a_thousand_processes():
    with StatusPlace() as place, Server(place, fake(1000)) as server:
        with Terminal(place, server.process.pid) as terminal:
            def first_is(*pids):
                terminal.wait(lambda: [row[0] for row in rank_rows(terminal)[:len(pids)]] == [str(pid) for pid in pids],
                              f"the pids {pids}")

            first_is(0, 1)
            terminal.wait(lambda: len(rank_rows(terminal)) == 18, "18 rows")
            terminal.wait_for("^1-18 of 1000  sort p m c w")
            for keys, pids in (("\x1b[B", (1, 2)), ("\x1b[6~", (19, 20)), ("\x1b[5~", (1, 2)), ("\x1b[A", (0, 1)),
                               ("\x1b[4~", (982, 983)), ("m", (857, 714)), ("c", (333, 666)), ("w", (0, 667)),
                               ("\x1b[4~", ()), ("p", (0, 1)), ("\x1b[1~", (0, 1))):
                terminal.type(keys)
                first_is(*pids)
            server.say(ranks=fake(1000)["ranks"][500:], processes=1000)
            first_is(500, 501)
            terminal.resize(100, 80)
            terminal.wait(lambda: len(rank_rows(terminal)) == 94, "94 rows")
            terminal.type("q")
            check(terminal.finish() == 0, terminal.raw)


def a_job_of_the_guide():
    """What doc/guide.md shows."""
    hosts = [{"name": "fat", "slots": 3, "memory_left": 1, "state": "up"},
             {"name": "thin", "slots": 1, "memory_left": 1, "state": "up"}]
    did = ((150, 12, 68), (140, 13, 77), (98, 14, 118), (229, 1, 0))
    ranks = [{"pid": pid, "os_pid": 52011 + pid, "superstep": 18250, "memory": 220 << 20, "computing": computing,
              "communicating": communicating, "waiting": waiting, "host": "thin" if pid == 3 else "fat",
              "state": "computing" if pid == 3 else "waiting"}
             for pid, (computing, communicating, waiting) in enumerate(did)]
    failures = {"known": True, "snapshot": {"seconds": 0.21}, "model": {"rate": 1 / 40000}, "interval": 130,
                "why": "the optimum of what is known"}
    return fake(4, program="./heat 4000 60000", hosts=hosts, ranks=ranks, seconds=230, superstep=18250, rate=79.6,
                snapshot={"superstep": 14100, "taken": 2, "age": 52}, failures=failures)


def the_picture_of_the_guide():
    with open(os.path.join(ROOT, "doc", "guide.md"), encoding="utf-8") as file:
        told = re.search(r"<!-- screen: .*? -->\n```\n(.*?\n)```\n", file.read(), re.S)[1]
    with StatusPlace() as place, Server(place, a_job_of_the_guide()) as server:
        with Terminal(place, rows=13) as terminal:
            terminal.wait_for("^    3 thin ")
            terminal.wait(lambda: terminal.text().replace(f"job {server.process.pid}:", "job 4711:").rstrip() + "\n"
                          == told, "\n" + told)
            terminal.type("q")
            check(terminal.finish() == 0, terminal.raw)


def what_is_not_understood():
    with StatusPlace() as place, Server(place, fake(2)) as server, Terminal(place) as terminal:
        terminal.wait_for("^    1 h1 ")
        with open(server.answer, "w") as file:
            file.write("who is there?\n")
        terminal.wait_for("^the answer of bsprun cannot be read$")
        with open(server.answer, "w") as file:
            file.write("too many commands ask it at once; try again\n")
        terminal.wait_for("^too many commands ask it at once; try again$")
        server.say()
        terminal.wait(lambda: terminal.lines()[-1] == "", "an end of that")
        terminal.type("q")
        check(terminal.finish() == 0, terminal.raw)


def requests():
    """A snapshot without a question; the only host is not drained; the end."""
    with StatusPlace() as place:
        directory = os.path.join(place.directory, "ckpt")
        with place.job("--launcher", RSH, "--hosts", "h0:2", "--ckpt", directory, "--every", "1h", "-np", 2, PROG,
                       "loop", 0) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
            with Terminal(place, job.os_pid, columns=300) as terminal:
                terminal.wait_for("^    1 h0 ")
                terminal.type("s")
                terminal.wait_for("^snapshot: done$")
                terminal.wait_for(r"^snapshot of superstep \d+, .* ago, costs ")
                terminal.type("d")
                terminal.wait_for(r"^drain which host \(Escape: none\)\?")
                terminal.type("x9\r")
                terminal.wait_for("^x9 is no host of the job$")
                terminal.type("dh0\r")
                terminal.wait_for(rf"^drain host h0 of job {job.os_pid} \(y/n\)\?$")
                terminal.type("n")
                terminal.wait_for("^not drained$")
                terminal.type("dh0\ry")
                refused = expect(run([os.path.join(BIN, "bspctl"), str(job.os_pid), "drain", "h0"], env=dict(place.env)),
                                 1, err=f"^bspctl: job {job.os_pid}: ")
                terminal.wait_for("^drain: " + re.escape(refused.err.strip().split(": ", 2)[2]) + "$")
                terminal.type("e")
                terminal.wait_for(rf"^end job {job.os_pid} \(y/n\)\?$")
                terminal.type("x")
                terminal.wait_for("^not ended$")
                terminal.type("ey")
                check(terminal.finish() == 0, terminal.raw)
                check(terminal.raw.endswith(b"\r\n") and re.match(
                    rf"job {job.os_pid} has ended; it was last seen in superstep \d+, after [\d.]+ ",
                    terminal.raw.decode().splitlines()[-1].rpartition("\x1b")[2].lstrip("[0123456789;?hlmJHKcr")),
                    terminal.raw[-300:])
            check(job.finish() == 128 + signal.SIGTERM, job.text())


def while_a_request_is_carried_out():
    """The picture goes on, and keys and signals are taken: the superstep that a snapshot would follow does not end."""
    with StatusPlace() as place:
        with place.job("--ckpt", os.path.join(place.directory, "ckpt"), "--every", "1h", "-np", 2, PROG, "wait", 1) as job:
            job.wait_ready(2)
            for ends, status in ((lambda terminal: terminal.type("q"), 0),
                                 (lambda terminal: terminal.signal(signal.SIGTERM), 128 + signal.SIGTERM)):
                with Terminal(place, job.os_pid) as terminal:
                    terminal.wait_for("^    1 ")
                    terminal.type("s")
                    terminal.wait_for("^snapshot: bsprun agrees$")
                    since = terminal.wait_for(" on 1 host for .*$")[0]
                    terminal.wait(lambda: terminal.wait_for(" on 1 host for .*$")[0] != since, "a later picture")
                    ends(terminal)
                    check(terminal.finish() == status, terminal.process.returncode, terminal.raw)
            job.signal(signal.SIGKILL)
            job.finish()


def a_stopped_bsprun():
    """That so many have asked that it accepts no more: the picture stays, and changes again when it goes on."""
    with StatusPlace() as place, place.job("-np", 2, PROG, "wait", 1) as job:
        job.wait_ready(2)
        with Terminal(place, job.os_pid) as terminal:
            terminal.wait_for("^    1 ")
            place.stop(job)
            terminal.wait_for("^the job does not answer$")
            since = terminal.wait_for(" on 1 host for .*$")[0]
            job.signal(signal.SIGCONT)
            terminal.wait(lambda: terminal.wait_for(" on 1 host for .*$")[0] != since, "a later picture")
            terminal.type("q")
            check(terminal.finish() == 0, terminal.raw)
        job.signal(signal.SIGINT)
        job.finish()


def several_jobs():
    """One after the other; the last picture of one that has ended stays until a key."""
    with StatusPlace() as place, Server(place, fake(1, program="./one")) as one, \
            Server(place, fake(1, program="./two")) as two, Server(place, fake(1, program="./three")) as three:
        jobs = sorted((server.process.pid, server) for server in (one, two, three))
        with Terminal(place) as terminal:
            for number, (pid, server) in enumerate(jobs + jobs[:1]):
                name = server.facts["program"]
                terminal.wait_for(rf"^job {pid} \({number % 3 + 1} of 3\): {name}$")
                if number < 3:
                    terminal.type("n")
            jobs[0][1].end()
            ended = f"^job {jobs[0][0]} has ended; q quits, another key shows another job$"
            terminal.wait_for(ended)
            terminal.wait_for("^    0 h0 ")
            terminal.type(" ")
            terminal.wait_for(rf"^job {jobs[1][0]} \(1 of 2\): ")
            jobs[1][1].end()
            terminal.wait_for(rf"^job {jobs[1][0]} has ended")
            jobs[2][1].end()
            terminal.type(" ")
            check(terminal.finish() == 0, terminal.raw)
        with Server(place, fake(1)) as only, Terminal(place, only.process.pid) as terminal:
            terminal.wait_for("^    0 h0 ")
            terminal.type("n")
            terminal.wait_for("^only this job is watched$")
            only.end()
            check(terminal.finish() == 0, terminal.raw)
            check(b"\n" in terminal.raw[-100:] and b"has ended" in terminal.raw[-100:], terminal.raw[-200:])


def leaves_the_terminal_as_it_was():
    with StatusPlace() as place, Server(place, fake(2)) as server:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with Terminal(place, server.process.pid) as terminal:
                terminal.wait_for("^    1 h1 ")
                check(termios.tcgetattr(terminal.inner) != terminal.before, "it is as it was")
                terminal.signal(number)
                check(terminal.finish() == 128 + number, number, terminal.process.returncode, terminal.raw)
        with Terminal(place, server.process.pid, term="xterm") as terminal:
            terminal.wait(lambda: b"\x1b[?1049h" in terminal.raw and b"./fake" in terminal.raw, "another screen")
            terminal.type("\x03")
            check(terminal.finish() == 128 + signal.SIGINT, terminal.process.returncode)
            check(terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"./fake"), terminal.raw)


def stops_and_goes_on():
    with StatusPlace() as place, Server(place, fake(2)) as server:
        with Terminal(place, server.process.pid) as terminal:
            def stopped():
                with open(f"/proc/{terminal.os_pid}/stat") as file:
                    return file.read().rpartition(")")[2].split()[0] == "T"

            for how in ("\x1a", signal.SIGTSTP):
                terminal.wait_for("^    1 h1 ")
                during = termios.tcgetattr(terminal.inner)
                if isinstance(how, str):
                    terminal.type(how)
                else:
                    terminal.signal(how)
                terminal.wait(stopped, "stop")
                while terminal.read(0):
                    pass
                terminal.check_restored()
                terminal.screen.reset()  # somebody else has written there
                terminal.resize(20, 70)
                terminal.signal(signal.SIGCONT)
                terminal.wait_for("^    1 h1 ")
                terminal.wait(lambda: terminal.lines()[-2].startswith("sort p m"), "the new size")
                check(termios.tcgetattr(terminal.inner) == during, "its own mode")
            terminal.type("q")
            check(terminal.finish() == 0, terminal.raw)


def a_terminal_that_vanishes():
    with StatusPlace() as place, Server(place, fake(2)) as server, Terminal(place, server.process.pid) as terminal:
        terminal.wait_for("^    1 h1 ")
        os.close(terminal.inner)
        os.close(terminal.fd)
        terminal.fd = terminal.inner = -1
        check(terminal.process.wait(PATIENCE) == 128 + signal.SIGHUP, terminal.process.returncode)


def no_terminal():
    with StatusPlace() as place, Server(place, fake(2)) as server:
        for words in ([], [str(server.process.pid)]):
            result = expect(run([BSPSTAT, "--watch", *words], env=dict(place.env)), 2,
                            err="^bspstat: --watch: standard input and output must be a terminal$")
            check(result.out == "" and result.err.count("\n") == 1, result)
        for term, why in (("no-such-type", "is not known"), ("dumb", "cannot place its cursor")):
            with Terminal(place, server.process.pid, term=term) as terminal:
                check(terminal.finish() == 2, terminal.raw)
                check(re.fullmatch(rf"\r?bspstat: --watch: the (type of the )?terminal \(TERM\) {why}\r\n",
                                   terminal.raw.decode()), terminal.raw)


def no_job():
    with StatusPlace() as place:
        with Terminal(place) as terminal:
            check(terminal.finish() == 0, terminal.raw)
            check(terminal.raw == b"no job of yours runs under bsprun on this host\r\n", terminal.raw)
        with Terminal(place, os.getpid()) as terminal:
            check(terminal.finish() == 1, terminal.raw)
            check(terminal.raw.startswith(f"bspstat: job {os.getpid()} is not running".encode()), terminal.raw)


def wrong_calls():
    for words, said in ((["--watch", "--json"], "--watch: it cannot be combined with --json or --prometheus"),
                        (["--watch", "--prometheus"], "--watch: it cannot be combined with --json or --prometheus"),
                        (["--watch", "--follow"], "--follow: it requires --json"),
                        (["--watch", "12", "13"], "--watch: give one job, or none"),
                        (["--watch", "--interval", "0"], "0: give seconds, from 0.1")):
        result = expect(run([BSPSTAT, *words]), 2, err="^bspstat: " + re.escape(said))
        check(result.err.count("\n") == 1 and result.out == "", result)


if __name__ == "__main__":
    main([follows_the_size, without_colours_and_in_ascii, a_thousand_processes, the_picture_of_the_guide, what_is_not_understood, requests,
          while_a_request_is_carried_out, a_stopped_bsprun, several_jobs, leaves_the_terminal_as_it_was, stops_and_goes_on, a_terminal_that_vanishes, no_terminal,
          no_job, wrong_calls])
