"""Hosts that cannot take part: each is named, with what it said, and nothing hangs or stays."""
import os
import re
import shutil
import sys
import tempfile
import time

from jobs import *
from sshd import Sshd

SOON = 30  # seconds; a hang would be until PATIENCE


def bsprun(farm, *words, user=None, timeout=SOON, env=None):
    begin = time.monotonic()
    done = farm.run(farm.names[0], [BSPRUN, *words], timeout=timeout, user=user, env=env)
    done.seconds = time.monotonic() - begin
    return done


def check_refused(farm, done, *patterns):
    check(done.returncode not in (0, 77), "it should fail", done)
    check(done.stdout == "", "nothing should have run", done)
    for pattern in patterns:
        check(re.search(pattern, done.stderr), pattern, "is not in", done)
    for line in done.stderr.splitlines():
        check(line.startswith("bsprun: ") or line.startswith(" "), "whose line is that?", line, done)
    for name in farm.names:
        wait_until(lambda: not [n for n in farm.processes(name).values() if n.startswith("bsp")],
                   f"the end of all on {name}", 15)


def ticker_words(farm):
    directory = farm.path("files")
    os.makedirs(directory, exist_ok=True)
    return [TICKER, directory, "3", "-a"]


def unknown_host():
    with Farm(2) as farm:
        done = bsprun(farm, "--hosts", "a:1,nowhere:1", "--launcher", farm.rsh, *ticker_words(farm))
        check_refused(farm, done, "nowhere", "not known")


def a_host_that_is_off():
    with Farm(3) as farm:
        farm.kill_host("c")
        done = bsprun(farm, "--hosts", "b:1,c:1", "--launcher", farm.rsh, "--connect-timeout", "3",
                      *ticker_words(farm))
        check_refused(farm, done, r"\bc\b")
        check(done.seconds < 15, "it took", done.seconds)


def not_installed_there():
    with Farm(3, private_on={"c": [os.path.realpath(harness.BIN)]}) as farm:
        done = bsprun(farm, "--hosts", "b:1,c:1", "--launcher", farm.rsh, *ticker_words(farm))
        check_refused(farm, done, r"\bc\b", "not found|No such file")


def no_such_launcher():
    with Farm(2) as farm:
        done = bsprun(farm, "--hosts", "b:1", "--launcher", "/no/such/launcher", *ticker_words(farm))
        check_refused(farm, done, "/no/such/launcher")


def a_launcher_that_hangs():
    with Farm(2) as farm:
        hangs = farm.write("hangs", "#!/bin/sh\nexec sleep 600\n", 0o755)
        done = bsprun(farm, "--hosts", "b:1", "--launcher", hangs, "--connect-timeout", "3",
                      *ticker_words(farm))
        check_refused(farm, done, r"\bb\b")
        check("sleep" not in farm.processes("a").values(), "the launcher is left")


def a_program_named_as_usual():
    """By a path from here, or found in PATH: also when no process runs on this host."""
    with Farm(3) as farm:
        directory, name = os.path.split(TICKER)
        words = farm.path("files"), "3", "-a"
        os.mkdir(words[0])
        for program in ("./" + name, os.path.join("..", os.path.basename(directory), name), name):
            done = farm.run("a", [BSPRUN, "-np", "2", "--hosts", "b:1,c:1", "--launcher", farm.rsh,
                                  program, *words], cwd=directory,
                            env={"PATH": f"{directory}:{farms.SYSTEM_PATH}", "HOME": farm.root_home})
            check(done.returncode == 0 and "process 1 ends with" in done.stdout, program, done)


def more_processes_than_slots():
    """Allowed, with a warning that --oversubscribe takes away."""
    with Farm(3) as farm:
        hosts = ["-np", "5", "--hosts", "b:1,c:1", "--launcher", farm.rsh]
        done = bsprun(farm, *hosts, *ticker_words(farm), timeout=60)
        check(done.returncode == 0 and re.search(r"bsprun: .*(slot|oversubscribe)", done.stderr), done)
        done = bsprun(farm, *hosts, "--oversubscribe", *ticker_words(farm), timeout=60)
        check(done.returncode == 0 and "bsprun: " not in done.stderr, done)


