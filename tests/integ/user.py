"""All of it again as an ordinary user, when the tests are run by root.

The user may be kept out of the build directory: it gets a copy, in a place of its own.
"""
import contextlib
import os
import pwd
import random
import shutil
import signal
import subprocess
import sys

from harness import BIN, PROG, scratch

PARTS = ["badinput", "ending", "placing", "showing", "signals", "snapshots", "stdio",
         "terminal"]


def copy_tree(user):
    """bsprun, bspnode, bspstat and bspckpt beside each other, and the program; all readable for everybody."""
    os.chmod(scratch, 0o755)
    for name in ("bin", "tests", "hosts", "home"):
        os.mkdir(os.path.join(scratch, name))
        os.chmod(os.path.join(scratch, name), 0o755)
    for name in ("bsprun", "bspnode", "bspstat", "bspckpt"):
        shutil.copy(os.path.join(BIN, name), os.path.join(scratch, "bin", name))
    shutil.copy(PROG, os.path.join(scratch, "tests"))
    here = os.path.dirname(os.path.abspath(__file__))
    for name in [part + ".py" for part in PARTS] + ["harness.py", "kills.py"]:
        shutil.copy(os.path.join(here, name), os.path.join(scratch, "tests", name))
    shutil.copy(os.path.join(here, os.pardir, "recovery", "chosen.py"), os.path.join(scratch, "tests"))
    shutil.copy(os.path.join(here, os.pardir, "hosts", "local-rsh"), os.path.join(scratch, "hosts"))
    os.chown(os.path.join(scratch, "home"), user.pw_uid, user.pw_gid)


def start_as(uid, gid, env, part, *tests):
    command = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs",
               sys.executable, os.path.join(scratch, "tests", part + ".py"), *tests]
    with open(os.path.join(scratch, part + ".out"), "w") as out:
        return subprocess.Popen(command, env=env, cwd=scratch, stdout=out, stderr=subprocess.STDOUT)


def show(part, *tests):
    print("----", part, *tests, flush=True)
    with open(os.path.join(scratch, part + ".out"), errors="replace") as out:
        print(out.read(), end="", flush=True)


def passes(process, part, *tests):
    process.wait()
    show(part, *tests)
    return process.returncode == 0


def run_all(user, env):
    """Most of their time is spent waiting: all together they take as long as the longest of them."""
    started, results = [], []
    try:
        started += [(part, start_as(user.pw_uid, user.pw_gid, env, part)) for part in PARTS]
        for part, process in started:
            results.append(passes(process, part))
        return results
    finally:
        for part, process in started[len(results):]:
            show(part, "(has not ended well)")
            if process.poll() is None:
                process.terminate()
                process.wait()


def finds_its_jobs_beside_taken_names(gid, env):
    """Somebody else has made directories of the names that sockets for bspstat would be in."""
    uid = random.SystemRandom().randrange(1 << 20, 1 << 30)
    names = [f"/tmp/bspzero-{uid}{suffix}" for suffix in ("", "-2", "-3")]
    with contextlib.ExitStack() as made:
        for name in names:
            os.mkdir(name, 0o755)
            made.callback(os.rmdir, name)
        return passes(start_as(uid, gid, env, "showing", "progress_and_a_prompt"), "showing", "progress_and_a_prompt")


def main():
    if os.getuid() != 0:
        print("not root: the other tests have been run as an ordinary user already")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("too late"))  # what has not ended is shown
    user = pwd.getpwnam("nobody")
    copy_tree(user)
    env = dict(os.environ, HOME=os.path.join(scratch, "home"), USER="nobody", LOGNAME="nobody",
               INTEG_BIN=os.path.join(scratch, "bin"),
               INTEG_PROG=os.path.join(scratch, "tests", os.path.basename(PROG)),
               BSPZERO_NODE=os.path.join(scratch, "bin", "bspnode"), TMPDIR="/tmp")
    for name in ("XDG_RUNTIME_DIR", "BSPZERO_STATUS_DIR"):
        env.pop(name, None)
    passed = run_all(user, env)
    passed.append(finds_its_jobs_beside_taken_names(user.pw_gid, env))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
