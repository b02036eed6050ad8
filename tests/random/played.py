"""Plays one program under bsprun or a real MPI, kills processes of it, and sees what is left; for mpi_run and space_run."""
import glob
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "conform"))
from harness.job import MARK, kill_marked, marked_processes, wait_until_gone  # noqa: E402

RSH = shlex.quote(os.path.join(HERE, os.pardir, "hosts", "local-rsh"))
PATIENCE = 180


def placed(chance, procs, spread):
    """Options: processes on this host, or on several, which are all this machine."""
    if not spread:
        return ["-np", str(procs)]
    slots = [f"h{host}:1" for host in range(procs)]
    if procs > 2 and chance.random() < 0.5:
        slots = ["h0:1", f"h1:{procs - 1}"]
    return ["--launcher", RSH, "--hosts", ",".join(slots)]


def saved(store, every="0.02s"):
    """Options: snapshots at short intervals."""
    return ["--ckpt=" + store, "--every", every, "--max-restarts", "1000"]


def some_victim(mark, program, chance, hosts):
    """(pid, whether it is an agent): a process of the program, or with that chance an agent, as long as another one lives."""
    marked = marked_processes(mark)
    ranks = [pid for pid, words in marked if words.startswith(program + " ")]
    agents = [pid for pid, words in marked if os.path.basename(words.split(" ")[0]) == "bspnode"]
    is_agent = len(agents) > 1 and chance.random() < hosts
    among = agents if is_agent else ranks
    return (chance.choice(among) if among else None), is_agent


def kill_some(job, mark, program, store, kills, chance, hosts, end):
    """How many processes of the program and how many agents; a job without a snapshot at the time `end` is left to its fate."""
    killed = [0, 0]
    for _ in range(kills):
        # Before the first snapshot there is nothing to go back to.
        while job.poll() is None and not glob.glob(os.path.join(store, "*", "*", "manifest")):
            if time.monotonic() > end:
                return killed
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.2))
        victim, is_agent = some_victim(mark, program, chance, hosts)
        try:
            if victim:
                os.kill(victim, signal.SIGKILL)
                killed[is_agent] += 1
        except ProcessLookupError:
            pass
    return killed


def killed_at_the_end(status, err):
    """Whether a process was killed when nothing could be repeated any more, as all had come to the end of the job."""
    return status == 137 and re.search(r"^bsprun: pid \d+ was killed by signal 9 \(Killed\) "
                                       r"(after bsp_end|.*, when all processes had reached the end of the job|"
                                       r".*, while the job was ending, when nothing can be rolled back any more)$", err, re.M)


def processes_of(mark):
    """What they are and in which call of the kernel each waits, a line for each."""
    lines = []
    for pid, words in marked_processes(mark):
        try:
            with open(f"/proc/{pid}/wchan") as file:
                lines.append(f"{pid} {file.read()} {words}\n")
        except OSError:
            continue
    return "".join(lines)


def play(command, program, scratch, chance, kills=0, hosts=0, **more):
    """(status, output, messages, processes and agents killed), or a text that says what is wrong.  The command is a function of the
    directory for snapshots; program: the first word of a process to be killed; hosts: the chance that an agent is instead."""
    mark = uuid.uuid4().hex
    environment = {**os.environ, MARK: mark, "BSPZERO_HISTORY": "off", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **more}
    killed = [0, 0]
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        store = os.path.join(directory, "store")
        words = command(store)
        with open(os.path.join(directory, "out"), "w+") as out, open(os.path.join(directory, "err"), "w+") as err:
            job = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=scratch)
            end = time.monotonic() + PATIENCE
            try:
                if kills:
                    killed = kill_some(job, mark, program, store, kills, chance, hosts, end)
                job.wait(max(end - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                listed = processes_of(mark)
                job.kill()
                kill_marked(mark)
                err.seek(0)
                return f"still running after {PATIENCE} s, {killed} killed: {' '.join(words)}\n{listed}{err.read()[-4000:]}"
            out.seek(0)
            err.seek(0)
            texts = out.read(), err.read()
        left = wait_until_gone(mark)
        if left:
            kill_marked(mark)
            return f"{' '.join(words)}: left behind: {left}\n"
    return job.returncode, *texts, killed
