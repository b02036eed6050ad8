"""The dataspace: volpex.h on one host, on several, in programs without bsprun, and used wrongly."""
import itertools
import os
import re
import signal
import subprocess

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, expect, main, run, scratch, wait_until

OBJECTS = os.environ["INTEG_OBJECTS"]
HOSTS = [["-np", "4"], ["--launcher", RSH, "--hosts", "h0:1,h1:2,h2:1"]]
STUCK = r"^bsp(?:run|zero): all processes wait, and nothing is on its way to them:$"


def lines(result, pattern):
    return sorted(line for line in result.out.splitlines() if re.fullmatch(pattern, line))


def everybody_gets_what_another_puts():
    for where in HOSTS:
        result = expect(bsprun(*where, OBJECTS, "ring"), 0, no_err=True)
        wanted = [f"pid {pid} of 4 got {(pid + 3) % 4 * 10} in 4 bytes" for pid in range(4)]
        check(sorted(result.out.splitlines()) == wanted, result.out)


def a_token_excludes_the_others():
    for where in HOSTS:
        result = expect(bsprun(*where, OBJECTS, "count", 100), 0, no_err=True)
        check(sorted(result.out.splitlines()) == [f"pid {pid} reads 400" for pid in range(4)], result.out)


def objects_of_all_sizes():
    for where in HOSTS:
        result = expect(bsprun(*where, OBJECTS, "sizes"), 0, no_err=True)
        check(len(lines(result, r"pid \d has seen all")) == 4, result.out)


def more_than_the_memory():
    """The oldest objects go to a file without a name; where there is none, the job ends."""
    for where in HOSTS:
        result = expect(bsprun(*where, "--dataspace-memory", "3M", OBJECTS, "sizes"), 0, no_err=True)
        check(len(lines(result, r"pid \d has seen all")) == 4, result.out)
    expect(bsprun("-np", 4, "--dataspace-memory", "3M", OBJECTS, "sizes", env={"TMPDIR": "/no/such/place"}), 1,
           err=r"^bsprun: no room on host \S+ for an object of \d+ bytes in the dataspace \(pid \d\), neither in "
               r"memory \(--dataspace-memory\), where \d+ bytes are, nor in /no/such/place, where 0 are$")
    expect(bsprun("-np", 2, "--dataspace-memory", "1M", OBJECTS, "many", 2000, 1024), 1,
           err=r"^bsprun: no room on host \S+ for an object of 1024 bytes in the dataspace \(pid 0\): objects of less than "
               r"16384 bytes and all tags stay in memory, where they take \d+ bytes; give more with --dataspace-memory$")
    few = ("many", 20000, 0)  # what an object takes beside its bytes counts
    expect(bsprun("-np", 1, "--dataspace-memory", "8M", OBJECTS, *few), 0, no_err=True)
    expect(bsprun("-np", 1, "--dataspace-memory", "2M", OBJECTS, *few), 1, err=r"for an object of 0 bytes in the dataspace \(pid 0\): "
           r"objects of less than 16384 bytes and all tags stay in memory")
    for word in ("0", "-1", "much", "3X"):
        expect(bsprun("--dataspace-memory", word, OBJECTS), 2,
               err=f"--dataspace-memory {word}: give bytes for objects in memory on each host")


def tags_are_bytes():
    for where in HOSTS:
        expect(bsprun(*where, OBJECTS, "tags"), 0, out="^1 2 3 4 5 $", no_err=True)


def within_supersteps():
    for where in HOSTS:
        result = expect(bsprun(*where, OBJECTS, "mixed"), 0, no_err=True)
        check(len(lines(result, r"pid \d is content")) == 4, result.out)


def without_bsprun():
    result = expect(run([OBJECTS, "ring"], env={"BSP_PROCS": "3"}), 0, no_err=True)
    check(len(result.out.splitlines()) == 3, result.out)
    expect(run([OBJECTS, "wait"], env={"BSP_PROCS": "2"}), 1, err=STUCK)
    expect(run([OBJECTS, "ring"], env={"BSP_PROCS": "1"}), 0, out="^pid 0 of 1 got 0 in 4 bytes$", no_err=True)


