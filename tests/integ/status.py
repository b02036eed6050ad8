"""bspstat and bspkill: what they show and end, and who may ask."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

from harness import BIN, BSPRUN, PROG, RSH, Job, check, expect, long, main, process_stat, run, wait_committed, wait_until
from status_place import StatusPlace

BSPSTAT = os.path.join(BIN, "bspstat")
BSPKILL = os.path.join(BIN, "bspkill")


class Place(StatusPlace):
    """... and what looks there."""

    def stat(self, *words):
        return run([BSPSTAT, *map(str, words)], env=dict(self.env))

    def ctl(self, *words):
        return run([os.path.join(BIN, "bspctl"), *map(str, words)], env=dict(self.env))

    def kill(self, *words):
        return run([BSPKILL, *map(str, words)], env=dict(self.env))

    def sockets(self):
        return sorted(os.listdir(self.path)) if os.path.isdir(self.path) else []

    def facts(self, job):
        result = expect(self.stat("--json", job.os_pid), 0, no_err=True)
        check(result.out.count("\n") == 1, result)
        return json.loads(result.out)


def stopped_by_a_signal():
    """A process that computes, or waits, and is stopped is said to be stopped, until it goes on."""
    with Place() as place:
        with place.job("-np", 3, PROG, "wait", 1) as job:
            os_pids = job.wait_ready(3)

            def states():
                return [rank["state"] for rank in place.facts(job)["ranks"]]

            wait_until(lambda: states() == ["waiting", "computing", "waiting"], "waiting")
            for pid in (1, 2):
                os.kill(os_pids[pid], signal.SIGSTOP)
            wait_until(lambda: states() == ["waiting", "stopped", "stopped"], "stopped")
            text = expect(place.stat(), 0, no_err=True).out
            check(re.search(r"^  1 .* stopped ", text, re.M), text)
            for pid in (1, 2):
                os.kill(os_pids[pid], signal.SIGCONT)
            wait_until(lambda: states() == ["waiting", "computing", "waiting"], "going on")
            job.signal(signal.SIGINT)
            job.finish()


def what_is_shown():
    with Place() as place:
        with place.job("-np", 3, PROG, "wait", 1) as job:
            os_pids = job.wait_ready(3)
            wait_until(lambda: place.facts(job)["ranks"][0]["state"] == "waiting", "waiting")
            facts = place.facts(job)
            check(facts["pid"] == job.os_pid and facts["processes"] == 3, facts)
            check(facts["program"] == f"{PROG} wait 1", facts)
            check(facts["directory"] == os.getcwd(), facts)
            check([rank["pid"] for rank in facts["ranks"]] == [0, 1, 2], facts)
            check([rank["state"] for rank in facts["ranks"]] == ["waiting", "computing", "waiting"],
                  facts)
            check(facts["ranks"][0]["function"] == "bsp_sync", facts)
            check(facts["ranks"][0]["file"].endswith("prog.c"), facts)
            check([host["state"] for host in facts["hosts"]] == ["up"], facts)
            check([host["slots"] for host in facts["hosts"]] == [len(os.sched_getaffinity(0))], facts)
            check(facts["hosts"][0]["memory_left"] > 0, facts)
            check(all(4096 < rank["memory"] < 1 << 30 for rank in facts["ranks"]), facts)
            check([rank["os_pid"] for rank in facts["ranks"]] == [os_pids[pid] for pid in range(3)],
                  os_pids, facts)
            check(facts["snapshot"] is None and facts["restarts"] == facts["restarted_alone"] == 0 and facts["term"] == 1, facts)
            check(facts["rate"] == 0, facts)
            text = expect(place.stat(), 0, no_err=True).out
            check(text.startswith(f"job {job.os_pid}: {PROG} wait 1\n  in {os.getcwd()}\n"), text)
            check(re.search(r"3 processes on 1 host for \d", text), text)
            check(re.search(r"^  1 .*computing ", text, re.M), text)
            check(re.search(r"^    " + " ".join(f"{pid}={os_pids[pid]}" for pid in range(3)) + "$", text,
                            re.M), text)
            job.signal(signal.SIGINT)
            job.finish()
        check(place.sockets() == [] and not os.path.exists(place.path), place.sockets())
        result = expect(place.stat(), 0, out="^no job of yours", no_err=True)
        expect(place.stat("--json"), 0, out="^$", no_err=True)
        result = expect(place.stat(job.os_pid), 1, err=f"^bspstat: job {job.os_pid} is not running")
        check(result.out == "", result)


READER = """
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(family.type, sample.name, sample.labels.get("bsprun"), sample.labels.get("pid"),
              float(sample.value), sample.labels.get("what"))
