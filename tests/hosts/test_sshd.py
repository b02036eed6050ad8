"""The sshd of the other tests is what it promises to be."""
import os
import sys
import time

import farm as farms
from farm import Farm
from sshd import Sshd


def check(truth, *what):
    if not truth:
        print("FAILED:", *what)
        sys.exit(1)


def main():
    farms.require("sshd", "ssh", root=True)
    with Farm(4) as farm:
        Sshd(farm, password_on=["c"], strangers=["d"])
        user = farm.user
        done = farm.run("a", ["ssh", "b", "hostname; id -un; pwd"], user=user)
        check(done.stdout.split() == ["b", user, farm.home], done)
        done = farm.run("b", ["ssh", "a", "cat; exit 5"], user=user, input="text")
        check((done.returncode, done.stdout) == (5, "text"), done)
        begin = time.monotonic()
        for name in ("c", "d"):
            done = farm.run("a", ["ssh", "-o", "BatchMode=yes", name, "true"], user=user)
            check(done.returncode == 255, name, done)
        check(time.monotonic() - begin < 30, "a refusal takes no time")
        done = farm.run("a", ["setsid", "-w", "ssh", "c", "true"], user=user, timeout=30,
                        env={"HOME": farm.home, "PATH": farms.SYSTEM_PATH})
        check("Permission denied" in done.stderr, "without a terminal nobody is asked", done)
        check(os.listdir(farm.path("ssh")), "keys")
        scratch = farm.scratch
    check(not os.path.exists(scratch), scratch, "is left")
    print("ok")


if __name__ == "__main__":
    main()
