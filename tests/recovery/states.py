"""Every kind of state under libbsp, in programs linked in every way, through rollbacks by frozen
copy and by image, and through restarts."""
import signal

from harness import *

OPENED = os.environ.get("RECOVERY_OPENED", "")
WAYS = ["pie", "nopie", "static", "staticpie", "shared"]
SUPERSTEPS = 12
P = 2


class Lives:
    """A state program, held in some supersteps."""

    def __init__(self, place, way, options, held):
        self.place = place
        for pid in range(P):
            os.mkdir(place.path("files", str(pid)))
            for superstep in held:
                place.hold(pid, superstep)
        self.job = place.start(BSPRUN, "-np", P, "--ckpt", place.store, "--every", 1, *options,
                               os.path.join(PROGRAMS, "state_" + way), place.files, SUPERSTEPS,
                               env={"STATE_LIFE": "first", "STATE_OPENED": OPENED})

    def wait(self, superstep, times=1):
        ranks = [self.place.wait_executed(pid, superstep, times) for pid in range(P)]
        self.place.wait_committed(superstep)
        return ranks

    def let_go(self, superstep):
        for pid in range(P):
            self.place.release(pid, superstep)

    def check(self):
        """All was as it should be, in the processes and in what they wrote."""
        self.job.wait(0)
        check(b"all of it in process 1\n" in self.job.out(), self.job)
        for pid in range(P):
            lines = "".join(f"line {n}\n" if n != 1 else "line 1, in the buffer\n"
                            for n in range(SUPERSTEPS + 2))
            for name, then in (("stream", lines), ("appended", "first\n" + "again\n" * SUPERSTEPS)):
                with open(self.place.path("files", str(pid), name)) as file:
                    check(file.read() == then, name, "of process", pid, "is not as undisturbed")
        self.place.check_executions()
        self.place.check_clean()


def rolled_back(way, options=()):
    """One comes back from its image, one from its copy; then the other way round; then both from
    copies of copies."""
    def test():
        with Place() as place:
            lives = Lives(place, way, options, (3, 4, 5, 8))
            for victim, superstep in ((0, 3), (1, 4), (0, 5), (1, 8)):
                ranks = lives.wait(superstep)
                place.kill(ranks[victim])
                lives.wait(superstep, 2)
                place.kill(lives.wait(superstep, 2)[victim])
                lives.let_go(superstep)
            lives.check()
    return test


def restarted(way):
    def test():
        with Place() as place:
            lives = Lives(place, way, (), (3, 6))
            lives.wait(3)
            lives.job.signal(signal.SIGTERM)
            lives.let_go(3)
            lives.job.wait(123)
            lives.job = place.restart(env={"STATE_LIFE": "second" * 500, "ANOTHER": "x" * 3000})
            place.kill(lives.wait(6)[0])
            lives.wait(6, 2)
            lives.job.signal(signal.SIGTERM)
            lives.let_go(6)
            lives.job.wait(123)
            lives.job = place.restart()
            lives.check()
    return test


if __name__ == "__main__":
    main([*(("rolled_back_" + way, rolled_back(way)) for way in WAYS),
          *(("restarted_" + way, restarted(way)) for way in WAYS),
          ("rolled_back_synchronous", rolled_back("pie", ["--async", "off"])),
          ("rolled_back_forked", rolled_back("pie", ["--async", "on"]))], together=3)