"""


def metrics_of(place, *jobs):
    """As the parser of Prometheus reads them: of Debian's python3, which may not be the first in PATH."""
    result = expect(place.stat("--prometheus", *jobs), 0, no_err=True)
    read = subprocess.run(["/usr/bin/python3", "-c", READER], input=result.out, capture_output=True,
                          text=True, check=False)
    check(read.returncode == 0, read.stderr, result)
    return [line.split(" ") for line in read.stdout.splitlines()]


def metrics():
    with Place() as place:
        expect(place.stat("--prometheus"), 0, out="^# EOF\n$", no_err=True)
        with place.job("-np", 2, PROG, "wait", 1) as job, \
             place.job("-np", 1, PROG, "early-sleep", 1) as early:
            job.wait_ready(2)
            wait_until(lambda: len(place.sockets()) == 2 and place.facts(early), "both")
            found = metrics_of(place)
            both = {str(job.os_pid): "2.0", str(early.os_pid): "0.0"}
            check({of: value for _, name, of, _, value, _ in found if name == "bspzero_processes"} == both,
                  found)
            steps = [(pid, value) for kind, name, _, pid, value, _ in found
                     if name == "bspzero_rank_superstep" and kind == "gauge"]
            check(sorted(pid for pid, _ in steps) == ["0", "1"], found)
            check(["counter", "bspzero_restarts_total", str(job.os_pid), "None", "0.0", "None"] in found, found)
            of_one = metrics_of(place, job.os_pid)
            check({of for _, _, of, _, _, _ in of_one} == {str(job.os_pid)}, of_one)
            for one in (job, early):
                one.signal(signal.SIGINT)
                one.finish()
        expect(place.stat("--prometheus", job.os_pid), 1, out="^# EOF\n$",
               err=f"^bspstat: job {job.os_pid} is not running")


WHAT = ("computing", "communicating", "waiting")


def times():
    """One computes and the others wait: seconds pass in that activity of each, and in no other."""
    with Place() as place, place.job("-np", 3, PROG, "wait", 1) as job:
        job.wait_ready(3)
        wait_until(lambda: [rank["state"] for rank in place.facts(job)["ranks"]]
                   == ["waiting", "computing", "waiting"], "waiting")
        before = place.facts(job)["ranks"]
        began = time.monotonic()
        wait_until(lambda: place.facts(job)["ranks"][1]["computing"] > before[1]["computing"] + 1, "a second")
        after = place.facts(job)["ranks"]
        passed = time.monotonic() - began
        for pid, busy in enumerate(("waiting", "computing", "waiting")):
            grown = {what: after[pid][what] - before[pid][what] for what in WHAT}
            check(1 <= grown.pop(busy) <= passed + 10 and set(grown.values()) == {0}, pid, before, after)
        found = {(pid, what): float(value) for kind, name, _, pid, value, what in metrics_of(place, job.os_pid)
                 if name == "bspzero_rank_seconds_total" and kind == "counter"}
        check(set(found) == {(str(pid), what) for pid in range(3) for what in WHAT}, found)
        check(found["1", "computing"] >= after[1]["computing"] and found["1", "waiting"] < 1, found)
        check(re.search(r"^  1  .*  [1-9]\d*\.\d +0\.0 +\d\.\d  computing ",
                        expect(place.stat(job.os_pid), 0, no_err=True).out, re.M), "text")
        job.signal(signal.SIGINT)
        job.finish()


def times_of_a_whole_job():
    """With --report they are counted from the beginning, else from the first question."""
    for words, counted in ((["--report=/dev/null"], True), ([], False)):
        with Place() as place, place.job(*words, "-np", 2, PROG, "loop", 0) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
            time.sleep(1)  # it is the least that has passed, whatever the load
            ranks = place.facts(job)["ranks"]
            for rank in ranks:
                total = sum(rank[what] for what in WHAT)
                check(total >= 1 if counted else 0.2 <= total, words, ranks)
            again = place.facts(job)["ranks"]
            check(all(sum(late[what] - early[what] for what in WHAT) > 0 for early, late in zip(ranks, again)),
                  ranks, again)
            job.signal(signal.SIGINT)
            job.finish()