def wrong_use():
    """One line each on stderr, -1, and the program goes on."""
    result = expect(bsprun("-np", 1, OBJECTS, "wrong"), 0, out="^-1 -1 -1 -1 -1 -1$")
    for call, what in (("put", "a tag has 0 to 4096 bytes"), ("put", "NULL given as the tag"),
                       ("read", "NULL given as the data"), ("get", "an object has 0 to 1073741824 bytes"),
                       ("init", "the parallel part has begun already")):
        check(re.search(rf"^bspzero: .*objects\.c:\d+: volpex_{call}: pid 0 of 1, superstep 0: {what}$",
                        result.err, re.M), result.err)
    check(len(result.err.splitlines()) == 6, result.err)
    expect(bsprun("-np", 1, OBJECTS, "early"), 0, out="^-1$",
           err=r"volpex_put: pid -1: called outside of the parallel part: volpex_init or bsp_begin comes first$")


def nobody_can_put_it():
    for where in HOSTS:
        for but in ("", "barrier"):
            result = expect(bsprun(*where, OBJECTS, "wait", but), 1, err=STUCK)
            for pid in range(4):
                waits = "a barrier" if but and pid == 0 else rf'volpex_get of "no \\x22object\\x22 {pid}"'
                check(re.search(rf"^  pid {pid}: {waits}$", result.err, re.M), result.err)
                call = "bsp_sync" if but and pid == 0 else "volpex_get"
                check(re.search(rf"^  pid {pid}: last call {call} at .*objects\.c:\d+, superstep 0, waiting$",
                                result.err, re.M), result.err)


def nobody_can_put_it_to_many():
    """What there is no room for is counted, and each host has its part of the room."""
    for where in (["-np", "100"], ["--launcher", RSH, "--hosts", "h0:50,h1:50"]):
        result = expect(bsprun(*where, OBJECTS, "wait"), 1, err=STUCK)
        said = result.err.splitlines()
        said = said[said.index("bsprun: all processes wait, and nothing is on its way to them:") + 1:]
        shown = list(itertools.takewhile(lambda line: re.search(r'^  pid \d+: volpex_get of "no \\x22object\\x22 \d+"$', line), said))
        check(said[len(shown)] == f"  and {100 - len(shown)} more", result.err)
        check(60 < len(shown) < 100, len(shown), result.err)
        pids = [int(line.split()[1][:-1]) for line in shown]
        check(len(where) == 2 or sum(pid < 50 for pid in pids) < 50 > sum(pid >= 50 for pid in pids) > 25, pids)


def one_that_computes_may_put_it():
    """Only its end is the end of the job."""
    with Job([BSPRUN, *HOSTS[1], OBJECTS, "wait", "computes"]) as job:
        for pid in range(4):
            job.wait_for(rf"^ready {pid}\r?$", 1)
        job.signal(signal.SIGINT)
        check(job.finish() == 130, job.status, job.text())
        check("all processes wait" not in job.text(), job.text())


def a_process_that_dies():
    with Job([BSPRUN, "-np", "2", OBJECTS, "wait", "computes"]) as job:
        ranks = [job.wait_for(rf"^ready {pid}\r?$", 1) for pid in range(2)]
        check(all(ranks), ranks)
        victims = [pid for pid, name in job.members().items() if name == "integ_objects"]
        os.kill(victims[0], signal.SIGKILL)
        check(job.finish() == 137, job.status, job.text())


