"""What bsprun shows on request: election, trace, report, progress, time limit, help."""
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time

from harness import BIN, BSPRUN, PROG, Failed, Job, bsprun, check, expect, main, run, scratch, wait_until


def elected():
    host = os.uname().nodename
    for p in (1, 4):
        result = expect(bsprun("-v", "-np", p, PROG), 0)
        check(result.err == f"bsprun: Processor Zero is host {host} (term 1), p = {p}\n", result)


def traced():
    """-vv: the events and effects of the state machine, in the order that makes sense."""
    result = expect(bsprun("-vv", "-np", 2, PROG), 0)
    order = ["event HOST_READY term 1", "event REGISTERED term 1", "effect PLACE term 1",
             "event RANKS_READY term 1", "effect RUN term 1", "event ARRIVED term 1",
             "effect RELEASE term 1", "event RANK_EXITED term 1", "effect END", "effect FINISH"]
    at = 0
    for words in order:
        found = result.err.find("bsprun: " + words, at)
        check(found >= 0, "no", repr(words), "in its place\n", result)
        at = found
    expect(bsprun("-v", "-v", "-np", 2, PROG), 0, err="event HOST_READY")


def lines_come_whole():
    """A line in several pieces would be mixed with what processes write to the same terminal."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen([BSPRUN, "-vv", "-np", "2", PROG], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=theirs)
    theirs.close()
    pieces = list(iter(lambda: ours.recv(65536).decode(), ""))
    ours.close()
    check(process.wait() == 0 and len(pieces) > 10, process.returncode, pieces)
    for piece in pieces:
        check(re.fullmatch(r"bsprun: .*\n", piece), "not a line:", repr(piece))


def report():
    result = expect(bsprun("--report", "-np", 3, PROG, "count", 10), 0, out="^p = 3$")
    lines = result.err.splitlines()
    supersteps = 3 + 10 + 1  # exchange, count, before the end
    check(re.match(rf"bsprun: 3 processes, {supersteps} supersteps, \d+\.\d+ s wall time$",
                   lines[0]), result)
    for column in ("pid", "supersteps", "compute s", "comm s", "wait s", "bytes out", "bytes in",
                   "h max", "peak mem"):
        check(column in lines[1], column, result)
    check([line.split()[0] for line in lines[2:]] == ["0", "1", "2", "all"], result)
    for line in lines[2:5]:
        words = line.split()
        check(words[1] == str(supersteps), line)
        check(words[5:11] == ["4", "B", "4", "B", "4", "B"], "one int out, one in", line)
    check(all(len(line) <= 90 for line in lines), result)


# Version 1 of the report, by doc/formats.md: more members may come.
MEMBERS = {"status": int, "hosts": int, "processes": int, "supersteps": int, "seconds": float, "useful": float,
           "lost": float, "down": float, "faults": int, "snapshots": int, "snapshot_bytes": int, "pauses": float}
FAILURES = {"known", "hosts", "processes", "kinds", "job", "snapshot", "delay", "restores", "model", "image_bytes",
            "interval", "why", "utilisation"}


def check_report(report):
    check(report["report"] == 1, "another version than that of doc/formats.md", report)
    for name, kind in MEMBERS.items():
        check(isinstance(report.get(name), kind), name, "is no", kind.__name__, report)
    check(FAILURES <= set(report["failures"]), FAILURES - set(report["failures"]), report)
    check([one["kind"] for one in report["failures"]["kinds"]] == ["host", "process", "preemption", "split"], report)


def report_as_a_page():
    """The page of a job that goes back once; drawn it is in tests/tools/pages."""
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        path = directory + "/page.html"
        result = bsprun("--report=html", path, "--ckpt", directory + "/store", "--every", 2, "-np", 2, PROG,
                        "count", 8)
        if "built without D3" in result.err:
            return
        expect(result, 0, err=r"^bsprun: 2 processes, ")
        with open(path, encoding="utf-8") as file:
            page = file.read()
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
        check(data["status"] == 0 and len(data["processes"]) == 2 and data["hosts"], data)
        check(data["snapshots"] == len([e for e in data["events"] if e["what"] == "saved"]) > 2, data)
        check(data["spans"][-1]["to"] == data["time"] and data["spans"][0]["from"] == 0, data["spans"])
        useful = sum(s["to"] - s["from"] for s in data["spans"] if s["use"] == "useful")
        check(useful == data["useful"], useful, data)
        # A file of that name is written by --report=./html.
        expect(bsprun("--report=" + directory + "/html", PROG, "count", 2), 0)
        with open(directory + "/html", encoding="utf-8") as file:
            check_report(json.load(file))
        expect(bsprun("--report=html", "/dev/full", PROG, "count", 2), 0,
               err=r"^bsprun: --report=html /dev/full: No space left on device$")
    expect(bsprun("--report=html"), 2)
    expect(bsprun("--report=html", "", PROG), 2, err=r"the name of the file is empty$")


def report_of_a_failed_job():
    result = expect(bsprun("--report", "-np", 2, PROG, "abort", 1, "x"), 1)
    check("bsprun: 2 processes" in result.err, result)
    # Without bsp_begin there is nothing to report.
    result = expect(bsprun("--report", PROG, "never", 3), 3, no_err=True)


def progress_in_plain_lines():
    with Job([BSPRUN, "--progress", "-np", "2", PROG, "loop"]) as job:
        first, second = job.wait_for(r"^bsprun: superstep (\d+), [\d.]+/s, [\d.]+ s, p = 2$", 2)[:2]
        check(int(first) < int(second), job.text())
        check("\r" not in job.text(), "plain lines, please", repr(job.text()))


def progress_on_a_terminal():
    with Job([BSPRUN, "--progress", "-np", "2", PROG, "loop"], terminal=True) as job:
        job.wait_for(r"\r\033\[Kbsprun: superstep \d+, [\d.]+/s, [\d.]+ s, p = 2", 3)
        os.write(job.fd, b"\x03")
        check(job.finish() == 130, job.text())
        live = job.text().rindex("superstep")
        check("\r\033[K" in job.text()[live - 60:], "the live line is wiped", repr(job.text()))
        job.check_gone()


def progress_in_a_narrow_terminal():
    """Not longer than the terminal is wide, and wiped before anything else is shown."""
    columns = 30
    with Job([BSPRUN, "--progress", "--total-supersteps", "100000000", "-np", "2", PROG, "loop"],
             terminal=True) as job:
        fcntl.ioctl(job.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        job.wait_for(r"\r\033\[Kbsprun: superstep \d+[^\r]*(?=\r)", 4)
        lines = re.findall(r"\r\033\[K(bsprun: [^\r\n]*)(?=\r)", job.text())
        check(all(len(line) < columns for line in lines[-2:]), lines)
        fcntl.ioctl(job.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        job.wait_for(r"p = 2, \d+ (s|min|h) left")


def new_ranks(job, before):
    """{pid: os pid} when all processes are others than before."""
    seen = []

    def ranks():
        seen.append(run([os.path.join(BIN, "bspstat"), "--json", str(job.os_pid)]))
        if seen[-1].status != 0:
            return None
        found = {rank["pid"]: rank["os_pid"] for rank in json.loads(seen[-1].out)["ranks"]}
        others = len(found) == len(before) and not set(found.values()) & {0, *before.values()}
        return found if others else None

    try:
        return wait_until(ranks, "the processes")
    except Failed as failure:
        raise Failed(f"{failure}\nbefore: {before}\nbspstat: {seen[-1]}\nthe job: {job.text()[-2000:]!r}") from None


def progress_of_snapshots_and_restarts():
    """On a terminal, in the live line, from the time on when there is one of either; both fit it."""
    with tempfile.TemporaryDirectory() as place, \
         Job([BSPRUN, "--progress", "--ckpt", place + "/store", "--every", "10", "-np", "2", PROG, "loop"],
             terminal=True) as job:
        fcntl.ioctl(job.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        members = dict(job.wait_for(r"ready (\d) (\d+)\r?$", 2))
        members = {int(pid): int(os_pid) for pid, os_pid in members.items()}
        line = r"\r\033\[Kbsprun: superstep (\d+), [\d.]+/s, [\d.]+ s, p = 2, snapshot of (\d+)"
        first = job.wait_for(line + r"(?=\r)")[0]
        second, count = first, 1
        while second[1] == first[1]:
            count += 1
            second = job.wait_for(line + r"(?=\r)", count)[-1]
        check(int(first[1]) < int(second[1]), first, second)
        for superstep, snapshot in (first, second):
            check(int(snapshot) <= int(superstep) and int(snapshot) % 10 == 0, superstep, snapshot)
        check("restart" not in job.text(), job.text())
        for count, words in ((1, "1 restart"), (2, "2 restarts")):
            os.kill(members[1], signal.SIGKILL)
            job.wait_for("the job continues from superstep ", count)
            members = new_ranks(job, members)
            job.wait_for(line + f", {words}(?=\r)")
        os.write(job.fd, b"\x03")
        check(job.finish() == 130, job.text())
        job.check_gone(at_once=False)


def progress_and_a_prompt():
    """The line is wiped before a prompt comes, which is not wiped by the next one."""
    script = "until [ -e \"$1\" ]; do sleep 0.02; done; printf 'name? '; read name; exec \"$0\""
    with tempfile.TemporaryDirectory() as place, \
         Job([BSPRUN, "--progress", "-np", "2", "sh", "-c", script, PROG, place + "/ask"],
             terminal=True) as job:
        job.wait_for("bsprun: before bsp_begin")
        open(place + "/ask", "w").close()
        job.wait_for(r"name\? ")
        shown = job.text()[:job.text().index("name?")]
        check("bsprun: before bsp_begin" in shown and shown.endswith("\r\033[K"), repr(shown))
        # With each answer for bspstat a line of progress would come, at the latest before the next one.
        for _ in range(2):
            expect(run([os.path.join(BIN, "bspstat"), str(job.os_pid)]), 0)
        os.write(job.fd, b"me\n")
        check(job.finish() == 0, job.text())
        asked = job.text().split("name?")[1]
        check(re.match(r" me\r\n", asked), repr(asked))


def seen_whatever_the_mask():
    """The directory of the socket is the user's, also if one was made without access."""
    with tempfile.TemporaryDirectory() as place:
        env = {**os.environ, "BSPZERO_STATUS_DIR": os.path.join(place, "status")}
        os.mkdir(env["BSPZERO_STATUS_DIR"], 0)
        for times in range(2):
            with Job(["sh", "-c", 'umask 777; exec "$0" "$@"', BSPRUN, "-np", "2", PROG, "loop", "0"], env=env) as job:
                job.wait_ready(2)
                expect(run([os.path.join(BIN, "bspstat"), str(job.os_pid)], env=env), 0, out=f"job {job.os_pid}")
                job.signal(signal.SIGTERM)
                job.finish()
            shutil.rmtree(env["BSPZERO_STATUS_DIR"], ignore_errors=True)


