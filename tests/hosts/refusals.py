"""Hosts that cannot take part: each is named, with what it said, and nothing hangs or stays."""
import os
import re
import sys
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
    folder = farm.path("files")
    os.makedirs(folder, exist_ok=True)
    return [TICKER, folder, "3", "-a"]


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
        folder, name = os.path.split(TICKER)
        words = farm.path("files"), "3", "-a"
        os.mkdir(words[0])
        for program in ("./" + name, os.path.join("..", os.path.basename(folder), name), name):
            done = farm.run("a", [BSPRUN, "-np", "2", "--hosts", "b:1,c:1", "--launcher", farm.rsh,
                                  program, *words], cwd=folder,
                            env={"PATH": f"{folder}:{farms.SYSTEM_PATH}", "HOME": farm.root_home})
            check(done.returncode == 0 and "process 1 ends with" in done.stdout, program, done)


def more_processes_than_slots():
    """Allowed, with a warning that --oversubscribe takes away."""
    with Farm(3) as farm:
        hosts = ["-np", "5", "--hosts", "b:1,c:1", "--launcher", farm.rsh]
        done = bsprun(farm, *hosts, *ticker_words(farm), timeout=60)
        check(done.returncode == 0 and re.search(r"bsprun: .*(slot|oversubscribe)", done.stderr), done)
        done = bsprun(farm, *hosts, "--oversubscribe", *ticker_words(farm), timeout=60)
        check(done.returncode == 0 and "bsprun: " not in done.stderr, done)


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
          ssh_that_asks_for_a_password, bad_files])
