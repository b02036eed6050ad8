"""Programs that do something before main and after it: constructors and destructors of global objects.

They run once in a job, however its processes are made; and the parallel part may begin and end in them.

globals.py: the usual build in every way in which a process is made, the others in two.  GLOBALS_ALL=1: all in every way.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile

from harness import BIN, BSPRUN, RSH, Job, bsprun, check, committed, expect, main, marked, run, scratch, wait_committed, wait_until

BSPCTL = os.path.join(BIN, "bspctl")
HERE = os.path.join(scratch, "programs")
SEVERAL = ["--launcher", RSH, "--hosts", "h0:1,h1:2"]
LINES = ["made", "before"] + [f"step {step}" for step in range(1, 9)] + ["after"]

# The parallel part is the same in all: steps 1 to 4, supersteps until there is the file "go", steps 5 to 8.
PART = r"""
#include <stdio.h>
#include <unistd.h>
#ifdef MESSAGES
#include <mpi.h>
static void begin_part(void) { MPI_Init(NULL, NULL); }
static void end_part(void) { MPI_Finalize(); }
static int number(void) { int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank); return rank; }
static int told(int value) { MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); return value; }
#else
#include <bsp.h>
static void begin_part(void) { bsp_begin(0); }
static void end_part(void) { bsp_end(); }
static int number(void) { return bsp_pid(); }
static int told(int value)
{
    static int there;
    bsp_push_reg(&there, sizeof there);
    bsp_sync();
    for (int pid = 0; bsp_pid() == 0 && pid < bsp_nprocs(); pid++)
        bsp_put(pid, &value, &there, 0, sizeof value);
    bsp_pop_reg(&there);
    bsp_sync();
    return there;
}
#endif
void say(const char *word, int step);
static void part(void)
{
    int step, go = 0;

    for (step = 1; step <= 8; step++) {
        if (number() == 0)
            say("step", step);
        told(0);
        while (step == 4 && !go) {
            usleep(1000);
            go = told(number() == 0 && access("go", F_OK) == 0);
        }
    }
}
"""

# A global object opens a file, which empties it, and prints.
CXX = PART + r"""
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
struct Results {
    std::ofstream file;
    Results() : file("results.txt")
    {
        file << "made" << std::endl;
        std::cout << "constructed" << std::endl;
    }
    ~Results()
    {
        if (leaves)
            file << "destroyed";
    }
    bool leaves = false;
};
static Results results;
static void leave_if_told(int argc, char **argv)
{
    const std::string how = argc > 1 && number() == 1 ? argv[1] : "";

    if (how == "kill")
        std::raise(SIGKILL);
    results.leaves = how == "exit";
    if (results.leaves)
        std::exit(3);
    if (how == "abort")
#ifdef MESSAGES
        MPI_Abort(MPI_COMM_WORLD, 42);
#else
        bsp_abort("enough\n");
#endif
}
void say(const char *word, int step) { results.file << word << ' ' << step << std::endl; }
#ifdef WITHIN
struct Part {
    bool is_first;
    Part()
    {
        results.file << "before" << std::endl;
        begin_part();
        is_first = number() == 0;
    }
    ~Part()
    {
        end_part();
        std::cout << "ended" << std::endl;
        if (is_first)
            results.file << "after" << std::endl;
    }
};
static Part whole;
int main(int argc, char **argv)
{
    leave_if_told(argc, argv);
    if (argc > 1 && std::string(argv[1]) == "return")
        return number() == 1 ? 3 : 0;
    part();
    return 0;
}
#else
int main(int argc, char **argv)
{
    results.file << "before" << std::endl;
    begin_part();
    leave_if_told(argc, argv);
    part();
    end_part();
    results.file << "after" << std::endl;
    return 0;
}
#endif
"""

# The same of C; of Fortran too, whose main program calls work.
C = PART + r"""
static FILE *file;
__attribute__((constructor)) static void make(void)
{
    file = fopen("results.txt", "w");
    fprintf(file, "made\n");
    fflush(file);
    printf("constructed\n");
    fflush(stdout);
}
void say(const char *word, int step)
{
    fprintf(file, "%s %d\n", word, step);
    fflush(file);
}
void work_(void)
{
    fprintf(file, "before\n");
    fflush(file);
    begin_part();
    part();
    end_part();
    fprintf(file, "after\n");
    fflush(file);
}
"""
C_MAIN = "void work_(void);\nint main(void) { work_(); return 0; }\n"
FORTRAN_MAIN = "program main\n  external work\n  call work\nend program\n"

# Name: the compiler, of another make, options, sources.
BUILDS = {
    "usual": ("bspc++", None, [], ["cxx.cc"]),
    "within": ("bspc++", None, ["-DWITHIN"], ["cxx.cc"]),
    "messages": ("bspmpicc", None, ["-DMESSAGES"], ["cxx.cc"]),
    "messages_within": ("bspmpicc", None, ["-DMESSAGES", "-DWITHIN"], ["cxx.cc"]),
    "shared": ("bspc++", None, ["-fshared-libbsp"], ["cxx.cc"]),
    "shared_within": ("bspc++", None, ["-fshared-libbsp", "-DWITHIN"], ["cxx.cc"]),
    "static": ("bspc++", None, ["-static"], ["cxx.cc"]),
    "static_within": ("bspc++", None, ["-static", "-DWITHIN"], ["cxx.cc"]),
    "optimised": ("bspc++", None, ["-O2", "-flto", "-DWITHIN"], ["cxx.cc"]),
    "clang": ("bspc++", "clang", ["-DWITHIN"], ["cxx.cc"]),
    "c": ("bspcc", None, [], ["c.c", "main.c"]),
    "c_clang": ("bspcc", "clang", [], ["c.c", "main.c"]),
    "c_static": ("bspcc", None, ["-static"], ["c.c", "main.c"]),
    "fortran": ("bspf90", None, [], ["main.f90", "c.c"]),
    "sanitized": ("bspc++", None, ["-fsanitize=address", "-DWITHIN"], ["cxx.cc"]),
    "sanitized_clang": ("bspc++", "clang", ["-fsanitize=address", "-DWITHIN"], ["cxx.cc"]),
}
MAKES = {"clang": {"BSPCC_CC": "clang", "BSPCC_CXX": "clang++"}, None: {}}


def built(name):
    """The program; None: a compiler or a library for it is missing here."""
    program = os.path.join(HERE, name)
    if os.path.exists(program):
        return program
    os.makedirs(HERE, exist_ok=True)
    for source, text in (("cxx.cc", CXX), ("c.c", C), ("main.c", C_MAIN), ("main.f90", FORTRAN_MAIN)):
        with open(os.path.join(HERE, source), "w") as file:
            file.write(text)
    compiler, make, options, sources = BUILDS[name]
    plain = {"bspcc": "gcc", "bspmpicc": "g++", "bspc++": "g++", "bspf90": "gfortran"}[compiler]
    plain = MAKES[make].get("BSPCC_CXX" if compiler == "bspc++" else "BSPCC_CC", plain)
    probe = subprocess.run([plain, *[word for word in options if word != "-fshared-libbsp"], "-x",
                            "c++" if plain.endswith("++") else "c", "-", "-o", os.path.join(HERE, "probe")],
                           input="int main() { return 0; }\n", text=True, capture_output=True) if shutil.which(plain) else None
    if probe is None or (probe.returncode != 0 and plain != "gfortran"):
        return None
    done = subprocess.run([os.path.join(BIN, compiler), "-g", *options, *sources, "-o", program], cwd=HERE, capture_output=True,
                          text=True, env={**os.environ, **MAKES[make]})
    check(done.returncode == 0, name, done.stderr)
    return program


class Place:
    """A directory in which a job runs, and what must be in its file in the end."""

    def __init__(self, program):
        self.program = program
        self.directory = tempfile.mkdtemp(dir=scratch)
        self.store = os.path.join(self.directory, "store")

    def go(self):
        with open(os.path.join(self.directory, "go"), "w"):
            pass

    def saving(self, *where):
        every = "0.05s" if "messages" in self.program else "1"
        return Job([BSPRUN, *where, f"--ckpt={self.store}", "--every", every, self.program], cwd=self.directory)

    def written(self):
        with open(os.path.join(self.directory, "results.txt")) as file:
            return file.read().splitlines()

    def wait_written(self, line):
        wait_until(lambda: line in self.written(), line)

    def wait_saved(self, job):
        """Until steps 1 to 4 are in a snapshot."""
        wait_until(lambda: os.path.exists(os.path.join(self.directory, "results.txt")) or job.is_over(), "the file")
        self.wait_written("step 4")
        wait_committed(job, self.store, (committed(self.store) or [0])[-1] + 2)

    def check_right(self, shown):
        check(self.written() == LINES, self.program, self.written(), shown)
        check(shown.splitlines().count("constructed") == 1, self.program, shown)


def simply(place, *command, env=None):
    place.go()
    result = expect(run([*command, place.program], cwd=place.directory, env=env), 0, no_err=True)
    place.check_right(result.out)


def on_one_host(place):
    simply(place, BSPRUN, "-np", "3")


def on_several_hosts(place):
    """The processes of the second host are made of an image."""
    simply(place, BSPRUN, *SEVERAL)


def with_replicas(place):
    simply(place, BSPRUN, "--launcher", RSH, "--hosts", "h0:3,h1:3", "-np", "3", "--replicas", "2")


def without_bsprun(place):
    simply(place, env={"BSP_PROCS": "3"})


def disturbed(place, where, disturb):
    with place.saving(*where) as job:
        place.wait_saved(job)
        disturb(job)
        place.go()
        check(job.finish() == 0, job.status, job.text())
        place.check_right(job.text().replace("\r", ""))
        return job.text()


def processes(job, name):
    return [pid for pid, other in job.members().items() if other == name[:15]]


def thawed(place):
    """Processes come back as their frozen copies."""
    def kill_last(job):
        result = expect(run([os.path.join(BIN, "bspstat"), "--json", str(job.os_pid)]), 0)
        os.kill(json.loads(result.out)["ranks"][2]["os_pid"], signal.SIGKILL)
    check("continues from" in disturbed(place, ["-np", "3"], kill_last), "nothing was thawed")


def rolled_back(place):
    """... from their images."""
    def lose(job):
        agent = job.agent()
        os.kill(agent, signal.SIGKILL)
        wait_until(lambda: agent not in job.members(), "the end of the agent")
    disturbed(place, ["-np", "3"], lose)


def lost(place, host):
    def lose(job):
        def is_there(pid):
            with open(f"/proc/{pid}/environ", "rb") as file:
                return b"BSPZERO_HOST_NAME=" + host in file.read().split(b"\0")
        agents = [pid for pid in processes(job, "bspnode") if is_there(pid)]
        check(len(agents) == 1, agents)
        os.kill(agents[0], signal.SIGKILL)
        wait_until(lambda: agents[0] not in job.members(), "the end of the agent")
    check("lost" in disturbed(place, SEVERAL, lose), "no host was lost")


def first_host_lost(place):
    lost(place, b"h0")


def other_host_lost(place):
    lost(place, b"h1")


def moved(place):
    text = disturbed(place, SEVERAL, lambda job: expect(run([BSPCTL, "--wait", str(job.os_pid), "move", "1", "h0"]), 0))
    check("lost" not in text, text)


def restarted(place, then):
    with place.saving("-np", "3") as job:
        place.wait_saved(job)
        job.signal(signal.SIGTERM)
        check(job.finish() == 123, job.status, job.text())
        shown = job.text().replace("\r", "")
    place.go()
    result = expect(bsprun("--restart", place.store, *then, cwd=place.directory), 0)
    place.check_right(shown + result.out)


def restarted_here(place):
    restarted(place, [])


def restarted_elsewhere(place):
    restarted(place, SEVERAL)


WAYS = [on_one_host, on_several_hosts, without_bsprun, thawed, rolled_back, first_host_lost, other_host_lost, moved,
        restarted_here, restarted_elsewhere]
FEW = [on_several_hosts, restarted_elsewhere]


def build_in(name, ways):
    def test():
        program = built(name)
        if not program:
            print(f"{name}: there is no compiler for it")
            return
        for way in ways:
            print(f"  {name}: {way.__name__}", flush=True)
            way(Place(program))
    test.__name__ = name
    return test


def all_ways(name):
    if "sanitized" in name:  # such a process cannot be saved
        return build_in(name, [on_one_host, without_bsprun])
    ways = WAYS if "messages" in name else [*WAYS, with_replicas]  # which MPI programs cannot have
    every = "usual" in name or name == "messages_within" or os.environ.get("GLOBALS_ALL") == "1"
    return build_in(name, ways if every else FEW)


def without_an_end():
    """A destructor that ends the parallel part does not hide why a process leaves it, and what follows its call is not done."""
    for name, word, status, text in (("within", "abort", 1, "enough"), ("within", "kill", 137, "pid 1 was killed by signal 9"),
                                     ("messages_within", "abort", 42, "MPI_Abort: pid 1 of 3: status 42"),
                                     ("messages_within", "kill", 137, "pid 1 was killed by signal 9")):
        for bare in (False, True) if word == "abort" else (False,):
            place = Place(built(name))
            result = run([*([] if bare else [BSPRUN, "-np", "3"]), place.program, word], cwd=place.directory,
                         env={"BSP_PROCS": "3"} if bare else None)
            expect(result, status, err=text)
            check("exit handler" not in result.err and "before" not in result.err, result)
            check("ended" not in result.out and "after" not in place.written(), result, place.written())


def left_by_exit():
    """Destructors run before the job is told; those that end the parallel part do not hide the status."""
    for name, call in (("usual", "bsp_end"), ("shared", "bsp_end"), ("within", "bsp_end"), ("shared_within", "bsp_end"),
                       ("static_within", "bsp_end"), ("messages_within", "MPI_Finalize")):
        for word in ("exit", "return") if "within" in name else ("exit",):
            place = Place(built(name))
            result = expect(bsprun("-np", "3", place.program, word, cwd=place.directory), 3,
                            err=rf"^bsprun: pid 1 called exit\(3\) in superstep 0 before {call}$")
            check(result.err.count("bsprun:") == 1 and "ended" not in result.out, result)
            check(word == "return" or "destroyed" in "\n".join(place.written()), place.written())
    # Process 1 is made of an image.
    place = Place(built("within"))
    result = expect(bsprun("--launcher", RSH, "--hosts", "h0:1,h1:1", place.program, "exit", cwd=place.directory), 3)
    check(result.err.count("pid 1 called exit(3) in superstep 0 before bsp_end") == 1, result)


LIBRARY = r"""
#include <bsp.h>
struct Part {
    Part() { bsp_begin(0); }
    ~Part() { bsp_end(); }
};
static Part whole;
"""
USER = r"""
#include <bsp.h>
#include <stdio.h>
int main(void)
{
    printf("process %d of %d\n", bsp_pid(), bsp_nprocs());
    bsp_sync();
    return 0;
}
"""


def begun_by_a_library():
    """Constructors of shared libraries run before anything that is linked into the program."""
    os.makedirs(HERE, exist_ok=True)
    for source, text in (("library.cc", LIBRARY), ("user.cc", USER)):
        with open(os.path.join(HERE, source), "w") as file:
            file.write(text)
    for words in (["-shared", "-fPIC", "library.cc", "-o", "libpart.so"],
                  ["user.cc", "-Wl,--no-as-needed", "-L.", "-lpart", "-Wl,-rpath," + HERE, "-o", "user"]):
        done = subprocess.run([os.path.join(BIN, "bspc++"), *words], cwd=HERE, capture_output=True, text=True)
        check(done.returncode == 0, done.stderr)
    user = os.path.join(HERE, "user")
    for result in (bsprun("-np", "3", user), run([user], env={"BSP_PROCS": "3"})):
        expect(result, 0, no_err=True)
        check(sorted(result.out.splitlines()) == [f"process {pid} of 3" for pid in range(3)], result)


AGAIN = r"""
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void again(int argc, char **argv)
{
    (void)argc;
    if (getenv("AGAIN"))
        return;
    setenv("AGAIN", "yes", 1);
    execv("/proc/self/exe", argv);
    _exit(4);
}
int main(void)
{
    bsp_begin(0);
    printf("process %d of %d%s\n", bsp_pid(), bsp_nprocs(), getenv("BSPZERO_BOARD") ? ", known to children" : "");
    for (int step = 0; step < 4; step++)
        bsp_sync();
    bsp_end();
    return 0;
}
"""


def compiled(name, text):
    os.makedirs(HERE, exist_ok=True)
    program = os.path.join(HERE, name)
    with open(program + ".c", "w") as file:
        file.write(text)
    done = subprocess.run([os.path.join(BIN, "bspcc"), program + ".c", "-o", program], capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    return program


def executed_again():
    """By a constructor, say to set a variable that the dynamic linker reads: it remains a program of the job."""
    place = Place(compiled("again", AGAIN))
    for where in (["-np", "2"], ["--launcher", RSH, "--hosts", "h0:1,h1:1"], ["-np", "2", f"--ckpt={place.store}", "--every", "1"]):
        result = expect(bsprun(*where, place.program, cwd=place.directory), 0)
        check(sorted(result.out.splitlines()) == [f"process {pid} of 2" for pid in range(2)], result)
    check(committed(place.store), "there is no snapshot")


CHOOSES = r"""
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void choose(void) { setenv("BSP_COMPAT", "oxford", 1); setenv("BSP_WARN", "1", 1); }
int main(void)
{
    bsp_begin(0);
    bsp_send(0, NULL, "x", 1);
    bsp_sync();
    bsp_sync();
    printf("process %d\n", bsp_pid());
    exit(0);
}
"""


def variables_set_by_a_constructor():
    """BSP_COMPAT and BSP_WARN: with the first a program need not call bsp_end."""
    program = compiled("chooses", CHOOSES)
    for result in (bsprun("-np", "2", program), run([program], env={"BSP_PROCS": "2"})):
        expect(result, 0, err="bsp_sync: .*unread")


if __name__ == "__main__":
    main([all_ways(name) for name in BUILDS] + [without_an_end, left_by_exit, begun_by_a_library, executed_again, variables_set_by_a_constructor])
