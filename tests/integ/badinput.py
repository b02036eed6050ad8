"""Wrong calls and hostile surroundings: one clear message, a status, nothing left behind."""
import os
import re
import resource
import stat
import subprocess

from harness import BSPRUN, PROG, RSH, bsprun, check, expect, main, run, scratch


def one_message(result, status, pattern):
    """A single line, that says it and who says it."""
    expect(result, status, err=pattern)
    check(result.err.count("\n") == 1, "one line, please:", result)
    check(result.err.startswith(("bsprun: ", "bspzero: ")), result)


def number_of_processes():
    for word in ("0", "-1", "4097", "100000", "99999999999999999999"):
        one_message(bsprun("-np", word, PROG), 2,
                    f"^bsprun: -np {word}: the number of processes must be from 1 to 4096$")
    for word in ("abc", "2x", "", "1.5", " "):
        one_message(bsprun("-np", word, PROG), 2,
                    f"^bsprun: -np {word} is not a number of processes: give 1 to 4096$")
    one_message(bsprun("-np"), 2, "^bsprun: -np needs a value after it")


def variable_bsp_procs():
    for word in ("abc", "0", "-3", "100000", "2 3"):
        one_message(bsprun(PROG, env={"BSP_PROCS": word}), 2, f"^bsprun: BSP_PROCS={word}")
        result = run([PROG], env={"BSP_PROCS": word})
        check(result.status != 0, result)
        one_message(result, result.status, f"^bspzero: .*BSP_PROCS={word}")
    expect(bsprun("-np", 2, PROG, env={"BSP_PROCS": "abc"}), 0, out="^p = 2$")
    expect(bsprun(PROG, env={"BSP_PROCS": "3"}), 0, out="^p = 3$", no_err=True)


def unknown_options():
    one_message(bsprun("--timout", 3, PROG), 2,
                "^bsprun: unknown option --timout: did you mean --timeout")
    one_message(bsprun("-spltio", PROG), 2, "did you mean --splitio")
    one_message(bsprun("--restrt=3", PROG), 2,
                "^bsprun: unknown option --restrt=3: did you mean --restart")
    for word in ("-q", "--z", "-q7"):
        one_message(bsprun(word, PROG), 2, f"^bsprun: unknown option {word}: bsprun --help")
    one_message(bsprun("--frobnicate", PROG), 2,
                "^bsprun: unknown option --frobnicate: bsprun --help")
    # Of mpirun and srun: neither -h, nor -p or -n with a value.
    one_message(bsprun("-host", "a,b", PROG), 2, "^bsprun: unknown option -host: did you mean --hosts")
    for word in ("-ppn", "-nodes", "-nodes=2", "-pernode"):
        one_message(bsprun(word, 2, PROG), 2, f"^bsprun: unknown option {word}: ")
    expect(bsprun("--help", "-host"), 0, out="^Usage", no_err=True)


def reports_that_cannot_be_written():
    """It is said before a job begins that may take days.  Who reads a pipe is not told that it has ended."""
    for path, why in (("no such/report", "No such file or directory"), (".", "Is a directory")):
        path = os.path.join(scratch, path)
        for words in ([f"--report={path}"], ["--report=html", path]):
            one_message(bsprun("-np", 1, *words, PROG), 2, f"^bsprun: {' '.join(words)}: {why}$")
    one_message(bsprun("--report=", PROG), 2, "^bsprun: --report=: the name of the file is empty$")
    one_message(bsprun("--report=html"), 2, "^bsprun: --report=html needs a value after it")
    one_message(bsprun("--report=html", "-np", 2, PROG), 2,
                "^bsprun: --report=html -np: this is an option; the file comes first, and is "
                "./-np if that is its name$")
    pipe = os.path.join(scratch, "pipe")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        expect(bsprun("-np", 1, f"--report={pipe}", PROG, "count", 5), 0)
        check('"status":' in reader.communicate()[0])


def bad_values():
    for word in ("0", "-1", "soon", "nan", "inf", "1e300", ""):
        one_message(bsprun("--timeout", word, PROG), 2, f"^bsprun: --timeout {word}: give a number")
    for words, message in ((("--bind", "nothing"), "--bind-to nothing: give core, hwthread, package "),
                           (("--bind-to", "l3cache"), "--bind-to l3cache: give core, hwthread, "),
                           (("--map-by", "board"), "--map-by board: give slot, node, core, "),
                           (("--map-by", "socket", "--bind-to", "none"),
                            "--map-by package and --bind-to none: ")):
        one_message(bsprun(*words, PROG), 2, f"^bsprun: {re.escape(message)}")
    one_message(bsprun("-x", "INTEG_NO_SUCH", PROG), 2,
                "^bsprun: -x INTEG_NO_SUCH: no such variable")
    one_message(bsprun("-x", "=3", PROG), 2, "^bsprun: -x =3: give a variable")
    one_message(bsprun(PROG, env={"BSPZERO_FAULT": "explode:1"}), 2, "^bsprun: BSPZERO_FAULT")