def followed():
    """Line by line, to the end of the job, and no longer."""
    with Place() as place, place.job("-np", 2, PROG, "loop", 0) as job:
        job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
        for words in ((job.os_pid,), ()):
            with subprocess.Popen([BSPSTAT, "--json", "--follow", "--interval=0.2", *map(str, words)],
                                  stdout=subprocess.PIPE, text=True,
                                  env=dict(os.environ, **place.env)) as reader:
                first, second = [json.loads(reader.stdout.readline()) for _ in range(2)]
                check(first["pid"] == second["pid"] == job.os_pid, first, second)
                check(second["superstep"] > first["superstep"], first, second)
                check(second["seconds"] - first["seconds"] > 0.1, first, second)
                if words:
                    reader.terminate()
                    check(reader.wait() == -signal.SIGTERM, reader.returncode)
                    continue
                job.signal(signal.SIGINT)
                job.finish()
                lines = reader.stdout.read().splitlines()
                check(json.loads(lines[-1]) == {"pid": job.os_pid, "ended": True}, lines)
                check(reader.wait() == 0, reader.returncode)
        expect(place.stat("--json", "--follow"), 0, out="^$", no_err=True)
        expect(place.stat("--json", "--follow", job.os_pid), 1, out="^$",
               err=f"^bspstat: job {job.os_pid} is not running")


def more_clients_than_are_answered():
    """Who is turned away does not take the job for one that has ended."""
    with Place() as place, place.job("-np", 2, PROG, "loop", 0) as job:
        job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
        [name] = place.sockets()
        with subprocess.Popen([BSPSTAT, "--json", "--follow", "--interval=0.1"], stdout=subprocess.PIPE,
                              text=True, env=dict(os.environ, **place.env)) as reader:
            check(json.loads(reader.stdout.readline())["pid"] == job.os_pid, "no line")
            silent = []

            def refused(client):
                """Nothing is said to who is taken; the others hear that at once."""
                try:
                    client.recv(100, socket.MSG_DONTWAIT)
                    return True
                except BlockingIOError:
                    return False

            def all_taken():
                silent[:] = [client for client in silent if not refused(client)]
                while len(silent) < 16:
                    silent.append(socket.socket(socket.AF_UNIX))
                    silent[-1].connect(os.path.join(place.path, name))
                place.stat("--json", job.os_pid)  # answered after all of them have been accepted
                return not any(map(refused, silent))

            wait_until(all_taken, "all connected beside the reader")
            turned_away = f"job {job.os_pid}: too many commands ask it at once; try again$"
            for _ in range(5):
                expect(place.stat("--json", job.os_pid), 1, out="^$", err=turned_away)
            expect(place.stat("--json"), 1, out="^$", err=turned_away)
            expect(place.ctl(job.os_pid, "hosts"), 1, out="^$", err=turned_away)
            expect(place.ctl(job.os_pid, "save"), 1, out="^$", err=turned_away)
            expect(place.kill(job.os_pid), 1, out="^$", err=turned_away)
            for client in silent:
                client.close()
            wait_until(lambda: place.stat(job.os_pid).status == 0, "an answer")
            job.signal(signal.SIGINT)
            job.finish()
            lines = [json.loads(line) for line in reader.stdout]
            check([line.get("ended") for line in lines].count(True) == 1, lines)
            check(lines[-1] == {"pid": job.os_pid, "ended": True} and reader.wait() == 0, lines)


def ctl_with_answers(answers, words, text):
    """What bspctl says of a bsprun, here, that answers so and ends."""
    with Place() as place, socket.socket(socket.AF_UNIX) as listener:
        os.mkdir(place.path, 0o700)
        listener.bind(os.path.join(place.path, f"job-{os.getpid()}-00000001"))
        listener.listen()

        def answer():
            client, _ = listener.accept()
            with client:
                client.recv(1000)
                for line in answers:
                    client.sendall(line)

        bsprun = threading.Thread(target=answer)
        bsprun.start()
        expect(place.ctl(os.getpid(), *words), 1, out="^$", err=f"job {os.getpid()}: {text}$")
        bsprun.join()


