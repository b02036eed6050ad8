"""bsprun with agents on several hosts, all of which are this machine: --launcher local-rsh.

What a host is called is of no importance here, so every name is one.
"""
import os
import re
import shutil
import signal
import socket
import tempfile
import time

from harness import (BSPRUN, PROG, RSH, Job, bsprun, check, expect, kill_marked, main, run, scratch,
                     wait_until)
from snapshots import shares, wait_committed

TWO = ["--launcher", RSH, "--hosts", "h0:2,h1:2"]
QUICK = ["--heartbeat", "1"]


def private_directories(where):
    return [name for name in os.listdir(where) if name.startswith("bspzero-job-")]


class Temporary:
    """A TMPDIR of its own, so that what is left there is ours."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(dir=scratch)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def agents(job):
    """The os pids of the agents by host."""
    found = {}
    for pid, name in job.members().items():
        if name != "bspnode":
            continue
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                entries = file.read().split(b"\0")
        except OSError:
            continue  # it has just left
        for entry in entries:
            if entry.startswith(b"BSPZERO_HOST_NAME="):
                found[entry.partition(b"=")[2].decode()] = pid
    return found


# ---- Jobs that end well ----

def two_hosts():
    with Temporary() as directory:
        expect(bsprun(*TWO, PROG, env={"TMPDIR": directory}), 0, out="^p = 4$", no_err=True)
        check(not private_directories(directory), os.listdir(directory))


def many_shapes():
    for hosts, p in (("h0:1,h1:1", 2), ("h0:3,h1:1", 4), ("h0:1,h1:1,h2:1,h3:1,h4:1", 5),
                     ("localhost:2,h1:1", 3), ("h0:1,localhost:2", 3), ("h0:1", 1)):
        expect(bsprun("--launcher", RSH, "--hosts", hosts, PROG), 0, out=f"^p = {p}$", no_err=True)
    expect(bsprun(*TWO, "-np", 1, PROG), 0, out="^p = 1$", no_err=True)  # a host without processes
    expect(bsprun(*TWO, "-np", 3, "--map-by", "node", "-tag-output", PROG, "talk", 1), 0,
           out="^\\[2\\] line 0 of 2$")


def program_by_its_name():
    """What it is called here it is called on a first host that is another one, too."""
    directory, name = os.path.split(PROG)
    for program, env in (("./" + name, {}), (name, {}),
                         (name, {"PATH": directory + ":" + os.environ["PATH"]})):
        cwd = scratch if env else directory
        expect(bsprun(*TWO, program, env=env, cwd=cwd), 0, out="^p = 4$", no_err=True)
    expect(bsprun(*TWO, "./no-such-program"), 127, err="no such program")


def status_of_process_0():
    expect(bsprun(*TWO, PROG, "status", 5), 5)
    expect(bsprun(*TWO, PROG, "never", 3), 3)


def named_in_the_trace():
    result = expect(bsprun("-v", *TWO, PROG), 0)
    check(re.fullmatch(r"bsprun: Processor Zero is host h[01] \(term 1\), p = 4\n", result.err), result)


def encrypted():
    expect(bsprun("--encrypt", *TWO, PROG), 0, out="^p = 4$", no_err=True)


def crowded():
    expect(bsprun(*TWO, "-np", 6, PROG), 0, out="^p = 6$", err="^bsprun: .*slots")
    expect(bsprun(*TWO, "-np", 6, "--oversubscribe", PROG), 0, out="^p = 6$", no_err=True)


# ---- Streams ----

def output_in_order_of_supersteps():
    result = expect(bsprun(*TWO, PROG, "turns", 200), 0)
    turns = [int(n) for n in re.findall(r"^turn (\d+)$", result.out, re.M)]
    check(turns == list(range(200)), "not in order:", turns)


def output_around_the_processes():
    result = expect(bsprun(*TWO, PROG, "around", 8), 0)
    wanted = [f"first {i}" for i in range(600)] + [f"turn {i}" for i in range(8)] + ["p = 4", "last"]
    check(result.out.splitlines() == wanted, result)


def everybody_speaks():
    result = expect(bsprun(*TWO, PROG, "talk", 50), 0)
    lines = re.findall(r"^line (\d+) of (\d+)$", result.out, re.M)
    check([int(line) for line, _ in lines] == sorted(int(line) for line, _ in lines), "order")
    for pid in range(4):
        check([int(line) for line, who in lines if int(who) == pid] == list(range(50)), pid)


def through(filter, *words):
    """bsprun, its output through a command of the shell."""
    return run(["/bin/sh", "-c", f'"$@" | ({filter})', "sh", BSPRUN, *map(str, words)])


def much_output():
    """More than fits into one piece, for a reader that lets it wait: no line is torn."""
    for count, width in ((20000, 0), *3 * ((800, 3000),), (20, 200000), (3, 900000)):
        result = expect(through("sleep 0.7; cat", *TWO, PROG, "flood", count, width), 0)
        lines = [line for line in result.out.splitlines() if line != "p = 4"]
        torn = [line for line in lines if not re.fullmatch(rf"flood \d+ {{{width}}}", line)]
        check(len(lines) == 4 * count and not torn, len(lines), torn[:4])


def tagged_and_split():
    result = expect(bsprun(*TWO, "-tag-output", PROG, "talk", 3), 0)
    for pid in range(4):
        check(result.out.count(f"[{pid}] line 2 of {pid}\n") == 1, result)
    result = expect(bsprun(*TWO, PROG, "stderr"), 0)
    for pid in range(4):
        check(f"complaint of {pid}\n" in result.err, result)
        check("complaint" not in result.out, result)


def input_goes_to_process_0():
    data = b"0123456789\n" * 30000
    result = expect(bsprun(*TWO, PROG, "cat", stdin_data=data), 0,
                    out=f"^read {len(data)} bytes$")
    for pid in range(1, 4):
        check(f"pid {pid} reads nothing" in result.out, result)


def report_of_all():
    result = expect(bsprun(*TWO, "--report", PROG, "count", 10), 0)
    lines = result.err.splitlines()
    check(re.match(r"bsprun: 4 processes, 14 supersteps, ", lines[0]), result)
    check([line.split()[0] for line in lines[2:]] == ["0", "1", "2", "3", "all"], result)
    for line in lines[2:6]:
        check(line.split()[1] == "14" and line.split()[5:9] == ["4", "B", "4", "B"], line)


def progress_of_all():
    with Job([BSPRUN, "--progress", *TWO, PROG, "loop"]) as job:
        found = job.wait_for(r"^bsprun: superstep (\d+), [\d.]+/s, [\d.]+ s, p = 4$", 3)
        check(int(found[0]) < int(found[2]), job.text())
        job.signal(signal.SIGINT)
        check(job.finish() == 130, job.text())


# ---- Jobs that end badly ----

def errors_anywhere():
    for pid in (0, 3):
        expect(bsprun(*TWO, PROG, "exit", pid, 7), 7, err=rf"^bsprun: pid {pid} called exit\(7\)")
        expect(bsprun(*TWO, PROG, "abort", pid, "all"), 1, err="as told by all$")
        expect(bsprun(*TWO, PROG, "signal", pid, 11), 139,
               err=rf"^bsprun: pid {pid} was killed by signal 11 \(Segmentation fault\)")


def stopped_by_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        for mode in ("loop", "compute"):
            with Job([BSPRUN, *TWO, PROG, mode]) as job:
                job.wait_ready(4)
                job.signal(number)
                check(job.finish() == 128 + number, job.text())
                check(f"signal {int(number)} " in job.text(), job.text())
                job.check_gone()


def stopped_while_hosts_are_started():
    with Temporary() as directory:
        slow = os.path.join(directory, "slow-rsh")
        with open(slow, "w") as file:
            file.write("#!/bin/sh\necho on its way >&2\nsleep 100\n")
        os.chmod(slow, 0o700)
        with Job([BSPRUN, "--launcher", slow, "--hosts", "h0:2,h1:2", PROG],
                 env={"TMPDIR": directory}) as job:
            wait_until(lambda: "sleep" in job.members().values(), "hosts being started")
            job.signal(signal.SIGINT)
            check(job.finish() == 130, job.text())
            job.check_gone()
        check(not private_directories(directory), os.listdir(directory))


def time_limit():
    expect(bsprun(*TWO, "--timeout", 1, PROG, "compute"), 124,
           err=r"time limit \(--timeout 1\)")


def killed_launcher():
    with Temporary() as directory:
        with Job([BSPRUN, *TWO, PROG, "loop"], env={"TMPDIR": directory}) as job:
            job.wait_ready(4)
            job.signal(signal.SIGKILL)
            job.wait_status()
            began = time.monotonic()
            job.check_gone(at_once=False)
            check(time.monotonic() - began < 10, "it took", time.monotonic() - began)
        left = private_directories(directory)
        for name in left:  # as if it were old: the next job of the user's sweeps it
            os.utime(os.path.join(directory, name), (1, 1))
        expect(bsprun(*TWO, PROG, env={"TMPDIR": directory}), 0)
        check(not private_directories(directory), os.listdir(directory))


def a_private_directory_in_use_stays():
    with Temporary() as directory:
        with Job([BSPRUN, *TWO, PROG, "loop"], env={"TMPDIR": directory}) as job:
            job.wait_ready(4)
            used, = private_directories(directory)
            check(os.stat(os.path.join(directory, used)).st_mode & 0o777 == 0o700, used)
            os.utime(os.path.join(directory, used), (1, 1))
            expect(bsprun(*TWO, PROG, env={"TMPDIR": directory}), 0)
            check(private_directories(directory) == [used], os.listdir(directory))
            job.signal(signal.SIGINT)
            check(job.finish() == 130, job.text())


# ---- Hosts that are lost, in a job without snapshots ----

def lost_host_ends_the_job():
    for host in ("h0", "h1"):
        with Job([BSPRUN, *TWO, PROG, "loop"]) as job:
            job.wait_ready(4)
            os.kill(agents(job)[host], signal.SIGKILL)
            check(job.finish() == 1, job.text())
            check(re.search(rf"^bsprun: host {host} was lost: .* ended, which ends the job$",
                            job.text(), re.M), job.text())
            job.check_gone()


def report_of_a_lost_host():
    """To each process the time is useful, lost or down, and it was computing or waiting all the time
    that is seen here; the fault is the host's."""
    with Temporary() as directory:
        began = time.monotonic()
        with Job([BSPRUN, "-v", "--report", "--ckpt", directory + "/store", "--every", "1000000", *TWO, PROG,
                  "loop"]) as job:
            job.wait_ready(4)
            wait_committed(job, directory + "/store", 0)
            seen = time.monotonic()
            wait_until(lambda: time.monotonic() > seen + 0.5, "what is computed in vain")
            os.kill(agents(job)["h1"], signal.SIGKILL)
            job.wait_for("host h1 was lost: .*continues from superstep 0 ")
            job.wait_for(r"\(term 2\), p = 4")
            again = time.monotonic()
            wait_until(lambda: time.monotonic() > again + 1, "what is useful")
            seen = time.monotonic() - seen
            job.signal(signal.SIGTERM)
            check(job.finish() == 123, job.text())
            job.check_gone(at_once=False)
        ran = time.monotonic() - began
        rows = shares(job.text())
        check(list(rows) == ["0", "1", "2", "3", "all"], rows)
        for pid in "0123":
            useful, lost, down, _, _, faults = rows[pid]
            check(useful > 0.5 and lost > 0.4 and down > 0 and faults == 0, pid, job.text())
            check(0.8 * seen < useful + lost + down < ran, pid, seen, ran, job.text())
        for column in range(3):
            total = sum(rows[pid][column] for pid in "0123")
            check(abs(rows["all"][column] - total) < 0.01, "column", column, job.text())
        check(rows["all"][5] == 1, job.text())


