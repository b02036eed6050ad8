"""How the program is run: options that mpirun and srun have, too."""
import os
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


if __name__ == "__main__":
    main([directory, directory_that_is_none])