def jobs_that_end_meanwhile():
    """Before they have answered, or before it has happened: that is said, and not that they are silent."""
    ctl_with_answers((), ("save",), "it has ended without an answer")
    ctl_with_answers((), ("hosts",), "it has ended without an answer")
    ctl_with_answers((b"ok\n",), ("--wait", "save"), "it has ended before that")


def long_answers():
    """A refusal names hosts, whose names may be long; what is too long is cut off."""
    for length in (600, 1300, 70000):
        line = b"x" * length + b"\n"
        ctl_with_answers((line,), ("drain", "h"), "x{%d,}" % min(length, 1300))
        ctl_with_answers((b"ok\n", line), ("--wait", "drain", "h"), "x{%d,}" % min(length, 1300))


def long_lists_of_replicas():
    """As long as bsprun takes one: it says what is wrong with it, and not that it is no host."""
    longest = ",".join(f"{pid}-{pid + 1}=2" for pid in range(1000, 1128, 2))
    with Place() as place:
        with place.job("--ckpt", os.path.join(place.directory, "ckpt"), "-np", 2, PROG, "wait", 0) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 2)
            expect(place.ctl(job.os_pid, "replicas", longest), 1, err=f"^bspctl: job {job.os_pid}: (?!it has ended)")
            expect(place.ctl(job.os_pid, "replicas", longest + ",2000-2001=2"), 2, err="give a number from 1 to 4, or one for each")
            job.signal(signal.SIGKILL)
            job.finish()


def a_full_disk():
    with Place() as place, place.job("-np", 2, PROG, "wait", 1) as job:
        job.wait_ready(2)
        asked = [[BSPSTAT, *words] for words in ((), ("--json",), ("--prometheus",), ("--json", "--follow"))]
        told = [[os.path.join(BIN, name), word] for name in ("bspstat", "bspctl", "bspkill", "bspload")
                for word in ("--help", "--version")]
        for command in (*asked, *told, [os.path.join(BIN, "bspctl"), str(job.os_pid), "hosts"]):
            with open("/dev/full", "wb") as full:
                result = run(command, env=dict(place.env), stdout=full)
            name = os.path.basename(command[0])
            check(result.status == 1 and
                  result.err == f"{name}: standard output: No space left on device\n", command, result)
        job.signal(signal.SIGINT)
        job.finish()


def too_long_a_directory():
    env = {"BSPZERO_STATUS_DIR": "/tmp/" + "x" * 80}
    expect(run([BSPRUN, "-np", "2", PROG], env=env), 0,
           err="^bsprun: BSPZERO_STATUS_DIR: .* at most 75 characters")
    expect(run([BSPSTAT], env=env), 0, err="^bspstat: BSPZERO_STATUS_DIR: .* at most 75 characters")


def a_rate():
    with Place() as place, place.job("-np", 2, PROG, "loop", 0) as job:
        job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
        facts = place.facts(job)
        again = place.facts(job)
        check(facts["rate"] > 0 and again["superstep"] > facts["superstep"] > 0, facts, again)
        job.signal(signal.SIGINT)
        job.finish()


def before_begin():
    with Place() as place, place.job("-np", 2, PROG, "early-sleep", 1) as job:
        wait_until(place.sockets, "a socket")
        wait_until(lambda: place.stat(job.os_pid).status == 0, "an answer")
        expect(place.stat(job.os_pid), 0, out="not yet in bsp_begin", no_err=True)
        check(place.facts(job)["ranks"] == [], "ranks")
        job.signal(signal.SIGINT)
        job.finish()


def with_snapshots():
    with Place() as place:
        directory = os.path.join(place.directory, "ckpt")
        with place.job("--ckpt", directory, "--every", 1, "-np", 2, PROG, "loop", 0) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 2)
            wait_until(lambda: (place.facts(job)["snapshot"] or {}).get("superstep", 0) > 2,
                       "snapshots")
            facts = place.facts(job)
            check(0 <= facts["snapshot"]["age"] < 60 and facts["snapshot"]["taken"] >= 3, facts)
            check(facts["job"], facts)
            expect(place.stat(), 0, out=r"last snapshot: superstep \d+, [\d.]+ s ago", no_err=True)
            result = expect(place.kill("--save", job.os_pid), 0,
                            out=f"^job {job.os_pid} has ended$", no_err=True)
            check(job.finish() == 123, job.text())
        check(result.out.count("\n") == 1, result)


