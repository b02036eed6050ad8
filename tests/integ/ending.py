"""How jobs end: exit statuses, messages and tables; every process gone afterwards."""
import os
import re
import shlex
import signal
import subprocess
import tempfile

from harness import BSPRUN, PROG, Job, bsprun, check, expect, held_up, main, process_stat, run, scratch, wait_until

PLACE = r"prog\.c:\d+"


def normal_end():
    for p in (1, 2, 3, 4, 7):
        expect(bsprun("-np", p, PROG), 0, out=rf"^p = {p}$", no_err=True)


def status_of_pid_0():
    for status in (0, 1, 7, 255):
        expect(bsprun("-np", 3, PROG, "status", status), status, no_err=True)
    expect(run([PROG, "status", "9"], env={"BSP_PROCS": "3"}), 9, out="^p = 3$", no_err=True)


def no_status_without_a_word():
    """Process 0's own after bsp_end is the program's answer, which -v names."""
    expect(bsprun("-v", "-np", 3, PROG, "status", 7), 7,
           err=r"^bsprun: process 0 ended with status 7$")
    expect(run(["sh", "-c", 'exec "$0" --help > /dev/full', BSPRUN]), 1,
           err=r"^bsprun: standard output: No space left on device$")


def exit_handlers_of_all_run():
    result = expect(bsprun("-np", 4, PROG, "handlers"), 0)
    check(sorted(line for line in result.out.splitlines() if "handler" in line) ==
          [f"exit handler of {pid}" for pid in range(4)], result)


def many_more_than_cores():
    expect(bsprun("-np", 32, PROG, "count", 20), 0, out="^p = 32$", no_err=True)


def table_names_all(result, p):
    for pid in range(p):
        check(f"\n  pid {pid}: last call bsp_" in "\n" + result.err, "no line of", pid, result)


def early_exit():
    for pid, status, expected in ((2, 3, 3), (0, 3, 3), (1, 0, 1)):
        result = expect(bsprun("-np", 3, PROG, "exit", pid, status), expected,
                        err=rf"^bsprun: pid {pid} called exit\({status}\) in superstep \d+ before "
                        "bsp_end$")
        table_names_all(result, 3)
        check(f"called exit({status})" in result.err.split("\n", 1)[1], result)


def early_quick_exit():
    for pid in (0, 2):
        result = expect(bsprun("-np", 3, PROG, "_exit", pid, 5), 5,
                        err=rf"^bsprun: pid {pid} ended with status 5 without bsp_end in superstep "
                        rf"\d+, last call bsp_sync at .*{PLACE}$")
        table_names_all(result, 3)


def abort_by_one():
    for pid in (0, 3):
        result = expect(bsprun("-np", 4, PROG, "abort", pid, "me"), 1)
        check(f"\nABORT(pid{pid:3d}):as told by me\n" in result.err, result)
        check("bsprun:" not in result.err, "it needs no second message", result)


def misuse():
    result = expect(bsprun("-np", 2, PROG, "misuse", 1), 1,
                    err=rf"^bspzero: .*{PLACE}: bsp_put: pid 1 of 2, superstep \d+: ")
    check("bsprun:" not in result.err, result)


def killed_by_itself():
    for pid in (0, 2):
        result = expect(bsprun("-np", 3, PROG, "signal", pid, int(signal.SIGSEGV)), 139,
                        err=rf"^bsprun: pid {pid} was killed by signal 11 "
                        r"\(Segmentation fault\) in "
                        rf"superstep \d+, last call bsp_sync at .*{PLACE}$")
        table_names_all(result, 3)


def killed_from_outside():
    for victim in (0, 1):
        with Job([BSPRUN, "-np", "3", PROG, "loop"]) as job:
            ranks = job.wait_ready(3)
            os.kill(ranks[victim], signal.SIGKILL)
            check(job.finish() == 137, job.status, job.text())
            check(f"pid {victim} was killed by signal 9 (Killed) in superstep" in job.text(),
                  job.text())
            job.check_gone()


def killed_while_others_compute():
    """The others are not in a barrier, where they would notice: they are ended all the same."""
    with Job([BSPRUN, "-np", "3", PROG, "compute"]) as job:
        ranks = job.wait_ready(3)
        os.kill(ranks[2], signal.SIGKILL)
        check(job.finish() == 137, job.status, job.text())
        job.check_gone()