def what_total_makes_no_sense():
    for total in ("0", "-3", "many", "5x", ""):
        result = expect(bsprun("--total-supersteps", total, PROG), 2,
                        err="^bsprun: --total-supersteps.*: give the number of supersteps")
        check(result.err.count("\n") == 1, result)


def progress_before_begin():
    with Job([BSPRUN, "--progress", PROG, "early-sleep"]) as job:
        job.wait_for("^bsprun: before bsp_begin$")


def time_limit():
    for mode, p in (("loop", 2), ("compute", 2), ("wait", 3)):
        # Long enough for all to have made a call, on a busy machine.
        result = expect(bsprun("--timeout", 2.5, "-np", p, PROG, mode, 1), 124,
                        err=r"^bsprun: the job took longer than its time limit \(--timeout 2\.5\)")
        for pid in range(p):
            check(f"\n  pid {pid}: last call bsp_" in result.err, result)
        if mode == "wait":
            check(re.search(r"pid 0: .*, waiting$", result.err, re.M), result)
            check(re.search(r"pid 1: .*, computing$", result.err, re.M), result)
    expect(bsprun("--timeout", 0.3, PROG, "early-sleep"), 124, err="^bsprun: the job took longer")
    expect(bsprun("--timeout", 0.3, PROG, "late-sleep"), 124, err="^bsprun: the job took longer")
    expect(bsprun("--timeout", 100, "-np", 2, PROG), 0, no_err=True)