def silent_host_ends_the_job():
    for host in ("h0", "h1"):
        with Job([BSPRUN, *QUICK, *TWO, PROG, "loop"]) as job:
            job.wait_ready(4)
            os.kill(agents(job)[host], signal.SIGSTOP)
            check(job.finish() == 1, job.text())
            check(f"host {host} was lost: nothing has been heard from it for 1 s" in job.text(),
                  job.text())
            kill_marked(job.mark)  # what is stopped cannot leave


def lost_after_bsp_end():
    """What process 0 does behind it is not done twice; what was saved is still there."""
    with Temporary() as directory:
        with Job([BSPRUN, "--ckpt", directory, *TWO, PROG, "late-sleep"]) as job:
            job.wait_ready(1)
            os.kill(agents(job)["h0"], signal.SIGKILL)
            check(job.finish() == 1, job.text())
            # Between the two there are lines of processes that were still on their way out.
            for line in (r"host h0 was lost: .* ended, while the job was ending, when nothing can be rolled back any more", r"bsprun --restart \S+ continues from superstep \d+"):
                check(re.search(f"^bsprun: {line}$", job.text(), re.M), job.text())
            job.check_gone(at_once=False)


def a_host_whose_processes_have_ended():
    """Nothing is lost with it, as it has not Processor Zero: process 0 goes on behind bsp_end."""
    with Temporary() as directory:
        rsh, go = os.path.join(directory, "rsh"), os.path.join(directory, "go")
        with open(rsh, "w") as file:
            file.write(f"#!/bin/sh\n[ $1 = h0 ] || while [ ! -e {go} ]; do sleep 0.01; done\n"
                       f"exec {RSH} \"$@\"\n")
        os.chmod(rsh, 0o700)
        with Job([BSPRUN, "-vv", "--ckpt", os.path.join(directory, "store"), "--launcher", rsh,
                  "--hosts", "h0:2,h1:2", PROG, "late-sleep"]) as job:
            job.wait_for("host h0 has joined")
            open(go, "w").close()
            job.wait_ready(1)
            job.wait_for(r"event RANK_EXITED term 1 host 1 pid \d status 0$", 2)
            os.kill(agents(job)["h1"], signal.SIGKILL)
            wait_until(lambda: "h1" not in agents(job), "the end of the agent")
            job.signal(signal.SIGINT)
            check(job.finish() == 130, job.text())
            job.check_gone(at_once=False)


