"""A person at a terminal, with and without relayed output: the program behaves the same."""
import fcntl
import os
import re
import shlex
import signal
import struct
import termios

from harness import BSPRUN, PROG, Job, check, main, process_stat, scratch, wait_until

DIRECT = [BSPRUN, "-np", "2"]
TAGGED = [BSPRUN, "--tag-output", "-np", "2"]
SPLIT = [BSPRUN, "-splitio", "-np", "2"]
BARE = []
ENV = {"BSP_PROCS": "2"}  # for BARE


def at_terminal(*command):
    return Job(command, env=ENV, terminal=True)


def set_size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def prompts_without_a_flush():
    """Before bsp_begin, within, and after bsp_end: a question is seen before it is answered."""
    for start in (BARE, DIRECT, TAGGED, SPLIT):
        for when in ("before", "within", "after"):
            with at_terminal(*start, PROG, "ask", when) as job:
                job.wait_for(r"number\? $")
                os.write(job.fd, b"17\n")
                check(job.finish() == 0, start, when, job.text())
                check(re.search(r"number\? 17\r\n(.*\n)?.*thanks for 17", job.text()),
                      "not asked, echoed, answered:", start, when, repr(job.text()))
                job.check_gone(at_once=start != BARE)


def program_finds_a_terminal():
    for start in (BARE, DIRECT, TAGGED, SPLIT):
        for when in ("before", "after"):
            with at_terminal(*start, PROG, "terminals", when) as job:
                check(job.finish() == 0, job.text())
                check("terminals 1 1 1" in job.text(), start, when, job.text())


def one_process_finds_it_throughout():
    with at_terminal(BSPRUN, "--tag-output", "-np", "1", PROG, "terminals", "within") as job:
        check(job.finish() == 0 and "[0] terminals 1 1 1" in job.text(), job.text())


def only_what_is_one():
    """A file in place of one of the streams stays visible as such."""
    path = os.path.join(scratch, "only")
    shell = '"$0" --tag-output -np 2 "$1" terminals before %s'
    with at_terminal("/bin/sh", "-c", shell % f"> {path}", BSPRUN, PROG) as job:
        check(job.finish() == 0, job.text())
    with open(path) as file:
        check("[0] terminals 1 0 1" in file.read(), "stdout to a file")
    with at_terminal("/bin/sh", "-c", shell % f"2> {path} < /dev/null", BSPRUN, PROG) as job:
        check(job.finish() == 0, job.text())
        check("[0] terminals 0 1 0" in job.text(), job.text())


def window_size_follows():
    for start in (DIRECT, TAGGED, SPLIT):
        with at_terminal("/bin/sh", "-c", 'read go; exec "$@"', "sh", *start, PROG, "windows",
                         "before") as job:
            set_size(job.fd, 33, 111)
            os.write(job.fd, b"\n")
            job.wait_for("window 33 111")
            set_size(job.fd, 44, 99)
            job.wait_for("window 44 99")


def order_on_a_terminal():
    """Process 0 and the others take turns; what comes before and after stays outside."""
    turns = 300
    with at_terminal(BSPRUN, "--tag-output", "-np", "3", PROG, "around", turns) as job:
        check(job.finish() == 0, job.text())
        check_order(job, turns)


def order_when_the_agent_is_late():
    """All of it lies there at once before any is passed on."""
    turns = 60
    with at_terminal(BSPRUN, "--tag-output", "-np", "3", PROG, "around", turns, "wait") as job:
        program = int(job.wait_for(r"waits (\d+)\r$")[0])
        agent = job.agent()
        os.kill(agent, signal.SIGSTOP)
        os.write(job.fd, b"\n")
        wait_until(lambda: waits_in_memory(program), "process 0 in bsp_begin")
        os.kill(agent, signal.SIGCONT)
        job.wait_for(r"ready 0")
        os.kill(agent, signal.SIGSTOP)
        os.write(job.fd, b"\n")
        wait_until(lambda: process_stat(program)[0] == "Z", "the end of process 0")
        os.kill(agent, signal.SIGCONT)
        check(job.finish() == 0, job.text())
        check_order(job, turns)


def waits_in_memory(os_pid):
    """Sleeps on a futex: as what is unread is no more than a terminal holds, in bsp_begin."""
    with open(f"/proc/{os_pid}/syscall") as file:
        return file.read().startswith("202 ")


