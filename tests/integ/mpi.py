"""The MPI subset: programs beside the same source under Open MPI and MPICH, on one host and on several, used wrongly,
and stuck."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, expect, main, run, scratch, wait_until

HERE = os.path.dirname(os.path.realpath(__file__))
APPS = os.path.join(HERE, os.pardir, os.pardir, "apps", "mpi")
CASES = os.environ["INTEG_MPI"]
HOSTS = [["-np", "4"], ["--launcher", RSH, "--hosts", "h0:1,h1:2,h2:1"]]
STUCK = r"^bsprun: all processes wait, and nothing is on its way to them:$"
PROGRAMS = {"pi": [], "matmul": ["120"], "jacobi": [], "oddeven": [], "ring": [], "life": [], "samplesort": ["30000"],
            "farm": []}


def compiled(compiler, name, tag):
    out = os.path.join(scratch, f"{name}.{tag}")
    done = subprocess.run([compiler, "-O1", "-w", os.path.join(APPS, name + ".c"), "-o", out], capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    return out


def under(launcher, *words):
    """What the program prints there; all that it prints is by process 0."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    done = subprocess.run([launcher, "-np", "4", *words], env=environment, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    check(done.returncode == 0, done.stderr)
    return done.stdout


def as_under_a_real_mpi():
    """Byte for byte; where a real MPI is missing, as on one host."""
    for name, words in PROGRAMS.items():
        ours = compiled(os.path.join(BIN, "bspmpicc"), name, "bsp")
        wanted = {}
        for kind in ("openmpi", "mpich"):
            compiler, launcher = shutil.which("mpicc." + kind), shutil.which("mpirun." + kind)
            if compiler and launcher:
                wanted[kind] = under(launcher, compiled(compiler, name, kind), *words)
        for where in HOSTS:
            for direct in ("", "1000000000000"):
                result = expect(bsprun(*where, ours, *words, env={"BSPZERO_DIRECT": direct}), 0, no_err=True)
                wanted.setdefault("one host", result.out)
                for kind, text in wanted.items():
                    check(result.out == text, name, kind, where, result.out, text)


def all_is_right():
    for where in HOSTS:
        for case in ("sizes", "order", "collective", "testing", "unstopped"):
            for direct in ("", "1000000000000"):
                result = expect(bsprun(*where, CASES, case, env={"BSPZERO_DIRECT": direct}), 0, no_err=True)
                check(sorted(result.out.splitlines()) == [f"{case}: pid {pid}: 0 wrong" for pid in range(4)], result.out)


def any_number_of_processes():
    for count in (1, 2, 3, 4, 5, 7, 8):
        for case in ("collective", "sizes", "alike"):
            result = expect(bsprun("-np", count, CASES, case), 0, no_err=True)
            check(sorted(result.out.splitlines()) == [f"{case}: pid {pid}: 0 wrong" for pid in range(count)], result.out)


def without_bsprun():
    result = expect(run([CASES, "collective"], env={"BSP_PROCS": "3"}), 0, no_err=True)
    check(len(result.out.splitlines()) == 3, result.out)


def wrong_use():
    """Ends the job with one line that names the call, its line and the process."""
    for case, call, what in (
            ("long", "Recv", r"pid 0 of 4, superstep 0: the message of process 1 with tag 3 has 40 bytes, and there is room for 20"),
            ("peer", "Send", r"pid \d of 4, superstep 0: there is no process 4: they are 0 to 3"),
            ("tag", "Send", r"pid \d of 4, superstep 0: a tag is not negative, but -5 is"),
            ("count", "Bcast", r"pid \d of 4, superstep 0: negative count -1"),
            ("root", "Bcast", r"pid \d of 4, superstep 0: there is no process 4 to be the root: they are 0 to 3"),
            ("op", "Allreduce", r"pid \d of 4, superstep 0: this operation is not for this datatype"),
            ("type", "Bcast", r"pid \d of 4, superstep 0: this is not a datatype, or one without MPI_Type_commit"),
            ("much", "Bcast", r"pid \d of 4, superstep 0: 4 elements of 4611686018427387904 bytes are 2\^63 bytes or more"),
            ("sizes", "Bcast", r"pid \d of 4, superstep 0: process 0 gives 12 bytes, this one expects 8")):
        result = expect(bsprun("-np", "4", CASES, "wrong", case), 1)
        check(re.fullmatch(rf"bspzero: \S*mpi_cases\.c:\d+: MPI_{call}: {what}\n", result.err), case, result.err)
    expect(bsprun("-np", "4", CASES, "early"), 1, err=r"mpi_cases\.c:\d+: MPI_Barrier: pid -1: called before MPI_Init$")