# ---- Hosts that cannot take part ----

def cannot_be_started():
    result = expect(bsprun("--launcher", "/bin/false", "--hosts", "h0:2,h1:2", PROG), 1,
                    err=r"^bsprun: host h\d: its node agent could not be started")
    with Temporary() as directory:
        rsh = os.path.join(directory, "rsh")
        with open(rsh, "w") as file:
            file.write("#!/bin/sh\nif [ $1 = h1 ]; then echo no way to $1 >&2; exit 255; fi\n"
                       f"exec {RSH} \"$@\"\n")
        os.chmod(rsh, 0o700)
        result = expect(bsprun("--launcher", rsh, "--hosts", "h0:2,h1:2", PROG), 1,
                        err="no way to h1$")
        check("host h1: its node agent could not be started, which ends the job" in result.err,
              result)
        # A spare will do as well.
        expect(bsprun("--launcher", rsh, "--hosts", "h0:2,h1:2,h2:2", "--spares", 1, PROG), 0,
               out="^p = 4$", err="no way to h1$")
        expect(bsprun("--launcher", rsh, "--hosts", "h1:2,h0:2,h2:2", "--spares", 1, PROG), 0,
               out="^p = 4$", err="no way to h1$")


def listening(pids):
    """The TCP ports on which these processes listen."""
    inodes, ports = set(), set()
    for pid in pids:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                inodes.add(os.readlink(f"/proc/{pid}/fd/{fd}").removeprefix("socket:[").rstrip("]"))
            except OSError:
                pass
    for name in ("tcp", "tcp6"):
        if not os.path.exists(f"/proc/net/{name}"):
            continue
        with open(f"/proc/net/{name}") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == "0A" and words[9] in inodes:
                    ports.add(int(words[1].rpartition(":")[2], 16))
    return ports