def through(farm, host, *words):
    """A launcher with which what is executed on one of the hosts stands behind some words."""
    return farm.write("through", f"#!/bin/sh\nhost=$1\nshift\nif [ $host = {host} ]; then set -- "
                      f"{' '.join(words)} \"$@\"; fi\nexec {farm.rsh} $host \"$@\"\n", 0o755)


def another_architecture():
    """Processes of one cannot go on on the other; a program of another one runs nowhere."""
    with Farm(3) as farm:
        done = bsprun(farm, "--hosts", "b:1,c:1", "--launcher", through(farm, "c", "setarch", "i686"),
                      *ticker_words(farm))
        check_refused(farm, done, r"host c: a machine of type i686 cannot .* type x86_64 has begun")
        with open(TICKER, "rb") as file:
            program = bytearray(file.read())
        program[18:20] = (0x1234).to_bytes(2, "little")  # e_machine: nobody's
        path = farm.path("other")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o755), "wb") as file:
            file.write(program)
        done = bsprun(farm, "--hosts", "b:1,c:1", "--launcher", farm.rsh, path)
        check_refused(farm, done, "other: is not a program that this machine can run")


def runs(farm, launcher, *options, hosts="b:1,c:1", timeout=60, words=("6", "-a")):
    """The answer is right, and nobody but the program says anything."""
    ticker_words(farm)
    command = [BSPRUN, "-np", "2", "--hosts", hosts, "--launcher", launcher, *options, TICKER,
               farm.path("files"), *words]
    done = farm.run("a", command, timeout=timeout)
    check(done.returncode == 0 and "bsp" not in done.stderr, done)
    reference = harness.Reference.of(2, 6, "-a").out.decode()
    check(done.stdout == reference, harness.first_difference(done.stdout.encode(), reference.encode()))


def another_kernel():
    with Farm(3) as farm:
        runs(farm, through(farm, "c", "setarch", "--uname-2.6"))