def aborted():
    for where in HOSTS:
        expect(bsprun(*where, CASES, "wrong", "abort"), 7, err=r"mpi_cases\.c:\d+: MPI_Abort: pid 1 of 4: status 7$")


def stuck():
    waits = {"receive": ["MPI_Recv, from process 3 with tag 4"] + 3 * ["MPI_Recv, from any process with any tag"],
             "mixed": ["MPI_Barrier", "MPI_Ssend, to process 0 with tag 3", "a barrier", "a barrier"],
             "objects": ["MPI_Recv, from process 1 with tag 2"] + 3 * ['volpex_get of "none"'],
             "full": ["MPI_Send, to process 1 with tag 1"] + 3 * ["a barrier"]}
    for where in HOSTS:
        for case, lines in waits.items():
            result = expect(bsprun(*where, CASES, "wrong", case), 1, err=STUCK)
            for pid, line in enumerate(lines):
                check(re.search(rf"^  pid {pid}: {line}$", result.err, re.M), result.err)


def a_process_that_dies():
    with Job([BSPRUN, "-np", "3", CASES, "wrong", "receive"]) as job:
        check(job.finish() == 1, job.status, job.text())
    program = os.path.join(scratch, "spin.c")
    with open(program, "w") as file:
        file.write('#include <mpi.h>\n#include <stdio.h>\n#include <unistd.h>\n'
                   "int main(int c, char **v) { int r; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);\n"
                   'printf("ready\\n"); fflush(stdout); while (r == 0) pause();\n'
                   "MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n")
    check(subprocess.run([os.path.join(BIN, "bspmpicc"), program, "-o", program[:-2]]).returncode == 0)
    with Job([BSPRUN, "-np", "2", program[:-2]]) as job:
        job.wait_for(r"^ready\r?$", 2)
        victims = [pid for pid, name in job.members().items() if name == "spin"]
        os.kill(victims[0], signal.SIGKILL)
        check(job.finish() == 137, job.status, job.text())


def without_finalize():
    """The call that is missing is named as the program would name it."""
    program = os.path.join(scratch, "leaves")
    check(compile_to(program, "#include <mpi.h>\n#include <unistd.h>\nint main(int c, char **v) { int r; MPI_Init(&c, &v); "
                     "MPI_Comm_rank(MPI_COMM_WORLD, &r); if (r == 0) MPI_Barrier(MPI_COMM_WORLD); "
                     "if (c > 1) _exit(3); return 0; }\n"))
    expect(bsprun("-np", 2, program), 1, err=r"^bsprun: pid 1 called exit\(0\) in superstep 0 before MPI_Finalize$")
    expect(bsprun("-np", 2, program, "now"), 3,
           err=r"^bsprun: pid 1 ended with status 3 without MPI_Finalize in superstep 0, last call MPI_Comm_rank")


