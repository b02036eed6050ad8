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