def patched_libc(directory):
    """(the path of libc, that of one with another build id)"""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        path = next(line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line)
    with open(path, "rb") as file:
        bytes_of = bytearray(file.read())
    at = bytes_of.index(b"GNU\0", bytes_of.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")) + 4
    bytes_of[at] ^= 0xff
    other = os.path.join(directory, "libc.so")
    with open(os.open(other, os.O_WRONLY | os.O_CREAT, 0o755), "wb") as file:
        file.write(bytes_of)
    return path, other


def another_libc():
    """Processes made on a host have the libc they were made of, whichever that host has."""
    directory = tempfile.mkdtemp(prefix="bspzero-libc-")
    try:
        path, other = patched_libc(directory)
        for name in ("a", "b"):
            shutil.copy(path, os.path.join(directory, "libc." + name))
        shutil.copy(other, os.path.join(directory, "libc.c"))
        with Farm(3, put={path: directory + "/libc.{host}"}) as farm:
            there = farm.run("c", ["cmp", path, other])
            check(there.returncode == 0, "host c has another libc", there)
            runs(farm, farm.rsh)
            runs(farm, farm.rsh, "--ckpt", farm.path("store"), "--every", "2")
    finally:
        shutil.rmtree(directory)


SKEW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*next)(clockid_t, struct timespec *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    int status = next(clock, time);
    if (clock == CLOCK_REALTIME)
        time->tv_sec += atol(getenv("SKEW"));
    return status;
}
time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
"""


def clocks_that_differ():
    """Days apart, either way; clocks that count from the start of a host differ always."""
    with Farm(3) as farm:
        source, library = farm.write("skew.c", SKEW), farm.path("skew.so")
        farms.subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        for days in (-400, 400):
            there = through(farm, "c", "env", f"LD_PRELOAD={library}", f"SKEW={days * 86400}")
            runs(farm, there, "--ckpt", farm.path(f"store{days}"), "--every", "2")
        if os.geteuid() == 0:
            there = through(farm, "c", "unshare", "--time", "--fork", "--kill-child", "--monotonic",
                            "1000000", "--boottime", "1000000")
            runs(farm, there, "--ckpt", farm.path("store"), "--every", "2")


def hosts_named_twice():
    """By the same name they are one host; by a name and an address that is said."""
    with Farm(2) as farm:
        done = farm.run("a", [BSPRUN, "-v", "--hosts", "b:1,B:1", "--launcher", farm.rsh,
                              *ticker_words(farm)], timeout=SOON)
        check(done.returncode == 0 and "p = 2" in done.stderr, done)
        address = farm.hosts["b"].address
        done = bsprun(farm, "--hosts", f"b:1,{address}:1", "--launcher", farm.rsh,
                      *ticker_words(farm))
        check_refused(farm, done, f"^bsprun: b and {address} are the same host: list it under one name$")
        # Its own address is this host, for which no launcher is needed.
        done = farm.run("a", [BSPRUN, "--hosts", f"{farm.hosts['a'].address}:2", "--launcher",
                              "/no/such/launcher", *ticker_words(farm)], timeout=SOON)
        check(done.returncode == 0 and "process 1 ends with" in done.stdout, done)


def an_allocation_that_is_too_small():
    """Fewer hosts than the spares take is an error, fewer slots than processes are a warning."""
    with Farm(2) as farm:
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "a,b", "SLURM_JOB_CPUS_PER_NODE": "1(x2)",
                 "PATH": farms.SYSTEM_PATH, "HOME": farm.root_home}
        done = bsprun(farm, "--spares", "2", *ticker_words(farm), env=slurm)
        check_refused(farm, done, "2 spare hosts: there are only 2 in all")
        done = bsprun(farm, "--hosts", "a:1,c:1", "--launcher", "slurm", *ticker_words(farm), env=slurm)
        check_refused(farm, done, r"\bc\b")


def too_few_descriptors():
    """Whatever a host lacks one for: it says so, also where Processor Zero is on another host."""
    with Farm(3) as farm:
        for limit in (*range(16, 40), 1024):
            launcher = through(farm, "c", "prlimit", f"--nofile={limit}:{limit}")
            done = bsprun(farm, "-np", "2", "--hosts", "b:1,c:1", "--launcher", launcher,
                          *ticker_words(farm))
            if done.returncode == 0:
                break
            check_refused(farm, done, "[Tt]oo many open files|ulimit -n")
        check(done.returncode == 0 and "process 1 ends with" in done.stdout, limit, done)


def few_descriptors_at_first():
    """A host may have as many as its links to the others need, and its limit is higher: it raises it."""
    with Farm(3) as farm:
        for limit in range(16, 40):
            done = []
            for hard in (limit, 1024):
                launcher = through(farm, "c", "prlimit", f"--nofile={limit}:{hard}")
                done.append(bsprun(farm, "-np", "2", "--hosts", "b:1,c:1", "--launcher", launcher,
                                   *ticker_words(farm)))
            if "cannot take part in the job" in done[0].stderr:
                check(done[1].returncode == 0 and "process 1 ends with" in done[1].stdout, limit, done[1])
                return
        check(False, "it never lacked them for links")


def ssh_that_asks_for_a_password():
    if os.geteuid() != 0:
        return "skipped: needs root"
    with Farm(3) as farm:
        Sshd(farm, password_on=["b"], strangers=["c"])
        for name in ("b", "c"):
            done = bsprun(farm, "--hosts", f"a:1,{name}:1", "--launcher", "ssh",
                          *ticker_words(farm))
            check_refused(farm, done, rf"\b{name}\b", "Permission denied|verification failed")
    return None


def bad_files():
    with Farm(1) as farm:
        for text, place in (("b slots=x\n", r":1:\d+: "), ("# fine\nb slots=2 maybe=3\n", r":2:\d+: ")):
            path = farm.write("hostfile", text)
            done = bsprun(farm, "--hostfile", path, *ticker_words(farm))
            check_refused(farm, done, re.escape(path) + place)


if __name__ == "__main__":
    farms.require()
    main([unknown_host, a_host_that_is_off, not_installed_there, no_such_launcher,
          a_launcher_that_hangs, a_program_named_as_usual, more_processes_than_slots,
          another_architecture, another_kernel, another_libc, clocks_that_differ, hosts_named_twice,
          an_allocation_that_is_too_small, too_few_descriptors, few_descriptors_at_first,
          ssh_that_asks_for_a_password, bad_files], together=3)