def no_program():
    one_message(bsprun(), 2, "^bsprun: no program given")
    one_message(bsprun("-np", 2), 2, "^bsprun: no program given")
    one_message(bsprun("-np", 2, ""), 2, "^bsprun: the name of the program is empty$")


def unknown_program():
    one_message(bsprun("./no-such-program"), 127, r"^bsprun: \./no-such-program: no such program$")
    one_message(bsprun("no-such-program-in-path"), 127,
                "^bsprun: no-such-program-in-path: no such program, neither in PATH nor in")
    one_message(bsprun(PROG + "/below"), 127, "no such program$")


def not_a_program():
    text = os.path.join(scratch, "text.c")
    with open(text, "w") as file:
        file.write("int main() { return 0; }\n")
    one_message(bsprun(text), 126, f"^bsprun: {text}: is not executable: compile it with bspcc")
    one_message(bsprun(scratch), 126, f"^bsprun: {scratch}: is a directory, not a program$")
    os.chmod(text, 0o755)
    one_message(bsprun(text), 126, f"^bsprun: {text}: is not a program that this machine can run$")
    script = os.path.join(scratch, "script")
    with open(script, "w") as file:
        file.write("#!/no/such/interpreter\n")
    os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
    one_message(bsprun(script), 126,
                "exists, but the interpreter or loader that it names does not$")


def without_libbsp():
    one_message(bsprun("true"), 1,
                "^bsprun: true ended without calling bsp_begin: was it linked with bspcc\\?$")
    one_message(bsprun("false"), 1, "^bsprun: false ended with an error and without calling")


def program_from_here_and_path():
    here, name = os.path.split(PROG)
    expect(bsprun("-np", 2, name, cwd=here), 0, out="^p = 2$", no_err=True)
    expect(bsprun("-np", 2, name, env={"PATH": here + ":" + os.environ["PATH"]}), 0, out="^p = 2$")


