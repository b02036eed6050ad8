"""Standard streams, arguments, environment: what the program sees and what the user sees."""
import fcntl
import os
import re
import signal
import struct
import subprocess
import termios

from harness import BSPRUN, PROG, Job, bsprun, check, expect, main, run, scratch, wait_until

NOBODY_ELSE_READS = r"(?m)^pid 1 reads nothing$"


def stdin_from_a_file():
    path = os.path.join(scratch, "input")
    with open(path, "w") as file:
        file.write("x" * 100001)
    for command, env in (([BSPRUN, "-np", "2"], {}), ([], {"BSP_PROCS": "2"})):
        with open(path) as file:
            result = run([*command, PROG, "cat"], env=env, stdin=file)
        expect(result, 0, out="^read 100001 bytes$", no_err=True)
        expect(result, 0, out=NOBODY_ELSE_READS)


def stdin_from_a_pipe():
    for command, env in (([BSPRUN, "-np", "2"], {}), ([], {"BSP_PROCS": "2"})):
        result = run([*command, PROG, "cat"], env=env, stdin_data=b"y" * 300000)
        expect(result, 0, out="^read 300000 bytes$", no_err=True)
        expect(result, 0, out=NOBODY_ELSE_READS)


def stdin_from_a_terminal():
    for command, env in (([BSPRUN, "-np", "2"], {}), ([], {"BSP_PROCS": "2"})):
        with Job([*command, PROG, "cat"], env=env, terminal=True) as job:
            job.wait_for("pid 1 reads nothing")
            os.write(job.fd, b"hello\n\x04")
            check(job.finish() == 0, job.text())
            check("read 6 bytes" in job.text(), job.text())
            job.check_gone(at_once=BSPRUN in command)


def stdin_closed():
    expect(run(["sh", "-c", 'exec "$0" -np 2 "$1" cat <&-', BSPRUN, PROG]), 0, out="^read 0 bytes$")


def writer_of_our_stdin_is_told():
    """When the program has ended, nobody holds its input open."""
    process = subprocess.Popen(["sh", "-c", 'yes | "$0" -np 2 "$1" count 3', BSPRUN, PROG],
                               stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=60)
    check(process.returncode == 0 and b"p = 2" in out, out)


def stdout_to_a_file_keeps_order():
    path = os.path.join(scratch, "output")
    with open(path, "w") as file:
        expect(bsprun("-np", 4, PROG, "talk", 25, stdout=file), 0)
    with open(path) as file:
        lines = file.read().splitlines()
    check(lines[-1] == "p = 4" and len(lines) == 101, lines)
    for i in range(25):
        check(sorted(lines[4 * i:4 * i + 4]) == [f"line {i} of {pid}" for pid in range(4)], lines)


def tagged_output():
    result = expect(bsprun("--tag-output", "-np", 3, PROG, "talk", 20), 0, no_err=True)
    lines = result.out.splitlines()
    check(lines[-1] == "[0] p = 3" and len(lines) == 61, result)
    for i in range(20):
        check(sorted(lines[3 * i:3 * i + 3]) == [f"[{pid}] line {i} of {pid}" for pid in range(3)],
              result)
    result = expect(bsprun("--tag-output", "-np", 2, PROG, "stderr"), 0)
    check(sorted(result.err.splitlines()) == ["[0] complaint of 0", "[1] complaint of 1"], result)


def prompts_on_a_terminal():
    """A question without an end of line is seen before it is answered, in every mode."""
    for command, question in (([BSPRUN, "-np", "2"], r"^number\? $"), ([], r"^number\? $"),
                              ([BSPRUN, "--tag-output", "-np", "2"], r"^\[0\] number\? $"),
                              ([BSPRUN, "-splitio", "-np", "2"], r"stdout ---\r\nnumber\? $")):
        with Job([*command, PROG, "prompt"], env={"BSP_PROCS": "2"}, terminal=True) as job:
            job.wait_for(question)
            os.write(job.fd, b"17\n")
            check(job.finish() == 0, job.text())
            check("thanks for 17" in job.text(), job.text())


def split_output():
    result = expect(bsprun("-splitio", "-np", 2, PROG, "stderr"), 0)
    check(result.out == " --- host BSP pid 0 - stdout ---\np = 2\n", result)
    lines = result.err.splitlines()
    check(len(lines) == 4, result)
    for pid in (0, 1):
        at = lines.index(f" --- host BSP pid {pid} - stderr ---")
        check(lines[at + 1] == f"complaint of {pid}", result)
    # No banner where nothing changes.
    result = expect(bsprun("-splitio", "-np", 1, PROG, "talk", 9), 0)
    check(result.out.count("---\n") == 1, result)


def relayed_output_is_complete():
    """All of it, also what comes last and without an end of line, also when the job fails."""
    script = f"printf early; '{PROG}' talk 200; printf last"
    result = expect(bsprun("--tag-output", "-np", 2, "sh", "-c", script), 0)
    check(result.out.count("\n") == 402 and result.out.endswith("[0] last\n"), result.out[-300:])
    result = expect(bsprun("--tag-output", "-np", 3, PROG, "abort", 1, "it"), 1,
                    err=r"^\[1\] ABORT\(pid  1\):as told by it$")
    big = "i=0; while [ $i -lt 40000 ]; do echo line $i of a long output; i=$((i+1)); done"
    result = bsprun("-splitio", "sh", "-c", big)
    check(result.out.count("\n") == 40001, result.out[-300:])