def check_order(job, turns):
    lines = [line for line in job.text().split("\r\n")
             if re.match(r"\[.\] (first|turn|last|p =)", line)]
    wanted = ([f"[0] first {i}" for i in range(600)] +
              [f"[{i % 3}] turn {i}" for i in range(turns)] + ["[0] p = 3", "[0] last"])
    check(lines == wanted, job.text()[-3000:])


def long_output_on_a_terminal():
    script = "i=0; while [ $i -lt 20000 ]; do echo line $i of a long output; i=$((i+1)); done"
    with at_terminal(*TAGGED, "sh", "-c", script) as job:
        job.finish()
        lines = re.findall(r"^\[0\] line (\d+) of a long output\r$", job.text(), re.M)
        check(lines == [str(i) for i in range(20000)], "lines lost:", len(lines), job.text()[-200:])


def redirected_by_the_program():
    """A program's own stdout is its own, on every rank."""
    path = os.path.join(scratch, "redirected")
    with at_terminal(*TAGGED, PROG, "redirect", path) as job:
        check(job.finish() == 0 and job.text() == "", job.text())
    with open(path) as file:
        check(sorted(file.read().splitlines()) == ["line of 0", "line of 1", "p = 2"], "the file")


def secrets_are_not_echoed():
    for start in (BARE, DIRECT, TAGGED, SPLIT):
        with at_terminal(*start, PROG, "secret", "before") as job:
            job.wait_for(r"number\? $")
            os.write(job.fd, b"17\n")
            check(job.finish() == 0 and "thanks for 17" in job.text(), job.text())
            check("number? 17" not in job.text(), "echoed:", start, repr(job.text()))
            check(termios.tcgetattr(job.fd) == job.settings, "not restored")


def control_d():
    for start in (DIRECT, TAGGED, SPLIT):
        with at_terminal(*start, PROG, "cat") as job:
            job.wait_for("pid 1 reads nothing")
            os.write(job.fd, b"hello\n\x04")
            check(job.finish() == 0 and "read 6 bytes" in job.text(), job.text())


def control_c():
    """The job ends, and the terminal is as it was, whoever has ended how."""
    for start in (DIRECT, TAGGED, SPLIT):
        for mode in (["wait"], ["ask", "before"], ["ask", "within"], ["ask", "after"]):
            with at_terminal(*start, PROG, *mode) as job:
                job.wait_for(r"number\? $|ready 1")
                os.write(job.fd, b"\x03")
                check(job.finish() == 130, start, mode, job.status, job.text())
                check("signal" in job.text(), job.text())
                check(termios.tcgetattr(job.fd) == job.settings, "not restored", start, mode)
                job.check_gone()


def bsprun_is_killed():
    with at_terminal(*TAGGED, PROG, "ask", "before") as job:
        job.wait_for(r"number\? $")
        job.signal(9)
        job.check_gone(at_once=False)
        check(termios.tcgetattr(job.fd) == job.settings, "not restored")


def nobody_reads(job):
    """Of the program, what can run is stopped: one still in read() would take what is typed next."""
    states = [process_stat(pid) for pid, name in job.members().items()
              if name == os.path.basename(PROG)]
    return states and all(stat and stat[0] == "T" for stat in states)


def control_z():
    """Stopped by the key, listed by the shell, continued in the foreground, then answered."""
    for start in (DIRECT, TAGGED):
        with at_terminal("/bin/bash", "--norc", "--noprofile", "-i") as job:
            os.write(job.fd, f"{shlex.join([*map(str, start), PROG])} ask before\n".encode())
            job.wait_for(r"number\? $")
            os.write(job.fd, b"\x1a")
            job.wait_for(r"Stopped")
            wait_until(lambda: nobody_reads(job), "the program stops")
            os.write(job.fd, b"fg\n")
            job.wait_for(r"(?m)^fg\r|fg\r$")
            os.write(job.fd, b"18\n")
            job.wait_for("thanks for 18")
            job.wait_for("p = 2")
            os.write(job.fd, b"exit\n")
            check(job.finish() == 0, job.text())
            job.check_gone()


if __name__ == "__main__":
    main([prompts_without_a_flush, program_finds_a_terminal, one_process_finds_it_throughout,
          only_what_is_one, window_size_follows, order_on_a_terminal,
          order_when_the_agent_is_late, long_output_on_a_terminal, redirected_by_the_program,
          secrets_are_not_echoed, control_d, control_c, bsprun_is_killed, control_z])