def some_end_early():
    result = bsprun("-np", 3, PROG, "early-end", 1)
    check(result.status != 0, result)
    check("bsp_end" in result.err, result)


def after_bsp_end():
    expect(bsprun("-np", 3, PROG, "late-signal", int(signal.SIGTERM)), 143,
           err=r"^bsprun: pid 0 was killed by signal 15 \(Terminated\) after bsp_end$")


def sleeps_in_a_futex(os_pid):
    with open(f"/proc/{os_pid}/wchan") as file:
        return "futex" in file.read()


def has_died(os_pid):
    stat = process_stat(os_pid)
    return stat is None or stat[0] == "Z"


def on_its_way_out_of_bsp_end():
    """All have come to bsp_end, which one of them has not left yet: its death is reported, and that nothing follows from it."""
    with tempfile.TemporaryDirectory() as store, \
            Job([BSPRUN, "-np", "2", f"--ckpt={store}", "--every", "1000s", PROG, "end-when-told"], stdin=subprocess.PIPE) as job:
        ranks = job.wait_ready(2)
        wait_until(lambda: sleeps_in_a_futex(ranks[1]), "pid 1 does not wait in bsp_end")
        os.kill(ranks[1], signal.SIGSTOP)
        job.process.stdin.close()
        wait_until(lambda: has_died(ranks[0]), "pid 0 does not end")
        os.kill(ranks[1], signal.SIGKILL)
        check(job.finish() == 137, job.status, job.text())
        check(re.search(r"^bsprun: pid 1 was killed by signal 9 \(Killed\) in superstep \d+, last call bsp_end at .*"
                        rf"{PLACE}, when all processes had reached the end of the job$", job.text(), re.M), job.text())
        job.check_gone()


def before_the_first_snapshot():
    """A job with --ckpt, of which one host does not come until its end, says why it does not go on."""
    with tempfile.TemporaryDirectory(prefix="bspzero-late-") as directory:
        gate, launcher = os.path.join(directory, "gate"), os.path.join(directory, "rsh")
        os.mkfifo(gate)
        with open(launcher, "w") as file:
            file.write('#!/bin/sh\nhost=$1\nshift\n'
                       f'if [ "$host" = h1 ]; then read -r _ < {shlex.quote(gate)}; fi\nBSPZERO_HOST_NAME=$host exec "$@"\n')
        os.chmod(launcher, 0o755)
        with Job([BSPRUN, "-np", "2", "--launcher", shlex.quote(launcher), "--hosts", "h0:1,h1:1", f"--ckpt={directory}/store",
                  PROG, "count", "9"]) as job:
            def waiting():
                return [os_pid for os_pid, name in job.members().items() if name == "integ_prog" and sleeps_in_a_futex(os_pid)]

            wait_until(waiting, "that the program waits for the other host")
            os.kill(waiting()[0], signal.SIGKILL)
            check(job.finish() == 137, job.status, job.text())
            check(re.search(r"^bsprun: \S+ was killed by signal 9 \(Killed\) before bsp_begin, "
                            "before there was a snapshot to restart from$", job.text(), re.M), job.text())
            job.check_gone()


def in_exit_handlers():
    """Past bsp_end the answer is out: a death is reported, not more."""
    for pid in (0, 2):
        expect(bsprun("-np", 3, PROG, "handler-signal", pid, 11), 139, out="^p = 3$",
               err=rf"^bsprun: pid {pid} was killed by signal 11 \(Segmentation fault\) after "
               "bsp_end$")
    expect(bsprun("-np", 3, PROG, "handler-status", 0, 5), 5, no_err=True)


def a_tool_has_found_something():
    """As valgrind and sanitizers do: a process ends with the tool's status, whatever the program wanted."""
    said = r"^bsprun: pid 2 ended with status 9 after bsp_end$"
    expect(bsprun("-np", 3, PROG, "handler-status", 2, 9), 9, out="^p = 3$", err=said)
    expect(bsprun("-np", 3, "sh", "-c", '"$@"', "-", PROG, "handler-status", 2, 9), 9, err=said)
    # A wrapper's own status is the job's, and needs no word; it comes before that of others.
    expect(bsprun("-np", 3, "sh", "-c", '"$@"; exit 9', "-", PROG, "count", 3), 9, no_err=True)
    expect(bsprun("-np", 3, "sh", "-c", '"$@"; exit 4', "-", PROG, "handler-status", 2, 9), 4, err=said)
    expect(bsprun("-np", 3, "--kill-on-bad-exit=0", PROG, "handler-status", 2, 9), 9, err=said)