HANDLER = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void finalize(void) { int is_there; MPI_Initialized(&is_there); if (is_there) MPI_Finalize(); }
static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }
int main(int argc, char **argv)
{
    int rank, child = 0, status = 0;

    atexit(strcmp(argv[argc - 1], "meet") == 0 ? meet : finalize);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 42);
    if (strcmp(argv[1], "kill") == 0 && rank == 1)
        raise(SIGKILL);
    if (strcmp(argv[1], "stuck") == 0 || strcmp(argv[1], "kill") == 0)
        MPI_Recv(&child, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "fork") == 0 && rank == 1) {
        child = fork();
        if (child == 0)
            exit(0);
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
    }
    return 0;
}
"""


def ended_after_finalize():
    """By a signal: the call is named as the program would name it."""
    program = os.path.join(scratch, "lasts")
    check(compile_to(program, "#include <mpi.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(int c, char **v) { MPI_Init(&c, &v);"
                     'MPI_Finalize(); printf("ready\\n"); fflush(stdout); for (;;) pause(); }\n'))
    with Job([BSPRUN, "-v", "-np", "2", program]) as job:
        job.wait_for(r"^ready\r?$")
        def all_have_ended():
            """... and the agent knows."""
            result = run([os.path.join(BIN, "bspstat"), "--json", str(job.os_pid)])
            ranks = json.loads(result.out)["ranks"] if result.status == 0 else []
            return len(ranks) == 2 and ranks[1]["os_pid"] == 0 and all(rank["state"] == "ended" for rank in ranks)
        wait_until(all_have_ended, "the end of process 1")
        job.signal(signal.SIGTERM)
        check(job.finish() == 143, job.status, job.text())
        check("ended by signal 15 (Terminated) after MPI_Finalize" in job.text(), job.text())


def finalize_in_an_exit_handler():
    """It ends the parallel part; in a process that leaves for another reason it does not return, and hides no status."""
    program = os.path.join(scratch, "handler")
    check(compile_to(program, HANDLER))
    expect(bsprun("-np", 3, program, "end"), 0, no_err=True)
    for environment in ({}, {"BSP_PROCS": "3"}):
        launcher = [] if environment else [BSPRUN, "-np", "3"]
        result = expect(run([*launcher, program, "abort"], env=environment), 42)
        check(result.err and all("MPI_Abort: pid" in line for line in result.err.splitlines()), result.err)
        result = expect(run([*launcher, program, "abort", "meet"], env=environment), 42)
        check(not re.search("before MPI_Init", result.err), result.err)
    check("MPI_Finalize" not in expect(bsprun("-np", 3, program, "kill"), 137).err, "the handler is to blame")
    check("MPI_Finalize" not in expect(bsprun("-np", 3, program, "stuck"), 1, err=STUCK).err, "the handler is to blame")
    expect(bsprun("-np", 3, program, "kill", "meet"), 137)
    # Without bsprun the agent waits for process 0, if it is on its way out, before it kills.
    expect(run([program, "kill", "meet"], env={"BSP_PROCS": "2"}), 137,
           err=r"MPI_Barrier: pid 0 of 2, superstep 0: called while the process is ending \(in an exit handler\?\)$")
    expect(bsprun("-np", 3, program, "fork"), 0, out="^child 1$",
           err=r"MPI_Finalize: pid 1 of 3, superstep 0: called in a process that the program forked itself; only processes made by "
               r"MPI_Init may call MPI$")


def errors_of_the_beginning():
    """They name MPI_Init, which makes the processes with bsp_begin."""
    program = os.path.join(scratch, "begins")
    check(compile_to(program, "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n"))
    expect(bsprun("-np", 2, program, env={"BSP_COMPAT": "oxfrod"}), 1,
           err=r"^bspzero: .*begins\.c:2: MPI_Init: pid -1: BSP_COMPAT=oxfrod is not a mode")


def compile_to(program, text):
    with open(program + ".c", "w") as file:
        file.write(text)
    return subprocess.run([os.path.join(BIN, "bspmpicc"), program + ".c", "-o", program]).returncode == 0


def compile_text(text, *words, suffix=".c", env=None):
    source = os.path.join(scratch, "text" + suffix)
    with open(source, "w") as file:
        file.write(text)
    return subprocess.run([os.path.join(BIN, "bspmpicc"), *words, source, "-o", os.path.join(scratch, "text")],
                          capture_output=True, text=True, env={**os.environ, **(env or {})})


# The compilers that are there, as the environment names them.
COMPILERS = [env for env in ({}, {"BSPCC_CC": "clang", "BSPCC_CXX": "clang++"})
             if not env or (shutil.which("clang") and shutil.which("clang++"))]
OLD = ("#include <mpi.h>\nint main(int argc, char **argv)\n{\n    int size = 0;\n    MPI_Init(&argc, &argv);\n"
       "    MPI_Comm_size(MPI_COMM_WORLD, &size);\n    MPI_Finalize();\n    return size != 2;\n}\n")


def its_header_is_found_first():
    """Also where the environment or the user's words name that of another MPI; and strict compilers are quiet about it."""
    other = tempfile.mkdtemp(dir=scratch)
    with open(os.path.join(other, "mpi.h"), "w") as file:
        file.write("#error this is another MPI\n")
    strict = ["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Wundef", "-Werror"]
    for compiler in COMPILERS:
        for suffix, words in ((".c", strict), (".cc", ["-std=c++98", *strict[1:]])):
            for more, env in ([[], {}], [[], {"CPATH": other}], [["-I", other], {}], [["-isystem", other], {}],
                              [["-cflags", "-I" + other, "-c++flags", "-I" + other], {}],
                              [[], {"C_INCLUDE_PATH": other, "CPLUS_INCLUDE_PATH": other}]):
                done = compile_text(OLD, *words, *more, suffix=suffix, env={**compiler, **env})
                check(done.returncode == 0 and not done.stderr, compiler, suffix, more, env, done.stderr)
                expect(bsprun("-np", 2, os.path.join(scratch, "text")), 0, no_err=True)
    for words in (["-I.", "-I-"], ["-I.", "-I", "-"], ["-cflags", "-I-"]):  # an old option, which clang does not have
        done = compile_text(OLD, *words)
        check(done.returncode == 0 and "error" not in done.stderr, words, done.stderr)


