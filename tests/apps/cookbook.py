"""The recipes of the cookbook: verified, and the same answer for every number of processes."""
import glob

from harness import *

os.environ["OMP_NUM_THREADS"] = "2"
SOURCES = os.path.join(os.environ["APPS_SOURCE"], "apps", "cookbook")


@case
def every_recipe_is_verified():
    names = [os.path.basename(name)[:-2] for name in glob.glob(os.path.join(SOURCES, "*.c"))]
    check(len(names) == 13, names)
    os.chdir(scratch)  # one of them makes a file
    for name in sorted(names):
        same_for_all("cookbook-" + name)
    check([name for name in os.listdir(scratch)] == [], os.listdir(scratch))


@case
def more_processes_than_cells():
    """The line of the halo has 200 cells: with more processes some would have nothing to pass on."""
    check(verified(run("cookbook-halo", p=210)) == verified(run("cookbook-halo", p=1)))


# What stands in a recipe, and what is put in its place so that the answer is wrong.
SPOILT = {
    "broadcast": ("N * sizeof *to", "(N - 1) * sizeof *to"),
    "files": ("(unsigned char)~part[i]", "part[i]"),
    "halo": ("now[i - 1] ^ now[i + 1]", "now[i - 1] | now[i + 1]"),
    "openmp": ("sum += i % 10;", "sum += i % 9;"),
    "pool": ("steps = work(task);", "steps = work(task) + 1;"),
    "preempted": ("(PRIME - 1) / 16", "(PRIME - 1) / 17"),
    "random": ("x * x + y * y < 1", "x * x + y < 1"),
    "reduction": ("mine += i;", "mine += i + 1;"),
    "sort": ("keys[n++] = i * 2654435761u;", "keys[n++] = i * 2654435760u;"),
    "spmv": ("y[i] += value[k]", "y[i] -= value[k]"),
    "tasks": ("t.rows == QUEENS;", "t.rows == QUEENS - 1;"),
    "transpose": ("column[i] = a[i][j];", "column[i] = a[i][0];"),
    "traversal": ("2 * frontier[i] % N", "3 * frontier[i] % N"),
}


def spoilt_case(name, old, new):
    def spoilt_recipe_fails():
        with open(os.path.join(SOURCES, name + ".c")) as file:
            text = file.read()
        check(text.count(old) == 1, name, "no longer has", old)
        os.chdir(scratch)
        source = write("spoilt.c", text.replace(old, new))
        subprocess.run([os.environ["APPS_BSPCC"], *os.environ.get("APPS_FLAGS", "").split(), source, "-o", path("spoilt")],
                       check=True, timeout=PATIENCE)
        for p in (1, 3):
            result = run(path("spoilt"), p=p)
            check(result.returncode == 1 and result.stdout.endswith("\nFAILED\n"), result)

    spoilt_recipe_fails.__name__ = f"{name}: {new}"
    case(spoilt_recipe_fails)


for name, (old, new) in SPOILT.items():
    spoilt_case(name, old, new)


@case
def every_recipe_can_be_spoilt():
    check(sorted(SPOILT) == sorted(os.path.basename(name)[:-2] for name in glob.glob(os.path.join(SOURCES, "*.c"))))


@case
def an_abort_leaves_no_file():
    """A write that fails in the last process; all have read by then."""
    write("full.h", "#include <bsp.h>\n#include <unistd.h>\n#define pwrite(fd, data, size, at) "
                    "(bsp_pid() == bsp_nprocs() - 1 ? -1 : pwrite(fd, data, size, at))\n")
    subprocess.run([os.environ["APPS_BSPCC"], *os.environ.get("APPS_FLAGS", "").split(), "-include", path("full.h"),
                    os.path.join(SOURCES, "files.c"), "-o", path("full")], check=True, timeout=PATIENCE)
    place = path("place")
    os.mkdir(place)
    os.chdir(place)
    for p in PROCESSES:
        job = run(path("full"), p=p)
        check(job.returncode == 1 and "cannot be written" in job.stderr, job)
        check(os.listdir(place) == [], p, os.listdir(place))


@case
def every_recipe_is_in_the_cookbook():
    with open(os.path.join(os.environ["APPS_SOURCE"], "doc", "cookbook.md")) as file:
        text = file.read()
    for name in glob.glob(os.path.join(SOURCES, "*.c")):
        mark = f"<!-- source: apps/cookbook/{os.path.basename(name)} -->"
        check(text.count(mark) == 1, mark)


main()