def a_bad_exit_ends_the_others():
    """Process 0 sleeps after bsp_end when process 2 fails there."""
    said = r"^bsprun: pid 2 ended with status 9 after bsp_end$"
    for option in ("-K", "-K1", "--kill-on-bad-exit", "--kill-on-bad-exit=1"):
        expect(bsprun("-np", 3, option, PROG, "handler-status", 2, 9, "sleep"), 9, err=said)
    expect(bsprun("-np", 3, "-K", PROG, "status", 7), 7, err=r"^bsprun: pid 0 ended with status 7 after bsp_end$")
    expect(bsprun("-np", 3, "-K", PROG, "count", 3), 0, no_err=True)
    expect(bsprun("-np", 3, "--kill-on-bad-exit=2", PROG), 2,
           err=r"^bsprun: --kill-on-bad-exit 2: give 1 \(a failure after bsp_end ends the job, too\), or 0$")
    # Before bsp_end the others cannot pass the next barrier, and the job ends in any case.
    for option in ("-K", "-K0"):
        expect(bsprun("-np", 3, option, PROG, "exit", 2, 3), 3, err=r"^bsprun: pid 2 called exit\(3\)")


def before_bsp_begin():
    expect(bsprun("-np", 3, PROG, "never", 5), 5, no_err=True)
    expect(bsprun("-np", 3, PROG, "never", 0), 0, no_err=True)
    expect(bsprun("-v", "-np", 3, PROG, "never", 0), 0,
           err=r"^bsprun: .*prog ended before bsp_begin, with status 0$")
    expect(run([PROG, "never", "0"]), 0, no_err=True)
    expect(bsprun("-np", 3, PROG, "early-signal", int(signal.SIGFPE)), 136,
           err=r"^bsprun: .*prog was killed by signal 8 \(Floating point exception\) before "
           r"bsp_begin$|^bsprun: .* was killed by signal 8")


def wrapped():
    """A shell, env or nice in between: the outermost status counts."""
    expect(bsprun("-np", 3, "sh", "-c", f"'{PROG}' count 3; echo then; exit 6"), 6,
           out=r"^p = 3\n(.*\n)*then$", no_err=True)
    expect(bsprun("-np", 3, "env", "nice", PROG, "status", 4), 4, out="^p = 3$", no_err=True)
    expect(bsprun("-np", 2, "sh", "-c", f"'{PROG}' exit 1 3; echo not reached; sleep 60"), 3,
           err=r"^bsprun: pid 1 called exit\(3\)")


def wrapped_twice():
    """Two programs in one script: the first takes the job, the other is one of its own."""
    result = expect(bsprun("-np", 2, "sh", "-c", f"'{PROG}' && echo between && '{PROG}' status 3"),
                    3, no_err=True)
    check(result.out == "p = 2\nbetween\np = 2\n", result)
    result = expect(bsprun("-np", 2, "sh", "-c", f"'{PROG}' & '{PROG}'; wait"), 0, no_err=True)
    check(result.out == "p = 2\np = 2\n", result)


def bare():
    env = {"BSP_PROCS": "3"}
    expect(run([PROG], env=env), 0, out="^p = 3$", no_err=True)
    expect(run([PROG, "exit", "1", "4"], env=env), 4, err=r"^bspzero: pid 1 called exit\(4\)")
    result = expect(run([PROG, "signal", "2", "11"], env=env), 139,
                    err=r"^bspzero: pid 2 was killed by signal 11")
    table_names_all(result, 3)
    expect(run([PROG, "abort", "1", "x"], env=env), 1, err=r"^ABORT\(pid  1\):as told by x$")


def bare_killed():
    for victim in (0, 1):
        with Job([PROG, "loop"], env={"BSP_PROCS": "3"}) as job:
            ranks = job.wait_ready(3)
            os.kill(ranks[victim], signal.SIGKILL)
            status = job.finish()
            check(status == (-9 if victim == 0 else 137), status, job.text())
            check(f"bspzero: pid {victim} " in job.text(), job.text())
            job.check_gone(at_once=False)