def taken_port():
    held = socket.socket()
    held.bind(("", 0))
    held.listen()
    return held, held.getsockname()[1]


def ports_of_a_range():
    """Several jobs share it; where none is free, that is said."""
    held, taken = taken_port()
    first = taken if taken < 60000 else taken - 200
    words = ["--ports", f"{first}-{first + 200}", *TWO, PROG]
    with held, Job([BSPRUN, *words, "loop"]) as one, Job([BSPRUN, *words, "loop"]) as other:
        found = []
        for job in (one, other):
            job.wait_ready(4)
            found.append(listening([job.process.pid, *agents(job).values()]))
            check(len(found[-1]) == 3, found)  # of bsprun and two agents
            check(all(first <= port <= first + 200 for port in found[-1]), (found, first))
        check(not found[0] & found[1] and taken not in found[0] | found[1], found)
        expect(bsprun(*TWO, PROG, env={"BSPZERO_PORTS": f"{first}-{first + 200}"}), 0,
               out="^p = 4$", no_err=True)
        text = f"none of the ports {taken}-{taken} \\(--ports\\) is free$"
        expect(bsprun("--ports", f"{taken}-{taken}", *TWO, PROG), 1,
               err=f"^bsprun: cannot start a job: {text}")
    with taken_port()[0] as held:
        # One for bsprun, none for an agent.
        port = held.getsockname()[1]
        last = port + 1 if port < 65535 else port
        text = f"none of the ports {last - 1}-{last} \\(--ports\\) is free$"
        expect(bsprun("--ports", f"{last - 1}-{last}", *TWO, PROG), 1, err=text)