@contextlib.contextmanager
def asked_to_save():
    """A job that bspkill has asked to save and stop in a superstep that lasts until the gate is opened: the place, the job, the
    bspkill, and what opens the gate."""
    with Place() as place:
        directory, gate = (os.path.join(place.directory, name) for name in ("ckpt", "gate"))

        def open_gate(step):
            with open(gate + ".new", "w") as file:
                file.write(f"{step}\n")
            os.rename(gate + ".new", gate)

        open_gate(1)
        with place.job("--ckpt", directory, "--every", 1000000, "--grace", 0, "-np", 2, PROG, "gated", 9, gate) as job:
            job.wait_for("^step 2 of [01]$", 2)
            wait_committed(job, directory, 0)
            asking = subprocess.Popen([BSPKILL, "--save", str(job.os_pid)], env={**os.environ, **place.env}, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                wait_until(lambda: "it is ending" in place.ctl(job.os_pid, "drain", "h").err or asking.poll() is not None,
                           "the request")
                yield place, job, asking, open_gate
            finally:
                asking.kill()
                asking.communicate()


def saved_however_long_it_takes():
    """--grace is for signals."""
    with asked_to_save() as (_, job, asking, open_gate):
        check(asking.poll() is None, "bspkill has not waited for the snapshot", job)
        open_gate(9)
        check(job.finish() == 123 and "stopped after a snapshot, as requested" in job.text(), job.text())
        out, err = asking.communicate()
        check((asking.returncode, out, err) == (0, f"job {job.os_pid} has ended\n", ""), out, err)


def saved_in_a_hurry():
    """A signal gives it the time of --grace, and does not kill."""
    with asked_to_save() as (_, job, asking, _):
        job.signal(signal.SIGTERM)
        check(job.finish() == 123 and "killed" not in job.text(), job.status, job.text())
        out, err = asking.communicate()
        check(asking.returncode == 1 and "without a new snapshot" in err, out, err)


def ended_without_the_snapshot():
    """By somebody else."""
    with asked_to_save() as (place, job, asking, _):
        expect(place.kill(job.os_pid), 0, out=f"^job {job.os_pid} has ended$", no_err=True)
        check(job.finish() == 123, job.status, job.text())
        out, err = asking.communicate()
        check(asking.returncode == 1 and out == f"job {job.os_pid} has ended\n" and
              err == f"bspkill: job {job.os_pid}: it has ended without a new snapshot\n", out, err)


def stopped_without_the_snapshot():
    """As it cannot be taken."""
    script = f"sleep 60 & exec '{PROG}' loop 0"
    with Place() as place:
        with place.job("--ckpt", os.path.join(place.directory, "ckpt"), "--on-refuse", "continue", "-np", 2, "sh", "-c",
                       script) as job:
            job.wait_ready(2)
            result = expect(place.kill("--save", job.os_pid), 1, out=f"^job {job.os_pid} has ended$",
                            err=f"^bspkill: job {job.os_pid}: .*without a new snapshot")
            check(result.err.count("\n") == 1, result)
            job.finish()


def agent_of(job, pid):
    """The agent of the host on which a process is, seen from outside: its parent."""
    os_pid = job.wait_ready(3)[pid]
    return process_stat(os_pid)[1]


def over_several_hosts():
    """Where each process is, before and after a host is lost; the spare one has none at first."""
    with Place() as place:
        directory = os.path.join(place.directory, "ckpt")
        with place.job("--launcher", RSH, "--hosts", "h0:2,h1:1,h2:1", "--spares", 1, "--heartbeat", 2,
                       "--ckpt", directory, "--every", 1, "-np", 3, PROG, "loop", 0) as job:
            agent = agent_of(job, 2)
            wait_until(lambda: (place.facts(job)["snapshot"] or {}).get("superstep", 0) > 2,
                       "snapshots")
            facts = place.facts(job)
            check([host["name"] for host in facts["hosts"]] == ["h0", "h1", "h2"], facts)
            check([host["slots"] for host in facts["hosts"]] == [2, 1, 1], facts)
            check([host["state"] for host in facts["hosts"]] == ["up", "up", "spare"], facts)
            check([rank["host"] for rank in facts["ranks"]] == ["h0", "h0", "h1"], facts)
            check(all(sum(rank[what] for what in WHAT) > 0 for rank in facts["ranks"]), facts)
            check(facts["zero"] in ("h0", "h1") and facts["restarts"] == 0, facts)
            text = expect(place.stat(job.os_pid), 0, no_err=True).out
            check(re.search("3 processes on [23] hosts for ", text), text)
            for name, slots in (("h0", 2), ("h1", 1)):
                zero = ", Processor Zero" if facts["zero"] == name else ""
                check(re.search(rf"^  {name} +{slots} +[\d.]+ \w+ +{slots}  up{zero}$", text, re.M), text)
            os.kill(agent, signal.SIGKILL)
            wait_until(lambda: place.facts(job)["restarts"] == 1
                       and len(place.facts(job)["ranks"]) == 3, "another term")
            facts = place.facts(job)
            states = {host["name"]: host["state"] for host in facts["hosts"]}
            check(facts["term"] == 2 and states[facts["ranks"][2]["host"]] == "up", facts)
            expect(place.kill(job.os_pid), 0, out=f"^job {job.os_pid} has ended$")
            job.finish()


def several_jobs():
    with Place() as place:
        with place.job("-np", 1, PROG, "wait", 0) as first, \
                place.job("-np", 1, PROG, "wait", 0) as second:
            for job in (first, second):
                job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
            result = expect(place.stat("--json"), 0, no_err=True)
            pids = [json.loads(line)["pid"] for line in result.out.splitlines()]
            check(pids == sorted([first.os_pid, second.os_pid]), pids)
            expect(place.kill(first.os_pid), 0, out=f"^job {first.os_pid} has ended$", no_err=True)
            check(first.finish() == 128 + signal.SIGTERM, first.text())
            check("ended by signal 15" in first.text(), first.text())
            check(second.process.poll() is None, "the other one runs on")
            expect(place.kill("--force"), 0, out=f"^job {second.os_pid} has ended$", no_err=True)
            check(second.finish() == 128 + signal.SIGTERM, second.text())
        expect(place.kill(), 0, out="^no job of yours", no_err=True)
        expect(place.kill(first.os_pid), 1, err="is not running")


def a_job_that_ignores_signals():
    """Started with signals ignored, as by nohup and in the background: asked, it ends all the same."""
    with Place() as place:
        with Job(["sh", "-c", "trap '' INT TERM HUP QUIT; exec \"$0\" \"$@\"", BSPRUN, "-np", "2", PROG,
                  "wait", "0"], env=dict(place.env)) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 2)
            expect(place.kill(), 0, out=f"^job {job.os_pid} has ended$", no_err=True)
            check(job.finish() == 128 + signal.SIGTERM, job.text())


