"""bsprun --debug: gdb in the terminal of bsprun, or in windows; what it needs and does not go together with."""
import os
import re
import shutil
import signal
import tempfile

from harness import BIN, BSPRUN, PROG, RSH, Job, check, expect, main, run, scratch, wait_until

PROMPT = r"\(gdb\) $"
STOPPED = r"^Temporary breakpoint 1, bsp_begin_end"


def script(text, name="gdb"):
    """A directory with this script, for PATH."""
    directory = tempfile.mkdtemp(dir=scratch)
    file = os.path.join(directory, name)
    with open(file, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\n" + text)
    os.chmod(file, 0o755)
    return directory


def debugged(*words, **env):
    """A job at a terminal that does without colours, keys of its own and pages: by the user's .gdbinit, too."""
    with open(os.path.join(scratch, ".gdbinit"), "w", encoding="utf-8") as init:
        init.write("set height 0\nset width 0\n")
    return Job([BSPRUN, *words], env={"TERM": "dumb", "HOME": scratch, **env}, terminal=True)


def say(job, line, answer):
    before = len(job.text())
    os.write(job.fd, line.encode() + b"\n")
    wait_until(lambda: re.search(answer, str(job)[len(" ".join(job.command)) + 1:][before:], re.M),
               f"an answer to {line}: {answer}\n{job}")


def stops_in_bsp_begin():
    """The debugged process goes to the end; the job waits until gdb has been left."""
    with debugged("-np", "3", "--debug", "1", PROG, "count", "3") as job:
        job.wait_for(STOPPED)
        job.wait_for(PROMPT)
        say(job, "backtrace", r"^#1 .* main ")
        say(job, "print bspz_rt.pid", r"^\$1 = 1\r?$")
        say(job, "continue", r"exited normally\]")
        check(not job.is_over() and "gdb" in job.members().values(), job)
        os.write(job.fd, b"quit\n")
        check(job.finish() == 0, job.text())
        job.check_gone()


def process_0():
    with debugged("-np", "2", "--debug", "0", PROG, "count", "3") as job:
        job.wait_for(STOPPED)
        say(job, "print bspz_rt.pid", r"^\$1 = 0\r?$")
        say(job, "continue", r"exited normally\]")
        os.write(job.fd, b"quit\n")
        check(job.finish() == 0, job.text())
        job.check_gone()


def keys_are_for_the_debugger():
    """Ctrl-C stops the process; when gdb has let it go, Ctrl-C ends the job."""
    with debugged("-np", "2", "--debug", "1", PROG, "wait", "1") as job:
        job.wait_for(STOPPED)
        say(job, "continue", "^Continuing")
        os_pids = job.wait_ready(2)
        os.write(job.fd, b"\x03")
        job.wait_for("^Program received signal SIGINT")
        say(job, "backtrace", "main ")
        say(job, "detach", "detached]")
        os.write(job.fd, b"quit\n")
        wait_until(lambda: "gdb" not in job.members().values(), "the end of gdb")
        check(all(os_pid in job.members() for os_pid in os_pids.values()), job)
        wait_until(lambda: interrupted(job), "the end of the job")
        check(job.finish() == 130, job.text())
        job.check_gone()


def interrupted(job):
    """bsprun may not have heard yet that gdb has ended: then the key was for that.  Either bsprun or a process is the first that
    the key ends."""
    if job.is_over() or re.search("was (ended|stopped) by signal 2", str(job)):
        return True
    os.write(job.fd, b"\x03")
    return False


def killed_by_the_debugger():
    with debugged("-np", "2", "--debug", "1", PROG, "count", "3") as job:
        job.wait_for(STOPPED)
        os.write(job.fd, b"kill\ny\n")
        check(job.finish() != 0, job.text())
        check("bsprun: pid 1 " in job.text(), job.text())  # perhaps within what gdb is saying of it
        job.check_gone()


def ended_while_it_is_debugged():
    with debugged("-np", "2", "--debug", "1", PROG, "count", "3") as job:
        job.wait_for(STOPPED)
        job.signal(signal.SIGTERM)
        check(job.finish() == 143, job.text())
        job.check_gone()


def a_debugger_that_fails():
    """The process runs without."""
    path = script("exit 1\n") + os.pathsep + os.environ["PATH"]
    with debugged("-np", "2", "--debug", "1", PROG, "count", "3", PATH=path) as job:
        check(job.finish() == 0, job.text())
        job.check_gone()


def a_debugger_that_does_not_attach():
    path = script("echo here; exec sleep 1000\n") + os.pathsep + os.environ["PATH"]
    with debugged("-np", "2", "--debug", "1", PROG, "count", "3", PATH=path) as job:
        job.wait_for("^here")
        job.signal(signal.SIGTERM)
        check(job.finish() == 143, job.text())
        job.check_gone()


def in_windows():
    """The command may have words; what is behind it is gdb, whose stdin has ended here, so it lets go."""
    place = script('shift; "$@" > "$0.$$" 2>&1 < /dev/null\n', name="window")
    result = run([BSPRUN, "-np", "3", "--debug", "all", "--xterm", PROG, "count", "3"],
                 env={"BSPZERO_XTERM": f"{place}/window  -e", "HOME": scratch})
    expect(result, 0, no_err=True)
    logs = [name for name in os.listdir(place) if name != "window"]
    check(len(logs) == 3, logs)
    for name in logs:
        with open(os.path.join(place, name), encoding="utf-8", errors="replace") as text:
            check(re.search(STOPPED, text.read(), re.M), name)


def the_time_limit_is_off():
    place = script('shift; exec "$@" > /dev/null 2>&1 < /dev/null\n', name="window")
    result = run([BSPRUN, "-np", "2", "--debug", "1", "--xterm", "--timeout", "0.01", PROG, "count", "3"],
                 env={"BSPZERO_XTERM": f"{place}/window -e", "HOME": scratch})
    expect(result, 0, err="^bsprun: --timeout has no effect with --debug\n$")


def no_such_process():
    with debugged("-np", "2", "--debug", "7", PROG, "count", "3") as job:
        check(job.finish() == 2, job.text())
        check(re.search("^bsprun: --debug 7: there is no such process; the job has 2, of which the last is "
                        "pid 1", job.text(), re.M), job.text())
        job.check_gone()


# ---- --attach-on-error ----

FAILED = r"^bsprun: pid 1 has failed here:\n(#.*\n|    .*\n)*#\d+ .* main\b"
ENDS = {signal.SIGSEGV: 139, signal.SIGBUS: 135, signal.SIGFPE: 136, signal.SIGILL: 132, signal.SIGABRT: 134}


def apart(*words, **more):
    """Without a terminal."""
    return run([BSPRUN, "-np", "2", "--attach-on-error", *map(str, words)], start_new_session=True, **more)


def stacks_without_a_terminal():
    """The end is as without the option, and the stack comes before it."""
    for number, status in ENDS.items():
        result = expect(apart(PROG, "signal", 1, int(number)), status, err=FAILED)
        check(re.search(rf"has failed here:\n(.*\n)*bsprun: pid 1 was killed by signal {int(number)} ",
                        result.err), result)
    result = expect(apart(PROG, "misuse", 1), 1, err=FAILED)
    check(re.search(r"^bspzero: .*\nbsprun: pid 1 has failed here:", result.err), result)
    expect(apart(PROG, "count", 3), 0, no_err=True)
    expect(apart(PROG, "late-signal", int(signal.SIGSEGV)), 139)


OWN_HANDLER = """
#include <bsp.h>
#include <signal.h>
#include <unistd.h>
static void mine(int number) { (void)number; if (write(1, "mine\\n", 5) == 5) _exit(7); }
int main(void)
{
    signal(SIGSEGV, mine);
    bsp_begin(2);
    if (bsp_pid() == 1)
        raise(SIGSEGV);
    bsp_end();
}
"""


def a_handler_of_the_program():
    """It is left alone."""
    source = os.path.join(tempfile.mkdtemp(dir=scratch), "own.c")
    with open(source, "w", encoding="utf-8") as text:
        text.write(OWN_HANDLER)
    expect(run([os.path.join(BIN, "bspcc"), source, "-o", source[:-2]]), 0)
    result = expect(apart(source[:-2]), 7, out="^mine$")
    check("has failed here" not in result.err, result)


def a_stack_that_does_not_come():
    path = script("exec sleep 1000\n", name="eu-stack") + os.pathsep + os.environ["PATH"]
    expect(apart(PROG, "signal", 1, 11, env={"PATH": path}), 139,
           err=r"^bsprun: pid 1 has failed here:\n    no stack: it could not be obtained in time$")


def error_at_the_terminal():
    with debugged("-np", "2", "--attach-on-error", PROG, "signal", "1", "11") as job:
        job.wait_for("<signal handler called>")
        job.wait_for(PROMPT)
        say(job, "print bspz_rt.pid", r"^\$1 = 1\r?$")
        os.write(job.fd, b"\x03")
        say(job, "backtrace", "main ")
        say(job, "detach", "detached]")
        os.write(job.fd, b"quit\n")
        check(job.finish() == 139, job.text())
        check("bsprun: pid 1 was killed by signal 11" in job.text(), job.text())
        job.check_gone()


def misuse_at_the_terminal():
    with debugged("-np", "2", "--attach-on-error", PROG, "misuse", "1") as job:
        job.wait_for("^bspzero: .*pid 1")
        job.wait_for("bspz_fail ")
        job.wait_for(PROMPT)
        say(job, "detach", "detached]")
        os.write(job.fd, b"quit\n")
        check(job.finish() == 1, job.text())
        job.check_gone()


def error_in_a_window():
    """The time limit passes while the debugger is there, and does not end the job."""
    place = script('sleep 7; shift; "$@" > "$0.log" 2>&1 < /dev/null\n', name="window")
    result = apart("--xterm", "--timeout", 6, PROG, "signal", 1, 6,
                   env={"BSPZERO_XTERM": f"{place}/window -e", "HOME": scratch})
    expect(result, 134)
    with open(os.path.join(place, "window.log"), encoding="utf-8", errors="replace") as text:
        check("<signal handler called>" in text.read(), place)


def refused(words, text, env=None, status=2):
    result = run([BSPRUN, *words, PROG, "count", "3"], env=env, start_new_session=True)
    expect(result, status, out="^$", err=f"^bsprun: {text}")
    check(result.err.count("\n") == 1, result)


def what_is_refused():
    store = tempfile.mkdtemp(dir=scratch)
    refused(["--debug", "1"], "--debug needs a terminal, and bsprun in its foreground; --xterm gives")
    refused(["--debug", "1"], "--debug: gdb is not in PATH", env={"PATH": scratch})
    refused(["--debug", "1", "--xterm"], "--xterm: no-such-xterm is not in PATH; BSPZERO_XTERM may name",
            env={"BSPZERO_XTERM": "no-such-xterm -e"})
    refused(["--debug", "1", "--ckpt", store], "--debug in a job with snapshots: ")
    refused(["--debug", "1"], "--debug in a job with snapshots: ", env={"BSPZERO_CKPT": store})
    refused(["--debug", "x"], "--debug x: give pids of the job, such as 0 or 1,3, or all")
    refused(["--debug", "1,"], "--debug 1,: give pids of the job")
    refused(["--debug", "-1"], "--debug -1: give pids of the job")
    refused(["--debug", "99999"], "--debug 99999: a job has at most ")
    refused(["--debug", "0,1"], "--debug: the terminal has room for one debugger; --xterm")
    refused(["--debug", "all"], "--debug: the terminal has room for one debugger; --xterm")
    refused(["--xterm"], "--xterm is for --debug PID")
    refused(["--attach-on-error"], "--attach-on-error: neither gdb nor eu-stack is in PATH", env={"PATH": scratch})
    refused(["--attach-on-error", "--xterm"], "--attach-on-error: gdb is not in PATH", env={"PATH": scratch})
    refused(["--attach-on-error", "--ckpt", store], "--attach-on-error in a job with snapshots: ")
    refused(["--attach-on-error", "--launcher", RSH, "--hosts", "h0:1,h1:1"], "--attach-on-error on several hosts: ")
    check(not os.listdir(store), os.listdir(store))
    place = script("exit 1\n", name="window")
    refused(["--debug", "1", "--xterm", "--launcher", RSH, "--hosts", "h0:1,h1:1"],
            "--debug on several hosts: it reaches processes of this host only",
            env={"BSPZERO_XTERM": f"{place}/window -e"})


if not shutil.which("gdb"):
    print("no gdb: tools/install-deps installs what the tests need")
main([stops_in_bsp_begin, process_0, keys_are_for_the_debugger, killed_by_the_debugger,
      ended_while_it_is_debugged, a_debugger_that_fails, a_debugger_that_does_not_attach, in_windows,
      the_time_limit_is_off, no_such_process, stacks_without_a_terminal, a_handler_of_the_program,
      a_stack_that_does_not_come, error_at_the_terminal, misuse_at_the_terminal, error_in_a_window, what_is_refused])
