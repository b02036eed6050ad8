"""Files that process 0 has open in bsp_begin, on several hosts (all of them this machine)."""

import os
import tempfile

from harness import RSH, bsprun, check, expect, main

OPENED = os.environ["INTEG_OPENED"]
FINE = "data fine, log fine, gone fine, pipe fine"
LOST = "data fine, log fine, gone Input/output error, pipe Input/output error"


def files(directory):
    with open(os.path.join(directory, "data"), "w", encoding="ascii") as data:
        data.write("some bytes\n")
    return [os.path.join(directory, name) for name in ("data", "log", "gone")]


def on_one_host():
    with tempfile.TemporaryDirectory() as directory:
        expect(bsprun("-np", 3, OPENED, *files(directory)), 0,
               out=f"^0: {FINE}\n1: {FINE}\n2: {FINE}$", no_err=True)


def on_two_hosts():
    """What is the same file there is shared, what cannot be is an error of reading, not of the job;
    every host says so once.  Nothing is cut: all have appended."""
    with tempfile.TemporaryDirectory() as directory:
        paths = files(directory)
        result = expect(bsprun("-np", 4, "--hosts", "here:2,there:2", "--launcher", RSH, OPENED, *paths),
                        0, out=f"^0: {FINE}\n1: {FINE}\n2: {LOST}\n3: {LOST}$",
                        err="^bsprun: host there: .*EIO")
        check(len(result.err.strip().split("\n")) == 1, result.err)
        with open(paths[1], encoding="ascii") as log:
            check(log.read() == 4 * "line\n", "the log")


main([on_one_host, on_two_hosts])