MISSING = {
    "MPI_Comm_dup": "MPI_Comm d; MPI_Comm_dup(MPI_COMM_WORLD, &d);",
    "MPI_Win": "MPI_Win w;",
    "MPI_IN_PLACE": "int x = 0; MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
    "MPI_Waitany": "MPI_Waitany(0, 0, 0, 0);",
    "MPI_ERR_COMM": "MPI_Barrier(MPI_COMM_WORLD) == MPI_ERR_COMM;",
    "MPI_INTEGER": "int x = 0; MPI_Bcast(&x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD);",
    "MPI_2INTEGER": "int x[2]; MPI_Bcast(x, 1, MPI_2INTEGER, 0, MPI_COMM_WORLD);",
    "MPI_MAX_PORT_NAME": "char name[MPI_MAX_PORT_NAME + 1];",
    "MPI_COMBINER_NAMED": "int combiner = MPI_COMBINER_NAMED;",
    "MPI_COMM_DUP_FN": "void *copy = (void *)MPI_COMM_DUP_FN;",
    "MPI_NULL_COPY_FN": "void *copy = (void *)MPI_NULL_COPY_FN;",
    "MPI_Comm_copy_attr_function": "MPI_Comm_copy_attr_function *copy;",
    "MPI_Comm_errhandler_function": "MPI_Comm_errhandler_function *handler;",
    "MPI_Comm_create_keyval": "int key; MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);",
    "MPI_F_STATUS_IGNORE": "int *status = MPI_F_STATUS_IGNORE;",
    "MPI_F08_status": "MPI_F08_status status;",
    "MPI_T_init_thread": "int given; MPI_T_init_thread(MPI_THREAD_SINGLE, &given);",
    "MPI_T_cvar_handle": "MPI_T_cvar_handle handle;",
    "MPI_T_enum": "MPI_T_enum all;",
    "MPI_T_SCOPE_LOCAL": "int scope = MPI_T_SCOPE_LOCAL;",
    "PMPI_Init": "PMPI_Init(NULL, NULL);",
    "PMPI_Wtime": "double now = PMPI_Wtime();",
    "PMPI_Comm_dup": "MPI_Comm d; PMPI_Comm_dup(MPI_COMM_WORLD, &d);",
    "PMPI_T_finalize": "PMPI_T_finalize();",
}


def what_is_missing_does_not_compile():
    text = "#include <mpi.h>\nint main(void)\n{\n" + "".join(f"    {{ {use} }}\n" for use in MISSING.values()) + "    return 0;\n}\n"
    for compiler in COMPILERS:
        for suffix in (".c", ".cc"):
            done = compile_text(text, *(["-ferror-limit=0"] if compiler else []), suffix=suffix, env=compiler)
            errors = [line for line in done.stderr.splitlines() if "error:" in line]
            check(done.returncode != 0 and len(errors) == len(MISSING), done.stderr)
            for number, (name, error) in enumerate(zip(MISSING, errors)):
                check(f":{number + 4}:" in error and error.endswith(f"error: {name} is not in the MPI subset: see bspmpicc(1)"), error)


def bsp_programs_own_the_names():
    """MPI's names are free in a program that bspcc links."""
    source = os.path.join(scratch, "own.c")
    with open(source, "w") as file:
        file.write("#include <bsp.h>\n#include <stdio.h>\nint MPI_Send(int x) { return x + 1; }\n"
                   "int bspmpi_Send(int x) { return x + 1; }\n"
                   'int main(void) { bsp_begin(1); printf("%d\\n", MPI_Send(bspmpi_Send(1))); bsp_end(); return 0; }\n')
    check(subprocess.run([os.path.join(BIN, "bspcc"), source, "-o", source[:-2]]).returncode == 0)
    expect(bsprun("-np", 1, source[:-2]), 0, out="^3$", no_err=True)


if __name__ == "__main__":
    main([all_is_right, any_number_of_processes, without_bsprun, wrong_use, aborted, stuck,
          a_process_that_dies, without_finalize, ended_after_finalize, finalize_in_an_exit_handler, errors_of_the_beginning, its_header_is_found_first, what_is_missing_does_not_compile, bsp_programs_own_the_names, as_under_a_real_mpi])