def help_fits_a_screen():
    for option in ("--help", "-help", "-h"):
        result = expect(bsprun(option), 0, no_err=True)
        lines = result.out.splitlines()
        check(len(lines) <= 24, len(lines))
        check(all(len(line) <= 80 for line in lines), max(lines, key=len))
    for word in ("-np", "-n", "-p", "-npes", "-x", "-v", "-vv", "--report[=FILE]"):
        check(word in result.out, word)
    expect(bsprun("--version"), 0, out=r"^bsprun \(bspzero\) \d+\.\d+\.\d+$")


def spellings_of_the_number():
    for words in (["-np", 3], ["-n", 3], ["-p", 3], ["-npes", 3], ["--np", 3], ["-np=3"], ["-n3"],
                  ["-np3"]):
        expect(bsprun(*words, PROG), 0, out="^p = 3$", no_err=True)


def old_options():
    expect(bsprun("-local", "-nolocal", "-noload", "-np", 2, PROG), 0, out="^p = 2$", no_err=True)
    result = expect(bsprun("-hostlist", "no-hosts", "-np", 2, PROG), 0,
                    err="^bsprun: -hostlist no-hosts: there is no such file in the home directory")
    check(result.err.count("\n") == 1, result)
    result = expect(bsprun("-restart", "-np", 2, PROG, cwd=scratch), 1,
                    err=r"^bsprun: \./.*\.ckpt: cannot be used for snapshots: No such file")
    check(result.err.count("\n") == 1, result)


