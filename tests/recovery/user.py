"""Recovery as an ordinary user without capabilities, under a filter of system calls as containers
have it, when the tests are run by root.

    user.py SCRIPT [ARG ...]

The user may be kept out of the build directory: it gets a copy, in a place of its own.
"""
import os
import pwd
import shutil
import subprocess
import sys

from harness import BIN, PROGRAMS, scratch

HERE = os.path.dirname(os.path.abspath(__file__))


def copy_into(name, files):
    directory = os.path.join(scratch, name)
    os.makedirs(directory, exist_ok=True)
    os.chmod(directory, 0o755)
    for file in files:
        shutil.copy(file, directory)
    return directory


def all_files(directory):
    return [entry.path for entry in os.scandir(directory) if entry.is_file()]


def main():
    if os.geteuid() != 0:
        print("not root: the other tests are those of an ordinary user")
        return 77
    user = pwd.getpwnam("nobody")
    os.chmod(scratch, 0o755)
    opened = os.environ.get("RECOVERY_OPENED", "")
    confined = os.environ.get("RECOVERY_CONFINED", "")
    libraries = [path for path in all_files(os.path.dirname(opened)) if path.endswith(".so")] \
        if opened else []
    built = os.path.join(os.path.dirname(BIN), "lib")
    libraries += [path for path in all_files(built) if ".so" in os.path.basename(path)]
    environment = dict(
        os.environ, USER="nobody", LOGNAME="nobody", TMPDIR=copy_into("tmp", []),
        RECOVERY_BIN=copy_into("bin", all_files(BIN)),
        RECOVERY_PROGRAMS=copy_into("programs", all_files(PROGRAMS)),
        LD_LIBRARY_PATH=copy_into("libraries", libraries + [confined] * bool(confined)),
        RECOVERY_OPENED=os.path.join(scratch, "libraries", os.path.basename(opened)))
    if confined:
        environment["RECOVERY_BEFORE"] = os.path.join(scratch, "libraries",
                                                      os.path.basename(confined))
    if "APPS_DIR" in os.environ:
        environment["APPS_DIR"] = copy_into("apps", all_files(os.environ["APPS_DIR"]))
    os.chown(environment["TMPDIR"], user.pw_uid, user.pw_gid)
    tests = copy_into("tests", all_files(HERE))
    command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
               "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", sys.executable,
               os.path.join(tests, os.path.basename(sys.argv[1])), *sys.argv[2:]]
    done = subprocess.run(command, env=environment, cwd=environment["TMPDIR"], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