def comes_too_late():
    with Temporary() as directory:
        rsh = os.path.join(directory, "rsh")
        with open(rsh, "w") as file:
            file.write("#!/bin/sh\nif [ $1 = h1 ]; then exec sleep 100; fi\n"
                       f"exec {RSH} \"$@\"\n")
        os.chmod(rsh, 0o700)
        expect(bsprun("--launcher", rsh, "--connect-timeout", 1, "--hosts", "h0:2,h1:2", PROG), 1,
               err="host h1")


def what_a_command_says():
    """... that ends before its agent does: line by line, and nothing else."""
    with Temporary() as directory:
        rsh, go_on = os.path.join(directory, "rsh"), os.path.join(directory, "go on")
        with open(rsh, "w") as file:
            file.write(f"#!/bin/sh\nexec 3<&0\n{RSH} \"$@\" <&3 >/dev/null 2>&1 3<&- &\n"
                       f"until [ -e '{go_on}' ]; do sleep 0.02; done\n"
                       "if [ $1 = h1 ]; then printf 'one\\n\\ntwo\\n' >&2; fi\n")
        os.chmod(rsh, 0o700)
        with Job([BSPRUN, "--launcher", rsh, "--hosts", "h0:2,h1:2", PROG, "loop"]) as job:
            job.wait_ready(4)
            before = job.text()
            open(go_on, "w").close()
            job.wait_for("^bsprun: host h1: two\n")
            check(job.text() == before + "bsprun: host h1: one\nbsprun: host h1: two\n", job.text())
            job.signal(signal.SIGINT)
            check(job.finish() == 130, job.text())
            job.check_gone(at_once=False)


# ---- Faults ----

def recovers(act, *words, lost=r"."):
    """Snapshots all the time; `act` is done after the third, and some more are to follow."""
    with Temporary() as directory:
        with Job([BSPRUN, "--ckpt", directory, "--every", "1ms", "-v", *words, PROG, "loop"]) as job:
            job.wait_for("^bsprun: snapshot of superstep [1-9]", 3)
            act(job)
            job.wait_for(lost)
            job.wait_for(r"the job continues from superstep (\d+)")
            already = len(re.findall("snapshot of superstep", job.text()))
            job.wait_for("snapshot of superstep", already + 3)
            job.signal(signal.SIGINT)
            check(job.finish() == 130, job.text())
            if "--heartbeat" in words:
                kill_marked(job.mark)  # what is stopped cannot leave
            job.check_gone(at_once=False)  # what a killed agent leaves dies by itself


def agents_that_are_killed():
    for host in ("h0", "h1"):
        recovers(lambda job, h=host: os.kill(agents(job)[h], signal.SIGKILL), *TWO,
                 lost=f"host {host} was lost")