def own_host_named():
    """This host as the only one of the hosts is as ever."""
    expect(bsprun("--hosts", "localhost:3", "-np", 3, PROG), 0, out="^p = 3$", no_err=True)
    expect(bsprun("--hosts", f"{os.uname().nodename},localhost", "-np", 2, PROG), 0,
           out="^p = 2$", no_err=True)
    name = re.escape(os.uname().nodename)
    for words in ([], ["--hosts", "localhost:2"]):
        expect(bsprun("-v", *words, "--replicas", 2, "--replicas-on-host", "-np", 2, PROG, "count", 2), 0,
               err=rf"^bsprun: replicas: host {name}, host {name}#2: processes 0-1$")
    result = expect(bsprun("--hosts", "a:0", PROG), 2, err=r"^bsprun: --hosts a:0: .*character 1")
    check(result.err.count("\n") == 1, result)


def options_end_at_the_program():
    result = expect(bsprun("-np", 2, PROG, "arguments", "-np", "7", "--help"), 0, out="^p = 2$")
    check("[-np]\n[7]\n[--help]\n" in result.out, result)
    expect(bsprun("-np", 2, "--", PROG), 0, out="^p = 2$")


def core_dumps():
    expect(bsprun(PROG, "limits"), 0, out="^core off$")
    result = run(["sh", "-c", 'ulimit -Hc && exec "$0" --core "$1" limits', BSPRUN, PROG])
    hard = result.out.splitlines()[0]
    expect(result, 0, out="^core off$" if hard == "0" else "^core on$")


if __name__ == "__main__":
    main([elected, traced, lines_come_whole, report, report_as_a_page, report_of_a_failed_job, progress_in_plain_lines,
          progress_on_a_terminal, progress_in_a_narrow_terminal, progress_of_snapshots_and_restarts, progress_and_a_prompt, seen_whatever_the_mask,
          what_total_makes_no_sense, progress_before_begin, time_limit, help_fits_a_screen,
          spellings_of_the_number, old_options, own_host_named, options_end_at_the_program, core_dumps])
