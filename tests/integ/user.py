"""All of it again as an ordinary user, when the tests are run by root.

The user may be kept out of the build directory: it gets a copy, in a place of its own.
"""
import os
import pwd
import shutil
import subprocess
import sys

from harness import BIN, PROG, scratch

PARTS = ["badinput", "ending", "placing", "showing", "signals", "snapshots", "stdio",
         "terminal"]


def copy_tree(user):
    """bsprun, bspnode and bspstat beside each other, and the program; all readable for everybody."""
    os.chmod(scratch, 0o755)
    for name in ("bin", "tests", "home"):
        os.mkdir(os.path.join(scratch, name))
        os.chmod(os.path.join(scratch, name), 0o755)
    for name in ("bsprun", "bspnode", "bspstat"):
        shutil.copy(os.path.join(BIN, name), os.path.join(scratch, "bin", name))
    shutil.copy(PROG, os.path.join(scratch, "tests"))
    here = os.path.dirname(os.path.abspath(__file__))
    for name in [part + ".py" for part in PARTS] + ["harness.py"]:
        shutil.copy(os.path.join(here, name), os.path.join(scratch, "tests", name))
    os.chown(os.path.join(scratch, "home"), user.pw_uid, user.pw_gid)


def main():
    if os.getuid() != 0:
        print("not root: the other tests have been run as an ordinary user already")
        return 0
    user = pwd.getpwnam("nobody")
    copy_tree(user)
    env = dict(os.environ, HOME=os.path.join(scratch, "home"), USER="nobody", LOGNAME="nobody",
               INTEG_BIN=os.path.join(scratch, "bin"),
               INTEG_PROG=os.path.join(scratch, "tests", os.path.basename(PROG)),
               BSPZERO_NODE=os.path.join(scratch, "bin", "bspnode"), TMPDIR="/tmp")
    failed = 0
    for part in PARTS:
        print("----", part, flush=True)
        command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}",
                   "--clear-groups", "--no-new-privs", sys.executable,
                   os.path.join(scratch, "tests", part + ".py")]
        failed += subprocess.run(command, env=env, cwd=scratch).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