LEAVES = r"""
#include <bsp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <volpex.h>
int main(int argc, char **argv)
{
    const char *how = argv[1];
    if (strcmp(how, "mixed") == 0)
        bsp_begin(0);
    else
        volpex_init(argc, argv);
    int last = volpex_getProcId() == 1;
    if (last && strcmp(how, "at once") == 0)
        exit(3);
    char there;
    if (last) /* the others are past the beginning */
        volpex_read("z", 1, &there, 1);
    else
        volpex_put("z", 1, "y", 1);
    volpex_put("x", 1, "y", 1);
    if (last && strcmp(how, "late") != 0) {
        if (strcmp(how, "exit") == 0)
            exit(3);
        _exit(3);
    }
    if (last)
        atexit(abort);
    volpex_finalize();
    return 0;
}
"""


def compiled(name, text):
    program = os.path.join(scratch, name)
    with open(program + ".c", "w") as file:
        file.write(text)
    check(subprocess.run([os.path.join(BIN, "bspcc"), program + ".c", "-o", program]).returncode == 0)
    return program


def without_finalize():
    """What is missing, and what the others wait in, is named as the program would name it."""
    program = compiled("leaves", LEAVES)
    for run_it in (lambda how: bsprun("-np", 2, program, how), lambda how: run([program, how], env={"BSP_PROCS": "2"})):
        result = expect(run_it("at once"), 3, err=r"^bsp(run|zero): pid 1 called exit\(3\) in superstep 0 before volpex_finalize$")
        check(re.search(r"^  pid 1: last call volpex_init at .*leaves\.c:13, superstep 0, called exit\(3\)$", result.err, re.M), result)
        result = expect(run_it("exit"), 3, err=r"^bsp(run|zero): pid 1 called exit\(3\) in superstep 0 before volpex_finalize$")
        check("bsp_" not in result.err, result)
        result = expect(run_it("quick"), 3, err=r"^bsp(run|zero): pid 1 ended with status 3 without volpex_finalize in superstep 0, "
                        r"last call volpex_put at .*leaves\.c:22$")
        check("bsp_" not in result.err, result)
        # Without bsprun the status is that of process 0.
        result = run_it("late")
        expect(result, 134 if result.err.startswith("bsprun") else 0, err=r"^bsp(run|zero): pid 1 was killed by signal 6 \(Aborted\) after volpex_finalize$")
        # A BSP program that uses the dataspace ends with bsp_end.
        expect(run_it("mixed"), 3, err=r"^bsp(run|zero): pid 1 ended with status 3 without bsp_end in superstep 0, last call volpex_put")


def errors_of_the_beginning():
    """They name the call that the program makes, not the one that this makes."""
    for words in (["-np", "2", OBJECTS, "ring"], ["-np", "2", OBJECTS, "mixed"]):
        call = "volpex_init" if words[-1] == "ring" else "bsp_begin"
        expect(bsprun(*words, env={"BSP_COMPAT": "oxfrod"}), 1, err=rf"^bspzero: .*objects\.c:\d+: {call}: pid -1: BSP_COMPAT=oxfrod is not a mode")


def who_waits_in_finalize():
    """In the table, too: process 0 is in it when process 1 dies."""
    program = compiled("waits", LEAVES.replace("_exit(3)", "for (;;) pause()"))
    with Job([BSPRUN, "-np", "2", program, "quick"]) as job:
        def told():
            return run([os.path.join(BIN, "bspstat"), str(job.os_pid)]).out

        wait_until(lambda: "volpex_finalize at" in told(), "process 0 in volpex_finalize")
        os.kill(int(re.search(r" 1=(\d+)", told())[1]), signal.SIGKILL)
        check(job.finish() == 137, job.status, job.text())
        check(re.search(r"^  pid 0: last call volpex_finalize at .*waits\.c:30, superstep 0, in volpex_finalize\r?$",
                        job.text(), re.M), job.text())


if __name__ == "__main__":
    main([everybody_gets_what_another_puts, a_token_excludes_the_others, objects_of_all_sizes, more_than_the_memory, tags_are_bytes,
          within_supersteps, without_bsprun, wrong_use, nobody_can_put_it,
          nobody_can_put_it_to_many, one_that_computes_may_put_it, a_process_that_dies, without_finalize, errors_of_the_beginning, who_waits_in_finalize])
