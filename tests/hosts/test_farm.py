"""The hosts of the other tests are what they promise to be."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import farm as farms
from farm import Farm, FarmError, Loopback

TALK = """
import socket, sys
if sys.argv[1] == "listen":
    server = socket.create_server(("", 4000))
    print("listening", flush=True)
    link = server.accept()[0]
else:
    link = socket.create_connection((sys.argv[2], 4000))
    print("connected", flush=True)
link.settimeout(float(sys.argv[-1]))
for line in sys.stdin:
    try:
        if line.startswith("send"):
            link.sendall(b"x")
            print("sent", flush=True)
        else:
            print("got" if link.recv(1) else "end", flush=True)
    except TimeoutError:
        print("silence", flush=True)
    except OSError as problem:
        print(type(problem).__name__, flush=True)
"""


class Talk:
    """Two processes on two hosts that have a connection."""

    def __init__(self, farm, one, other, patience=1.0):
        self.farm = farm
        self.ends = {}
        for name, words in ((one, ["listen"]), (other, ["connect", one])):
            self.ends[name] = farm.popen(
                name, [sys.executable, "-c", TALK, *words, str(patience)], text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.ends[name].stdout.readline()

    def ask(self, name, what):
        self.ends[name].stdin.write(what + "\n")
        return self.ends[name].stdout.readline().strip()

    def passes(self, sender, receiver):
        sent = self.ask(sender, "send")
        check(sent == "sent", sender, "should send:", sent)
        return self.ask(receiver, "receive") == "got"


def check(truth, *what):
    if not truth:
        raise AssertionError(" ".join(map(str, what)))


def names_and_commands():
    with Farm(3) as farm:
        check(farm.run("b", ["hostname"]).stdout == "b\n", "host name")
        far = farm.run("a", [farm.rsh, "c", "hostname; echo 'two  words' $((1+1)) >&2"])
        check((far.stdout, far.stderr) == ("c\n", "two  words 2\n"), far)
        far = farm.run("a", [farm.rsh, "c", "printf", "<%s>", "two  words", "it's", "", "$HOME;"])
        check(far.stdout == "<two  words><it's><><$HOME;>", far)
        check(farm.run("a", [farm.rsh, "b", "exit 7"]).returncode == 7, "status")
        check(farm.run("a", [farm.rsh, "b", "kill -9 $$"]).returncode == 255, "status of a kill")
        check(farm.run("a", [farm.rsh, "nobody", "true"]).returncode == 255, "unknown host")
        text = "".join(f"line {i}\n" for i in range(200000))
        back = farm.run("a", [farm.rsh, "b", "cat"], input=text)
        check(back.stdout == text, "echoed input differs:", len(back.stdout), len(text))
        check(not farm.processes("b"), "left:", farm.processes("b"))
        with Farm(2) as other:  # the same addresses
            check(other.run("a", [other.rsh, "b", "hostname"]).stdout == "b\n", "a second farm")
            check(other.run("a", [other.rsh, "c", "true"]).returncode == 255, "host of another farm")


def a_session_that_breaks_ends_the_streams():
    with Farm(2) as farm:
        session = farm.popen("a", [farm.rsh, "b", "echo up; cat; sleep 600"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        check(session.stdout.readline() == "up\n", "the command should run")
        session.kill()
        until(lambda: "cat" not in farm.processes("b").values(), "the end of cat")
        until(lambda: "sleep" in farm.processes("b").values(), "what does not read goes on")


def until(condition, what):
    end = time.monotonic() + farms.PATIENCE
    while not condition():
        check(time.monotonic() < end, "waited in vain:", what)
        time.sleep(0.005)


def own_files():
    with tempfile.TemporaryDirectory(prefix="farm-test.") as directory:
        os.chmod(directory, 0o755)
        for name in ("hidden", "seen"):
            os.mkdir(os.path.join(directory, name))
            with open(os.path.join(directory, name, "file"), "w") as file:
                file.write(name)
        seen = os.path.join(directory, "seen")
        with Farm(2, private=[directory], shared=[seen]) as farm:
            look = ["find", directory, "-type", "f", "-printf", "%P\n"]
            check(farm.run("a", look).stdout == "seen/file\n", farm.run("a", look))
            farm.run("a", ["touch", f"{directory}/new", "/dev/shm/new", f"{seen}/both"])
            check(farm.run("b", look).stdout.split() == ["seen/both", "seen/file"]
                  or farm.run("b", look).stdout.split() == ["seen/file", "seen/both"],
                  farm.run("b", look))
            check(farm.run("b", ["ls", "/dev/shm"]).stdout == "", "/dev/shm is shared")
        check(sorted(os.listdir(directory)) == ["hidden", "seen"], os.listdir(directory))
        with Farm(2, private_on={"b": [directory]}) as farm:
            check(farm.run("a", ["ls", directory]).stdout and not farm.run("b", ["ls", directory]).stdout,
                  "empty on b only")


def power_off_is_silent():
    with Farm(3) as farm:
        talk = Talk(farm, "a", "b")
        check(talk.passes("a", "b") and talk.passes("b", "a"), "they should talk")
        farm.popen("b", ["sleep", "600"])
        farm.kill_host("b")
        check(farm.processes("b") == {}, "left:", farm.processes("b"))
        check(talk.ask("a", "receive") == "silence", "a host that is off says nothing")
        check(talk.ask("a", "send") == "sent", "nor refuses anything")
        farm.boot("b")
        check(farm.run("b", [farm.rsh, "c", "hostname"]).stdout == "c\n", "it is back")


def cuts():
    with Farm(3) as farm:
        talk = Talk(farm, "a", "b")
        farm.cut("b")
        check(not talk.passes("a", "b"), "b is cut off")
        farm.mend("b")
        until(lambda: talk.ask("b", "receive") == "got", "what was sent meanwhile")
        farm.cut_between("a", "b", both=False)  # half open: b is heard, a is not
        check(talk.passes("b", "a"), "from b to a")
        check(not talk.passes("a", "b"), "from a to b")
        check(farm.run("a", [farm.rsh, "c", "hostname"]).stdout == "c\n", "a and c hear each other")
        farm.mend("b")
        until(lambda: talk.ask("b", "receive") == "got", "what was sent meanwhile")
        farm.cut("b", cable=True)
        check(not talk.passes("a", "b"), "the cable of b is out")
        for _ in range(10):  # the kernel may not have seen the one when the other comes
            farm.mend("b")
            farm.cut("b", cable=True)
        farm.mend("b")
        until(lambda: talk.ask("b", "receive") == "got", "what was sent while the cable was out")


def a_frozen_host():
    with Farm(2) as farm:
        talk = Talk(farm, "a", "b")
        farm.freeze("b")
        check(talk.ask("a", "send") == "sent", "sent")
        check(talk.ask("a", "receive") == "silence", "it is frozen")
        states = {open(f"/proc/{os_pid}/stat").read().rpartition(")")[2].split()[0]
                  for os_pid in farm.processes("b")}
        check(states == {"T"}, "states:", states)
        farm.thaw("b")
        check(talk.ask("b", "receive") == "got", "it goes on where it was")


def narrow_links():
    with Farm(2) as farm:
        farm.rate("b", 4_000_000)
        begin = time.monotonic()
        farm.run("a", [farm.rsh, "b", "cat >/dev/null"], input="x" * 2_000_000)
        check(time.monotonic() - begin > 0.35, "2 MB at 4 MB/s took", time.monotonic() - begin)


def wires():
    if os.geteuid() != 0:
        return "skipped: wires need root"
    with Farm(2, wires=True) as farm:
        talk = Talk(farm, "a", "b", 20)
        farm.delay("b", 0.2)
        begin = time.monotonic()
        check(talk.passes("a", "b"), "late but there")
        took = time.monotonic() - begin
        check(took >= 0.2, "it took", took)
        farm.mend("b")
        farm.loss("b", 0.05)
        text = "x" * 300_000
        check(farm.run("a", [farm.rsh, "b", "cat"], input=text).stdout == text, "TCP copes with loss")
        farm.loss("b", 1)
        check(talk.ask("a", "send") == "sent", "sent")
        farm.mend("b")
        check(talk.ask("b", "receive") == "got", "sent again")
        farm.rate("b", 1_000_000)
        begin = time.monotonic()
        farm.run("a", [farm.rsh, "b", "cat >/dev/null"], input="x" * 1_000_000)
        check(time.monotonic() - begin > 0.7, "1 MB at 1 MB/s took", time.monotonic() - begin)
        farm.kill_host("b")
        farm.boot("b")
        check(farm.run("b", [farm.rsh, "a", "hostname"]).stdout == "a\n", "it is back")
    return None


def signals_and_ends():
    with Farm(1) as farm:
        for number in (signal.SIGTERM, signal.SIGUSR1):
            process = farm.popen("a", ["sleep", "600"])
            until(lambda: "sleep" in farm.processes("a").values(), "sleep")
            process.send_signal(number)
            check(process.wait(farms.PATIENCE) == -number, "status", process.returncode)
        process = farm.popen("a", ["sleep", "600"])
        until(process.inside, "the process itself")
        os.kill(process.inside(), signal.SIGKILL)
        check(process.wait(farms.PATIENCE) == -signal.SIGKILL, "status", process.returncode)
        process = farm.popen("a", ["sleep", "600"])
        until(lambda: "sleep" in farm.processes("a").values(), "sleep")
        process.kill()
        until(lambda: not farm.processes("a"), "its end with the one who looks after it")


KILLED = """
import sys, time
sys.path.insert(0, sys.argv[1])
import farm
hosts = farm.Farm(2)
hosts.popen("a", ["sleep", "600"])
print(hosts.scratch, hosts.keeper.pid, *(host.init for host in hosts.hosts.values()), flush=True)
time.sleep(600)
"""


def nothing_is_left_of_a_killed_test():
    process = subprocess.Popen([sys.executable, "-c", KILLED, farms.HERE], stdout=subprocess.PIPE,
                               text=True)
    scratch, *numbers = process.stdout.readline().split()
    process.kill()
    process.wait()

    def alive(number):
        try:
            with open(f"/proc/{number}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False
    until(lambda: not any(map(alive, numbers)), "the end of the hosts")
    until(lambda: not os.path.exists(scratch), "the end of the directory")


def loopback():
    with Loopback(2) as farm:
        one, other = farm.names
        far = farm.run(one, [farm.rsh, other, "echo $FARM_HOST; cat; exit 3"], input="hello\n")
        check(far.returncode == 3 and far.stdout.endswith(f".{other}\nhello\n"), far)
        farm.popen(one, [farm.rsh, other, "sleep 600"])
        until(lambda: "sleep" in farm.processes(other).values(), "sleep")
        check("sleep" not in farm.processes(one).values(), "whose host is it?")
        farm.kill_host(other)
        check(not farm.processes(other), "left:", farm.processes(other))
        scratch = farm.scratch
    check(not os.path.exists(scratch), scratch, "is left")


def main():
    tests = [loopback, names_and_commands, a_session_that_breaks_ends_the_streams, own_files,
             power_off_is_silent, cuts, a_frozen_host, narrow_links, wires, signals_and_ends,
             nothing_is_left_of_a_killed_test]
    if sys.argv[1:]:
        tests = [test for test in tests if test.__name__ in sys.argv[1:]]
    if tests != [loopback]:
        farms.require("nft")
    failures = 0
    for test in tests:
        begin = time.monotonic()
        try:
            verdict = test() or "ok"
        except (AssertionError, FarmError) as problem:
            verdict, failures = f"FAILED: {problem}", failures + 1
        print(f"{test.__name__} ({time.monotonic() - begin:.2f} s): {verdict}", flush=True)
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