def children_of_ranks_are_attributed():
    script = f"'{PROG}' count 2; echo from a child"
    result = expect(bsprun("--tag-output", "-np", 2, "sh", "-c", script), 0)
    check("[0] from a child" in result.out, result)


def reader_goes_away():
    """`bsprun ... | head -1`: the job ends with the status a shell expects and says nothing, nothing
    hangs, nothing is left.  With -v it says what happened."""
    script = '{ "$0" "$@"; echo "status $?" >&2; } | head -1'
    for option in ([], ["--tag-output"], ["-v"]):
        with Job(["sh", "-c", script, BSPRUN, *option, "-np", "2", PROG, "talk",
                  "1000000"]) as job:
            job.finish()
            job.check_gone(at_once=False)
            check("status 141" in job.text(), job.text())
            told = "signal 13" in job.text() and "pid 0: last call" in job.text()
            check(told if option == ["-v"] else "bsprun:" not in job.text(), job.text())
            check(option == ["-v"] or "last call" not in job.text(), job.text())


def reader_of_a_bare_run_goes_away():
    """The same without bsprun, with one process and with several; and a process that is killed
    otherwise, or has no stdout, is still told of."""
    script = '{ "$0" "$@"; echo "status $?" >&2; } | head -1'
    for nprocs in ("1", "3"):
        for words in (["talk", "1000000"], ["flood"]):
            with Job(["sh", "-c", script, PROG, *words], env={"BSP_PROCS": nprocs}) as job:
                job.finish()
                job.check_gone(at_once=False)
                check("status 141" in job.text(), job.text())
                check("bspzero:" not in job.text() and "last call" not in job.text(), job.text())
        with Job(["sh", "-c", script, PROG, "signal", "0", str(int(signal.SIGPIPE))],
                 env={"BSP_PROCS": nprocs}) as job:
            job.finish()
            check("bspzero: pid 0" in job.text(), job.text())


def reader_does_not_read():
    """Output that nobody takes stops nothing but itself: the first interrupt ends the ranks, the
    second one does not wait for the reader either."""
    with Job([BSPRUN, "--tag-output", "-np", "2", PROG, "flood"]) as job:
        job.wait_for("flood")
        wait_until(lambda: bytes_in_pipe(job.fd) > 60000, "a full pipe")
        job.signal(signal.SIGINT)
        wait_until(lambda: sorted(job.members().values()) == ["bspnode", "bsprun"],
                   "the end of the ranks")
        job.signal(signal.SIGINT)
        wait_until(lambda: not job.members(), "the end of bsprun")
        # What it says to a shell is 130 either way: it may have been waiting for the reader only.
        check(job.finish() in (130, -signal.SIGINT), job.status, job.text()[-300:])


def slow_reader_gets_all():
    with Job([BSPRUN, "--tag-output", "-np", "2", PROG, "flood", "40000"]) as job:
        wait_until(lambda: bytes_in_pipe(job.fd) > 60000, "a full pipe")
        check(job.finish() == 0, job.text()[-300:])
        for pid in (0, 1):
            numbers = re.findall(rf"^\[{pid}\] flood (\d+)$", job.text(), re.M)
            check(numbers == [str(i) for i in range(40000)], "lines lost", len(numbers))


def bytes_in_pipe(fd):
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]


def arguments_unchanged():
    words = ["", "two words", "'quote'", '"double"', "$HOME", "*", "\\", "-np", "--help", "ä\n"]
    result = expect(bsprun("-np", 2, PROG, "arguments", *words), 0)
    shown = "".join(f"[{word}]\n" for word in [PROG, "arguments", *words])
    check(result.out.startswith(shown), repr(result.out))


def name_as_given():
    here, name = os.path.split(PROG)
    result = expect(bsprun("-np", 2, name, "arguments", env={"PATH": here + ":/usr/bin:/bin"}), 0)
    check(result.out.startswith(f"[{name}]\n"), result)


def variables():
    show = [PROG, "variable"]
    expect(bsprun("-x", "INTEG_A=b c=d", *show, "INTEG_A"), 0, out="^INTEG_A=b c=d$")
    expect(bsprun("-x", "INTEG_B", *show, "INTEG_B", env={"INTEG_B": "7"}), 0, out="^INTEG_B=7$")
    expect(bsprun(*show, "INTEG_C", env={"INTEG_C": "8"}), 0, out="^INTEG_C=8$")
    expect(bsprun("-np", 3, *show, "BSP_PROCS"), 0, out="^BSP_PROCS=3$")
    expect(bsprun(*show, "BSP_PROCS"), 0, out=r"^BSP_PROCS=\(unset\)$")
    # Programs that the program starts are not part of the job.
    expect(bsprun("-np", 2, *show, "BSPZERO_BOARD"), 0, out=r"^BSPZERO_BOARD=\(unset\)$")


def open_descriptors_are_inherited():
    result = run(["sh", "-c", 'exec "$0" -np 2 sh -c "echo through >&7; exec \\"$1\\"" 7>&1', BSPRUN,
                  PROG])
    expect(result, 0, out="^through$")


if __name__ == "__main__":
    main([stdin_from_a_file, stdin_from_a_pipe, stdin_from_a_terminal, stdin_closed,
          writer_of_our_stdin_is_told, stdout_to_a_file_keeps_order, tagged_output,
          prompts_on_a_terminal, split_output, relayed_output_is_complete,
          children_of_ranks_are_attributed, reader_goes_away,
          reader_of_a_bare_run_goes_away, reader_does_not_read,
          slow_reader_gets_all, arguments_unchanged, name_as_given, variables,
          open_descriptors_are_inherited])