def at_most(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def limits():
    """No shared memory, no address space, no processes: said, and cleaned up."""
    one_message(bsprun("-np", 2, PROG, preexec_fn=at_most(resource.RLIMIT_FSIZE, 4096)), 1,
                "^bsprun: no shared memory for the job: File too large$")
    # Room for the board, none for the ranks.
    result = bsprun("-np", 40, PROG, preexec_fn=at_most(resource.RLIMIT_FSIZE, 131072))
    one_message(result, 1, "^bsprun: no shared memory for 40 processes: File too large")
    # Room for what the agent needs, none for what the ranks do.
    result = bsprun("-np", 1, PROG, preexec_fn=at_most(resource.RLIMIT_FSIZE, 200000))
    one_message(result, 1, "^bspzero: .* no address space for the shared memory of 1 process ")
    result = run([PROG], env={"BSP_PROCS": "2"},
                 preexec_fn=at_most(resource.RLIMIT_FSIZE, 4096))
    check(result.status != 0 and "bspzero: " in result.err, result)
    # Room for all of it, but not for memory of the program that could be as long as any.
    expect(bsprun("-np", 2, "--ckpt", os.path.join(scratch, "limited"), PROG,
                  preexec_fn=at_most(resource.RLIMIT_FSIZE, 1 << 30)), 0, out="^p = 2$", no_err=True)
    # None for the records of a job, nor for all of the output.
    result = bsprun("--ckpt", os.path.join(scratch, "short"), PROG, preexec_fn=at_most(resource.RLIMIT_FSIZE, 16))
    one_message(result, 1, "^bsprun: .*File too large")
    check(os.listdir(os.path.join(scratch, "short")) == ["lock"], "a job without records is left")
    with open(os.path.join(scratch, "shown"), "wb") as shown:
        shown.seek((1 << 30) - 100)
        result = bsprun("--tag-output", "-np", 1, PROG, "talk", 1000, stdout=shown,
                        preexec_fn=at_most(resource.RLIMIT_FSIZE, 1 << 30))
        one_message(result, 1, "^bsprun: cannot write the output: File too large$")
    # An agent that may not watch as many processes as were made.
    result = bsprun("-np", 60, PROG, preexec_fn=at_most(resource.RLIMIT_NOFILE, 40))
    one_message(result, 1, "^bsprun: 60 processes are too many to watch: Too many open files")
    soft = (40, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    expect(bsprun("-np", 60, PROG,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, soft)), 0)


def few_processes():
    """As few_descriptors.  How many there may be depends on what else this user runs."""
    if os.getuid() == 0:  # not bound by it
        return
    others = subprocess.run(["ps", "-L", "-U", str(os.getuid()), "-o", "lwp="], text=True,
                            stdout=subprocess.PIPE, check=True).stdout.count("\n") - 1
    for more in range(12):
        result = bsprun("-np", "4", PROG, preexec_fn=at_most(resource.RLIMIT_NPROC, others + more))
        if result.status == 0:
            expect(result, 0, out=r"p = 4$", no_err=True)
        else:
            one_message(result, result.status, "temporarily unavailable")


def few_descriptors():
    """However few there are: it works, or one line says why it does not, and nothing is left."""
    for command in ([BSPRUN, "-np", "4"], [BSPRUN, "--tag-output", "-np", "4"], []):
        for most in (*range(4, 20), 24, 32):
            result = run([*command, PROG], env={"BSP_PROCS": "4"},
                         preexec_fn=at_most(resource.RLIMIT_NOFILE, most))
            if result.status == 0:
                expect(result, 0, out=r"p = 4$", no_err=True)
            elif "shared libraries" not in result.err:  # then it was not we who failed
                one_message(result, result.status, "Too many open files .*ulimit -n|agent")


def too_many_wanted():
    """bsp_begin asks for more than there can be."""
    result = bsprun(PROG, "want", 100000)
    check(result.status != 0, result)
    check("100000" in result.err or "4096" in result.err, result)


def closed_standard_streams():
    for redirection in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        expect(run(["sh", "-c", f'exec "$0" "$@" {redirection}', BSPRUN, "-np", "2", PROG,
                    "descriptors"]), 0)
        result = run(["sh", "-c", f'exec "$0" "$@" {redirection}', BSPRUN, "./none"])
        expect(result, 127)
        result = run(["sh", "-c", f'exec "$0" "$@" {redirection}', PROG],
                     env={"BSP_PROCS": "2"})
        expect(result, 0)


def without_devices():
    """No /dev/null: a job does without, unless a closed stream needs it."""
    private = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    hide = "mount -t tmpfs none /dev && "
    if subprocess.run([*private, "sh", "-c", hide + "true"], stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        return  # such name spaces are not for everybody
    for command in ('"$0" -np 2 "$1"', '"$0" --tag-output -np 2 "$1"', '"$1"'):
        result = run([*private, "sh", "-c", hide + command, BSPRUN, PROG], env={"BSP_PROCS": "2"})
        expect(result, 0, out="p = 2$", no_err=True)
    result = run([*private, "sh", "-c", hide + '"$0" -np 2 "$1" <&-', BSPRUN, PROG])
    one_message(result, 1, "^bsprun: /dev/null, .*: No such file")


def full_disk():
    with open("/dev/full", "wb") as full:
        for words in ([PROG], [PROG, "talk", 100000]):  # all at its end, and while it runs
            result = bsprun("--tag-output", "-np", 2, *words, stdout=full)
            one_message(result, 1, "^bsprun: cannot write the output: No space left on device$")
        expect(bsprun("--help", stdout=full), 1)


def small_stack():
    """With a stack of 128 KiB, some of which the environment has, all works that works with a large one; with less nothing does."""
    def little(*words, size=128):
        return run(["prlimit", f"--stack={size * 1024}:", *words], env={"PADDING": "x" * 20000})

    store = os.path.join(scratch, "little")
    expect(little(BSPRUN, "-np", "2", PROG), 0, out="^p = 2$", no_err=True)
    expect(little(BSPRUN, "-np", "2", "--ckpt", store, "--every", "1", PROG), 0, out="^p = 2$", no_err=True)
    expect(little(BSPRUN, "--hosts", "h0:1,h1:1", "--launcher", RSH, PROG), 0, out="^p = 2$", no_err=True)
    one_message(little(BSPRUN, "-np", "2", PROG, size=96), 1,
                r"^bsprun: the stack is limited to 96 KiB, and at least 128 are needed: raise the limit \(ulimit -s\)$")


if __name__ == "__main__":
    main([number_of_processes, variable_bsp_procs, unknown_options, reports_that_cannot_be_written, bad_values, no_program,
          unknown_program, not_a_program, without_libbsp, program_from_here_and_path, limits, few_descriptors, few_processes,
          too_many_wanted, closed_standard_streams, without_devices, full_disk, small_stack])
