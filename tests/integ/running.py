"""How the program is run: options that mpirun and srun have, too."""
import os
import re
import signal
import tempfile

from harness import (BSPRUN, PROG, RSH, Job, bsprun, check, expect, main, scratch, wait_committed,
                     wait_until)

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
    one_message(bsprun("--restart", here, "--wdir", here), 2, "--wdir and --restart: a restarted program")


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
             "host h1, 3 slots: no process\nhost h2: spare\n"),
            (("--hosts", "h0:1,h1:1,h2:1", "--replicas", "0=2", "-np", 2), "at most 2 processes on 3 hosts\n"
             "host h0, 1 slot: process 0\nhost h1, 1 slot: process 0\nhost h2, 1 slot: process 1\n"),
            (("--hosts", "h0:2,h1:2,h2:2,h3:1", "--replicas", 2), "at most 3 processes on 4 hosts\n"
             "host h0, 2 slots: processes 0-1\nhost h1, 2 slots: process 2\n"
             "host h2, 2 slots: processes 0-1\nhost h3, 1 slot: process 2\n"),
            (("--hosts", "h0:4000,h1:4000"), "at most 4096 processes on 2 hosts\n"
             "host h0, 4000 slots: processes 0-3999\nhost h1, 4000 slots: processes 4000-4095\n")):
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


def map_of_replicas():
    """Both hosts that have replicas of the same processes are shown, and none that has no processes."""
    shown = "".join(f"bsprun: map: host h{i}: process{'' if i % 2 else 'es'} {1 if i % 2 else '0, 2'}\n" for i in range(4))
    result = expect(bsprun("--launcher", RSH, "--hosts", "h0:1,h1:1,h2:1,h3:1,h4:1", "--replicas", 2, "--map-by", "node",
                           "-np", 3, "--oversubscribe", "--display-map", PROG), 0, out="^p = ")
    check(result.err == shown, result)


def contents(place):
    found = {}
    for name in os.listdir(place):
        with open(os.path.join(place, name), encoding="utf-8") as file:
            found[name] = file.read()
    return found


def lines(count, pid):
    return "".join(f"line {i} of {pid}\n" for i in range(count))


def files_of_output():
    for words in ((), TWO, ("--ckpt", fresh("store"))):
        place = fresh("files")
        for _ in range(2):  # those of the first job are emptied by the second
            result = expect(bsprun(*words, "--output", place, "-np", 2, PROG, "talk", 3), 0,
                            no_err=True)
            check(not result.out, result)
            check(contents(place) == {"0.out": lines(3, 0) + "p = 2\n", "1.out": lines(3, 1),
                                      "0.err": "", "1.err": ""}, words, contents(place))
    place = fresh("tagged")
    expect(bsprun("--output", place, "-tag-output", "-np", 2, PROG, "stderr"), 0, no_err=True)
    found = contents(place)
    check(found["1.err"].startswith("[1] "), found)


def files_after_a_rollback():
    """What is executed again is not written again."""
    place, store, gate, count = fresh("files"), fresh("store"), fresh("gate"), 20000
    with Job([BSPRUN, "--output", place, "--ckpt", store, "--every", "1000000", "-np", "2",
              PROG, "talk", str(count), gate]) as job:
        def talks():
            path = os.path.join(place, "1.out")
            return os.path.exists(path) and "line 100 of 1\n" in contents(place)["1.out"]
        wait_until(talks, "lines in the file of process 1")
        wait_committed(job, store, 0)
        name = os.path.basename(PROG)[:15]
        ranks = [pid for pid, found in job.members().items() if found == name]
        os.kill(ranks[0], signal.SIGKILL)
        with open(gate, "w", encoding="utf-8") as file:
            file.write("1")
        check(job.finish() == 0 and "restart 1 of 10" in job.text(), job.text())
        check(contents(place)["0.out"] == lines(count, 0) + "p = 2\n", "of process 0")
        check(contents(place)["1.out"] == lines(count, 1), "of process 1")
        job.check_gone()


def files_that_cannot_be():
    file = fresh("file")
    with open(file, "w", encoding="utf-8"):
        pass
    one_message(bsprun("--output", file, PROG), 1, f"--output {file}: Not a directory")
    one_message(bsprun("--output", "/nonexistent/place", PROG), 1, "--output /nonexistent/place: No")
    one_message(bsprun("--output", "", PROG), 2, "--output needs the name of a directory")
    place = fresh()
    os.symlink("/dev/full", os.path.join(place, "0.out"))
    for words in ((), ("--ckpt", fresh("store"))):
        result = expect(bsprun("--output", place, *words, "-np", 2, PROG, "talk", 20000), 1,
                        err=f"^bsprun: cannot write the output to files in {place}: No space left on device$")
        check("cannot be stored" not in result.err, words, result)


def times_of_output():
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[-+]\d{4} "
    result = expect(bsprun("--timestamp-output", "-np", 2, PROG, "talk", 2), 0, no_err=True)
    check(len(result.out.splitlines()) == 5 and
          all(re.match(stamp + "(line|p)", line) for line in result.out.splitlines()), result)
    result = expect(bsprun("--timestamp-output", "-tag-output", "-np", 2, PROG, "talk", 1), 0)
    check(all(re.match(stamp + r"\[[01]\] ", line) for line in result.out.splitlines()), result)


def exported_variables():
    def shown(name, *words):
        result = bsprun(*words, PROG, "variable", name, env={"INTEG_A": "7", "INTEG_B": "8"})
        return result.out.split("\n")[0]

    for words, first, second in (((), "7", "8"), (("--export", "ALL"), "7", "8"),
                                 (("--export", "NONE"), "(unset)", "(unset)"),
                                 (("--export", "INTEG_A"), "7", "(unset)"),
                                 (("--export", "INTEG_B=x,INTEG_A"), "7", "x"),
                                 (("--export", "ALL,INTEG_B=x"), "7", "x"),
                                 (("--export", "NONE", "-x", "INTEG_A=y"), "y", "(unset)")):
        for hosts in ((), TWO):
            check(shown("INTEG_A", *hosts, *words) == "INTEG_A=" + first, hosts, words)
            check(shown("INTEG_B", *hosts, *words) == "INTEG_B=" + second, hosts, words)
    one_message(bsprun("--export", "INTEG_NO", PROG), 2, "--export INTEG_NO: no such variable")
    one_message(bsprun("--export", "ALL,", PROG), 2, "give ALL, NONE, or variables")
    one_message(bsprun("--restart", fresh(), "--export", "NONE"), 2, "--export and --restart: ")


def no_input():
    for words in ((), ("--ckpt", fresh("store")), TWO):
        result = expect(bsprun("--stdin", "none", *words, "-np", 2, PROG, "cat",
                               stdin_data=b"abc"), 0)
        check("read 0 bytes" in result.out, words, result)
    result = bsprun("--stdin", "0", "-np", 2, PROG, "cat", stdin_data=b"abc")
    check("read 3 bytes" in result.out, result)
    one_message(bsprun("--stdin", "one", PROG), 2, "--stdin one: give none, or the number")


if __name__ == "__main__":
    main([directory, directory_that_is_none, map_of_what_would_run, map_of_what_runs, map_of_replicas,
          files_of_output, files_after_a_rollback, files_that_cannot_be, times_of_output,
          exported_variables, no_input])