def bare_in_a_pipe():
    """The reader of a pipe sees its end as soon as process 0 has ended."""
    result = run(["sh", "-c", f"'{PROG}' talk 3 | sort | tail -1"], env={"BSP_PROCS": "2"})
    expect(result, 0, out="^p = 2$")


def agent_killed():
    for command, env in (([BSPRUN, "-np", "3", PROG, "loop"], {}),
                         ([BSPRUN, "-np", "3", PROG, "compute"], {}),
                         ([BSPRUN, "-np", "3", "sh", "-c", f"'{PROG}' compute; sleep 60"], {})):
        with Job(command, env=env) as job:
            job.wait_ready(3)
            os.kill(job.agent(), signal.SIGKILL)
            check(job.finish() == 137, job.status, job.text())
            check("the node agent (bspnode" in job.text(), job.text())
            job.check_gone()


def agent_killed_bare():
    with Job([PROG, "loop"], env={"BSP_PROCS": "3"}) as job:
        job.wait_ready(3)
        os.kill(job.agent(), signal.SIGKILL)
        check(job.finish() != 0, job.text())
        job.check_gone(at_once=False)


def agent_does_not_start():
    """Every rank notices; one of them says it."""
    result = run([PROG], env={"BSP_PROCS": "4", "BSPZERO_NODE": "/bin/false"})
    check(result.status == 1 and result.err.count("\n") == 1, result)
    expect(result, 1, err="^bspzero: the node agent of this job has died; terminating$")


def launcher_killed():
    for mode in ("loop", "compute", "late-sleep", "early-sleep"):
        with Job([BSPRUN, "-np", "3", PROG, mode]) as job:
            job.wait_ready(1 if "sleep" in mode else 3)
            job.signal(signal.SIGKILL)
            job.finish()
            job.check_gone(at_once=False)


def told_to_abort():
    """Processor Zero's decision ends a real job at the superstep it names."""
    for p in (1, 2, 4):
        result = bsprun("-np", p, PROG, "loop", env={"BSPZERO_FAULT": "consult:1,abort-at:5"})
        expect(result, 1, err=r"^bsprun: .*superstep 5")
        for pid in range(p):
            check(f"  pid {pid}: last call bsp_sync" in result.err, result)
            check(", superstep 5, " in result.err, result)
    expect(run([PROG, "loop"], env={"BSP_PROCS": "2", "BSPZERO_FAULT": "consult:1,abort-at:5"}), 1,
           err=r"^bspzero: .*superstep 5")


def consulted_and_let_go():
    expect(bsprun("-np", 3, PROG, "count", 50, env={"BSPZERO_FAULT": "consult:1"}), 0, no_err=True)
    expect(bsprun("-np", 3, PROG, "count", 50, env={"BSPZERO_FAULT": "consult:7"}), 0, no_err=True)


def a_history_that_cannot_be_written():
    """Its server does not answer: bsprun ends all the same."""
    history, store = (os.path.join(scratch, name) for name in ("mute history", "store of a mute history"))
    environment = dict(word.split("=", 1) for word in held_up("HOLDUP_MUTE", history)[1::2])
    result = bsprun("-np", 2, "--ckpt", store, PROG, "count", 3, env={**environment, "BSPZERO_HISTORY": history})
    expect(result, 0, out="^p = 2$",
           err=f"^bsprun: the history of earlier jobs, {history}, is not used: its file system does not answer$")
    check(result.err.count("\n") == 1 and not os.path.exists(history), result)


if __name__ == "__main__":
    main([normal_end, a_history_that_cannot_be_written, status_of_pid_0, no_status_without_a_word, exit_handlers_of_all_run,
          many_more_than_cores, early_exit, early_quick_exit, abort_by_one, misuse, killed_by_itself, killed_from_outside,
          killed_while_others_compute, some_end_early, after_bsp_end, on_its_way_out_of_bsp_end, before_the_first_snapshot,
          in_exit_handlers, a_tool_has_found_something, a_bad_exit_ends_the_others, before_bsp_begin, wrapped, wrapped_twice,
          bare, bare_killed, bare_in_a_pipe, agent_killed, agent_killed_bare, agent_does_not_start, launcher_killed, told_to_abort, consulted_and_let_go])