def a_stopped_bsprun():
    """One that does not answer at all is killed at last."""
    with Place() as place:
        with place.job("-np", 1, PROG, "wait", 0) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
            os.kill(job.os_pid, signal.SIGSTOP)
            expect(place.kill("-f", job.os_pid), 0, out=f"^job {job.os_pid} has ended$", no_err=True)
            check(job.finish() == -signal.SIGKILL, job.text())
            job.check_gone(at_once=False)
        # What it left is swept by the next to look.
        check(len(place.sockets()) == 1, place.sockets())
        expect(place.stat(), 0, out="^no job of yours", no_err=True)
        check(not os.path.exists(place.path), place.sockets())


@long
def a_stopped_bsprun_that_many_have_asked():
    """It has not ended: that is not said, it is asked again when it goes on, and it can be killed."""
    with Place() as place, place.job("-np", 1, PROG, "wait", 0) as job:
        job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
        with subprocess.Popen([BSPSTAT, "--json", "--follow", "--interval=0.1"], stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, **place.env)) as reader:
            for _ in range(2):  # and not while it is asked for the first line
                check(json.loads(reader.stdout.readline())["pid"] == job.os_pid, "no line")
            place.stop(job)
            ctl = subprocess.Popen([os.path.join(BIN, "bspctl"), str(job.os_pid), "hosts"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env=dict(os.environ, **place.env))
            expect(place.stat(), 1, out="^$", err=f"^bspstat: job {job.os_pid} does not answer$")
            said = ctl.communicate()[0]
            check(ctl.returncode == 1 and said == f"bspctl: job {job.os_pid}: it does not answer\n", said)
            os.kill(job.os_pid, signal.SIGCONT)
            wait_until(lambda: place.stat(job.os_pid).status == 0, "an answer")
            now = place.facts(job)["seconds"]
            next(line for line in reader.stdout if json.loads(line)["seconds"] >= now)
            place.stop(job)
            expect(place.kill("-f"), 0, out=f"^job {job.os_pid} has ended$", no_err=True)
            check(job.finish() == -signal.SIGKILL, job.text())
            lines = [json.loads(line) for line in reader.stdout]
            check([line.get("ended") for line in lines].count(True) == 1, lines)
            check(lines[-1].get("ended") and reader.wait() == 0, lines)


def after_a_logout():
    """$XDG_RUNTIME_DIR is removed with the last session of the user, and made anew by the next; the job goes on."""
    with Place() as place:
        runtime = os.path.join(place.directory, "run")
        place.env = {"BSPZERO_STATUS_DIR": None, "XDG_RUNTIME_DIR": runtime}
        place.path = os.path.join(runtime, "bspzero")

        def log_in(number):
            """At once: a bsprun that looks in between has its socket in /tmp."""
            os.mkdir(f"{runtime}.{number}", 0o700)
            os.symlink(f"{runtime}.{number}", runtime + ".new")
            os.replace(runtime + ".new", runtime)

        log_in(0)
        with place.job("-np", 1, PROG, "wait", 0) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
            check(len(place.sockets()) == 1, place.sockets())
            with subprocess.Popen([BSPSTAT, "--json", "--follow", "--interval=0.1", str(job.os_pid)], text=True, stdout=subprocess.PIPE,
                                  env=dict(os.environ, XDG_RUNTIME_DIR=runtime, BSPZERO_STATUS_DIR="")) as reader:
                check(json.loads(reader.stdout.readline())["pid"] == job.os_pid, "no line")
                log_in(1)
                expect(place.stat(job.os_pid), 0, out=f"^job {job.os_pid}: ", no_err=True)
                check(len(place.sockets()) == 1 and reader.poll() is None, place.sockets())
                log_in(2)
                expect(place.kill(job.os_pid), 0, out=f"^job {job.os_pid} has ended$", no_err=True)
                job.finish()
                lines = [json.loads(line) for line in reader.stdout]
                check(lines[-1].get("ended") and reader.wait() == 0, lines)
        check(not os.path.exists(place.path), place.sockets())


def a_job_without_a_socket():
    """It runs, which is not denied, and it is not killed because it cannot be asked."""
    with Place() as place:
        os.mkdir(place.path)
        os.chmod(place.path, 0o755)
        with place.job("-np", 1, PROG, "wait", 0) as job:
            job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
            expect(place.kill("-f", job.os_pid), 1, out="^$",
                   err=f"^bspkill: job {job.os_pid} cannot be asked, .*'kill {job.os_pid}' asks it to end$")
            expect(place.stat(job.os_pid), 1, out="^$", err=f"^bspstat: job {job.os_pid} does not answer$")
            job.signal(signal.SIGINT)
            check(job.finish() == 128 + signal.SIGINT, job.text())


def stale_sockets_are_swept():
    with Place() as place:
        os.mkdir(place.path, 0o700)
        for name in ("job-1-00000001", "new-1-00000001", "other"):
            left = socket.socket(socket.AF_UNIX)
            left.bind(os.path.join(place.path, name))
            left.close()
        os.utime(os.path.join(place.path, "new-1-00000001"), (1, 1))
        with place.job("-np", 1, PROG) as job:
            check(job.finish() == 0, job.text())
        check(place.sockets() == ["other"], place.sockets())


def whose_directory():
    """Only the user's own with no rights for others; else there is no socket, and the job runs."""
    with Place() as place:
        for mode in (0o755, 0o720):
            os.mkdir(place.path)
            os.chmod(place.path, mode)
            with place.job("-np", 1, PROG, "wait", 0) as job:
                job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
                check(place.sockets() == [], oct(mode))
                expect(place.stat(), 0, out="^no job of yours", no_err=True)
                job.signal(signal.SIGINT)
                job.finish()
            os.rmdir(place.path)
        os.symlink(place.directory, place.path)
        with place.job("-np", 1, PROG) as job:
            check(job.finish() == 0, job.text())
        check([name for name in os.listdir(place.directory) if name.startswith("job")] == [], "a link")


def rights():
    with Place() as place, place.job("-np", 1, PROG, "wait", 0) as job:
        job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
        check(stat.S_IMODE(os.stat(place.path).st_mode) == 0o700, "directory")
        [name] = place.sockets()
        mode = os.stat(os.path.join(place.path, name)).st_mode
        check(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, oct(mode))
        job.signal(signal.SIGINT)
        job.finish()


def bad_questions():
    """Garbage, silence, half lines and many at a time: the job runs on, and others are answered."""
    with Place() as place, place.job("-np", 1, PROG, "wait", 0) as job:
        job.wait_for(r"^ready (\d+) (\d+)\r?$", 1)
        [name] = place.sockets()

        def connect():
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(60)
            client.connect(os.path.join(place.path, name))
            return client

        for question in (b"\n", b"stat", b"x" * 1000, b"\0" * 40, b"stop now\n", b"st\0op\n"):
            client = connect()
            try:
                client.sendall(question)
                if question == b"stat":
                    client.shutdown(socket.SHUT_WR)
                check(client.recv(10) == b"", question)
            except (BrokenPipeError, ConnectionResetError):
                pass
        silent = [connect() for _ in range(12)]
        check(place.facts(job)["processes"] == 1, "beside silent ones")
        for client in silent:
            client.close()
        check(job.process.poll() is None, job.text())
        job.signal(signal.SIGINT)
        job.finish()


def programs_without_bsprun():
    """--all, in a place where there are no other processes."""
    inside = (f"'{PROG}' wait 0 & while [ \"$(cat /proc/[0-9]*/comm | grep -c '^bspnode$')\" = 0 ]; do sleep 0.05; done; "
              f"sleep 0.3; '{BSPKILL}' --all; wait; cat /proc/[0-9]*/comm | grep -c '^bspnode$'")
    command = ["unshare", "-Urpf", "--mount-proc", "--kill-child", "sh", "-c"]
    if run([*command, "true"]).status != 0:
        print("no process namespaces here: bspkill --all is not tested")
        return
    with Place() as place:
        result = run([*command, inside], env={"BSP_PROCS": "2", **place.env})
        check(re.search(r"^a job without bsprun has ended", result.out, re.M), result)
        check(result.out.endswith("\n0\n"), result)


def wrong_calls():
    for program in (BSPSTAT, BSPKILL):
        name = os.path.basename(program)
        for words in (["-x"], ["abc"], ["12x"], ["0"], ["-1"], ["1234567890"]):
            result = expect(run([program, *words]), 2, err=f"^{name}: ")
            check(result.err.count("\n") == 1 and result.out == "", result)
        for word in ("--help", "-help", "-h"):
            expect(run([program, word]), 0, out="^Usage: " + name, no_err=True)
        expect(run([program, "--version"]), 0, out=f"^{name} \\(bspzero\\)", no_err=True)
    for words, said in ((["--follow"], "--follow: it requires --json"),
                        (["--prometheus", "--follow"], "--follow: it requires --json"),
                        (["--json", "--interval", "2"], "--interval: it requires --follow"),
                        (["--json", "--prometheus"], "--json and --prometheus: give one of them"),
                        (["--json", "--follow", "--interval"], "--interval: missing argument"),
                        (["--json", "--follow", "--interval", "0"], "0: give seconds, from 0.1"),
                        (["--json", "--follow", "--interval=x"], "x: give seconds")):
        result = expect(run([BSPSTAT, *words]), 2, err="^bspstat: " + re.escape(said))
        check(result.err.count("\n") == 1 and result.out == "", result)


if __name__ == "__main__":
    main([what_is_shown, stopped_by_a_signal, metrics, times, times_of_a_whole_job, followed, more_clients_than_are_answered,
          jobs_that_end_meanwhile, long_answers, long_lists_of_replicas,
          a_full_disk, too_long_a_directory, a_rate, before_begin, with_snapshots,
          saved_however_long_it_takes, saved_in_a_hurry, ended_without_the_snapshot, stopped_without_the_snapshot, over_several_hosts, several_jobs,
          a_job_that_ignores_signals, a_stopped_bsprun, a_stopped_bsprun_that_many_have_asked, after_a_logout, a_job_without_a_socket, stale_sockets_are_swept, whose_directory,
          rights, bad_questions, programs_without_bsprun, wrong_calls])
