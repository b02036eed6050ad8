"""Programs with a pool of threads of OpenMP: it is given back before each snapshot, and the next
parallel region has as many threads again, in the process that goes on and in one that was put back."""
from harness import *

P, SUPERSTEPS, THREADS = 2, 12, 3


def job(place, library, options, asked):
    env = {} if asked else {"OMP_NUM_THREADS": str(THREADS)}
    return place.start(BSPRUN, "-np", P, *options, os.path.join(PROGRAMS, library), place.files,
                       SUPERSTEPS, asked, env=env)


def sweep(before):
    """LLVM's library leaves a file behind for each process that is killed."""
    for name in set(os.listdir("/dev/shm")) - before:
        found = re.fullmatch(r"__KMP_REGISTERED_LIB_(\d+)_\d+", name)
        if found and not os.path.exists("/proc/" + found[1]):
            os.unlink("/dev/shm/" + name)


def lines(job):
    return sorted(line for line in job.out().splitlines() if line.startswith(b"process"))


def wanted(library, asked):
    with Place() as place:
        done = job(place, library, (), asked).wait(0)
        check(len(lines(done)) == P and all(
            b": %d teams, %d threads, 0 missing" % (SUPERSTEPS, SUPERSTEPS * THREADS) in line
            for line in lines(done)), done)
        return lines(done)


def wait(place, superstep, times=1):
    ranks = [place.wait_executed(pid, superstep, times) for pid in range(P)]
    place.wait_committed(superstep - 1)
    return ranks


def goes_on(library, asked, *options):
    """Undisturbed but for its snapshots; then back to frozen copies, and on from images."""
    def test():
        before = set(os.listdir("/dev/shm"))
        atexit.register(sweep, before)
        then = wanted(library, asked)
        with Place() as place:
            options_here = ("--ckpt", place.store, "--every", 1, *options)
            for superstep in (4, 7):
                for pid in range(P):
                    place.hold(pid, superstep)
            running = job(place, library, options_here, asked)
            for victim in range(P):
                place.kill(wait(place, 4, victim + 1)[victim])
            wait(place, 4, P + 1)
            for pid in range(P):
                place.release(pid, 4)
            wait(place, 7)
            running.signal(signal.SIGTERM)
            for pid in range(P):
                place.release(pid, 7)
            running.wait(123)
            running = place.restart()
            running.wait(0)
            check(lines(running) == then, lines(running), "instead of", then, running)
            place.check_clean()
    return test


if __name__ == "__main__":
    libraries = [name for name in ("pool", "pool_llvm")
                 if os.path.exists(os.path.join(PROGRAMS, name))]
    main([(f"{library}{'_asked' if asked else ''}{name}", goes_on(library, asked, *options))
          for library in libraries for asked in (0, THREADS)
          for name, options in (("", ()), ("_synchronous", ("--async", "off")))], together=3)