def an_agent_of_this_host_that_is_killed():
    hosts = ["--launcher", RSH, "--hosts", "localhost:2,h1:2"]

    def kill_it(job):
        own = [pid for pid, name in job.members().items() if name == "bspnode"]
        os.kill(next(pid for pid in own if pid not in agents(job).values()), signal.SIGKILL)
    recovers(kill_it, *hosts, lost="was killed by signal 9")
    recovers(lambda job: os.kill(agents(job)["h1"], signal.SIGKILL), *hosts,
             lost="host h1 was lost")


def processes_that_are_killed():
    for pid in (0, 3):
        def kill_it(job, pid=pid):
            os.kill(job.wait_ready(4)[pid], signal.SIGKILL)
        recovers(kill_it, *TWO, lost=f"pid {pid} was killed by signal 9")


def silent_hosts():
    for host in ("h0", "h1"):
        recovers(lambda job, h=host: os.kill(agents(job)[h], signal.SIGSTOP), *QUICK, *TWO,
                 lost=f"host {host} was lost: nothing has been heard from it")


def a_spare_comes_in():
    def stop(job):
        os.kill(agents(job)["h1"], signal.SIGSTOP)
        wait_until(lambda: "h2" in agents(job), "the spare")
    recovers(stop, *QUICK, "--launcher", RSH, "--hosts", "h0:2,h1:2,h2:2", "--spares", "1",
             lost="host h1 was lost")


def elsewhere():
    """bsprun is killed, and the job goes on on other hosts; what it prints is as if nothing was."""
    supersteps = 4000  # far more than go by until it is killed
    with Temporary() as directory:
        with Job([BSPRUN, "--ckpt", directory, "--every", "10ms", "-v", *TWO, PROG, "turns",
                  supersteps]) as job:
            job.wait_for("^bsprun: snapshot of superstep [1-9]", 3)
            job.signal(signal.SIGKILL)
            job.wait_status()
            job.check_gone(at_once=False)
        # Not with a snapshot after each few supersteps, as where snapshots take long.
        result = expect(bsprun("--restart", directory, "--every", "500ms", "--launcher", RSH, "--hosts",
                               "g0:1,g1:1,g2:3"), 0, out="^p = 4$")
        turns = [int(n) for n in re.findall(r"^turn (\d+)$", result.out, re.M)]
        check(turns == list(range(turns[0], supersteps)), turns)
        expect(bsprun("--restart", directory), 0, err="has ended already")


def output_once():
    """What is printed after a rollback is what was printed before it, and is shown once."""
    supersteps = 4000
    with Temporary() as directory:
        with Job([BSPRUN, "--ckpt", directory, "--every", "20ms", "-v", *TWO, PROG, "turns",
                  supersteps]) as job:
            for host in ("h1", "h0"):
                already = len(re.findall("snapshot of superstep", job.text()))
                job.wait_for("snapshot of superstep", already + 2)
                wait_until(lambda h=host: h in agents(job), "the agent")
                os.kill(agents(job)[host], signal.SIGKILL)
                job.wait_for(f"host {host} was lost")
            check(job.finish() == 0, job.text())
            turns = [int(n) for n in re.findall(r"^turn (\d+)$", job.text(), re.M)]
            check(turns == list(range(supersteps)), turns)


if __name__ == "__main__":
    main([two_hosts, many_shapes, program_by_its_name, status_of_process_0, named_in_the_trace,
          encrypted, crowded,
          output_in_order_of_supersteps, output_around_the_processes, everybody_speaks,
          much_output, tagged_and_split, input_goes_to_process_0, report_of_all, progress_of_all,
          errors_anywhere, stopped_by_signals, stopped_while_hosts_are_started, time_limit,
          killed_launcher, a_private_directory_in_use_stays, lost_host_ends_the_job,
          report_of_a_lost_host, silent_host_ends_the_job, lost_after_bsp_end,
          a_host_whose_processes_have_ended, cannot_be_started, ports_of_a_range, comes_too_late, what_a_command_says,
          agents_that_are_killed,
          an_agent_of_this_host_that_is_killed, processes_that_are_killed, silent_hosts,
          a_spare_comes_in, elsewhere, output_once])
