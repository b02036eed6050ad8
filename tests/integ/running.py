"""How the program is run: options that mpirun and srun have, too."""
import os
import re
import tempfile

from harness import PROG, bsprun, check, expect, main, scratch

RSH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts", "local-rsh")
TWO = ("--launcher", RSH, "--hosts", "h0:1,h1:1")


def fresh(name=None):
    directory = tempfile.mkdtemp(dir=scratch)
    return os.path.join(directory, name) if name else directory


def one_message(result, status, pattern):
    expect(result, status, err="^bsprun: .*" + pattern)
    check(result.err.count("\n") == 1 and not result.out, result)


def directory():
    place = fresh("with a blank")
    os.mkdir(place)
    shell = ("-np", 2, "sh", "-c", '/bin/pwd; echo "$PWD"; exec "$0"', PROG)
    twice = f"{place}\n{place}\n"
    for words in ((), TWO, ("--ckpt", fresh("store"))):
        result = expect(bsprun(*words, "--wdir", place, *shell), 0, no_err=True)
        check(result.out.startswith(twice), words, result)
    result = expect(bsprun("-wdir", "with a blank", *shell, cwd=os.path.dirname(place)), 0)
    check(result.out.startswith(twice), result)
    expect(bsprun("--wdir", place, "-x", "PWD=/else", PROG, "variable", "PWD"), 0, out="^PWD=/else$")
    # The program is looked up where bsprun is.
    here, name = os.path.split(PROG)
    for program in (name, "./" + name):
        result = expect(bsprun("-np", 2, "--wdir", place, program, "arguments", cwd=here), 0,
                        out="^p = 2$", no_err=True)
        check(result.out.startswith(f"[{here}/"), result)


def directory_that_is_none():
    here, file = fresh(), fresh("file")
    with open(file, "w", encoding="utf-8"):
        pass
    for words in ((), TWO):
        for place, why in ((here + "/none", "No such file or directory"), (file, "Not a directory")):
            result = bsprun(*words, "-np", 2, "--wdir", place, PROG)
            expect(result, 126, err=f"is not started, as it cannot begin in --wdir {place}: {why}$")
            check(not result.out, result)
    one_message(bsprun("--wdir", "", PROG), 2, "--wdir needs the name of a directory")
    one_message(bsprun("--restart", here, "--wdir", here), 2, "--wdir and --restart: a program")


def map_of_what_would_run():
    """Nothing is started, nothing is made."""
    never = ("--launcher", "false")
    for words, shown in (
            (("--hosts", "h0:2,h1:2"), "at most 4 processes on 2 hosts\n"
             "host h0, 2 slots: processes 0-1\nhost h1, 2 slots: processes 2-3\n"),
            (("--hosts", "h0:2,h1:2", "--map-by", "node"), "at most 4 processes on 2 hosts\n"
             "host h0, 2 slots: processes 0, 2\nhost h1, 2 slots: processes 1, 3\n"),
            (("--hosts", "h0:1,h1:3,h2:1", "--spares", 1, "-np", 1),
             "at most 1 process on 2 hosts\nhost h0, 1 slot: process 0\n"
             "host h1, 3 slots: no process\nhost h2: spare\n")):
        result = expect(bsprun("--dry-run", *never, *words, PROG), 0, no_err=True)
        check(result.out == shown, words, result)
    store = fresh("store")
    room = bsprun(PROG, "room").out.split("room for ")[1].split()[0]
    expect(bsprun("--dry-run", "--ckpt", store, PROG), 0, no_err=True,
           out=f"^host localhost, {room} slots?: process")
    check(not os.path.exists(store), "it was made")
    one_message(bsprun("--dry-run", *never, "--hosts", "h0:1,h1", PROG), 2,
                "host h1 is not asked how many cores it has: give its slots")
    one_message(bsprun("--dry-run", "--hosts", "h0:x", PROG), 2, "h0:x")
    one_message(bsprun("--dry-run", "--restart", store), 2, "--dry-run and --restart: ")


def map_of_what_runs():
    for words, shown in ((("-np", 2), r"bsprun: map: host \S+: processes 0-1\n"),
                         ((*TWO, "-np", 3, "--oversubscribe", "--map-by", "node"),
                          "bsprun: map: host h0: processes 0, 2\nbsprun: map: host h1: process 1\n")):
        result = expect(bsprun("--display-map", *words, PROG), 0, out="^p = ")
        check(re.fullmatch(shown, result.err), words, result)


if __name__ == "__main__":
    main([directory, directory_that_is_none, map_of_what_would_run, map_of_what_runs])
