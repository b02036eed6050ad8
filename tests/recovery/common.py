import shlex
"""Memory that all processes of a job have mapped since before bsp_begin."""
from harness import *

COMMON = os.path.join(PROGRAMS, "common")
RSH = shlex.quote(os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "hosts", "local-rsh"))
P, SUPERSTEPS = 3, 20
RIGHT = sorted(b"process %d: 0 wrong" % pid for pid in range(P))
SHARED = r"memory that the processes share"
RESTORED = ["anonymous", "zero", "two", "parts", "puts"]
REFUSED = {"gone": r"process 0 has not mapped all", "memfd": r"/memfd:of all.*memory shared",
           "segment": r"SYSV.*memory shared", "posix": r"/dev/shm/.*memory shared",
           "deleted": r"/dev/shm/.*memory shared", "file": r"mapped.*mapped shared and writable",
           "readonly": r"mapped.*mapped shared and writable"}


def refused(kind, *options):
    """By name, at the first snapshot."""
    def test():
        with Place() as place:
            job = place.start(BSPRUN, "-np", P, *options, COMMON, kind, place.files, SUPERSTEPS)
            job.wait()
            if kind == "posix" and job.out().startswith(b"/"):
                name = job.out().decode().splitlines()[0]
                if os.path.exists("/dev/shm" + name):
                    os.unlink("/dev/shm" + name)
            check(job.status not in (0, 123) and b"wrong" not in job.out(), kind, job)
            check(re.search(REFUSED[kind], job.said()), kind, "is not named:", job)
            place.check_clean()
    return test


class Job:
    """A job that is held by its process 0 in some supersteps."""

    def __init__(self, place, kind, held, *options):
        self.place = place
        for superstep in held:
            place.hold(0, superstep)
        self.job = place.start(BSPRUN, "-np", P, "--ckpt", place.store, *options, COMMON, kind,
                               place.files, SUPERSTEPS)

    def wait(self, superstep, times=1):
        """Until all are there, and what is before it is saved: their os pids."""
        return [self.place.wait_executed(pid, superstep, times) for pid in range(P)]

    def copies(self):
        agent = self.job.agent()

        def found():
            copies = copies_of(agent)
            return copies if len(copies) == P else None
        return wait_until(found, "a copy of each process")

    def restart(self, *options):
        send(self.job.os_pid, signal.SIGKILL)
        self.job.wait(-signal.SIGKILL)
        wait_until(lambda: not marked(self.place.mark), "the end of all processes")
        self.job = self.place.start(BSPRUN, "--restart", self.place.store, *options)

    def end(self):
        self.job.wait(0)
        check(sorted(self.job.out().splitlines()) == RIGHT, self.job)
        self.place.check_clean()


def each_mixture(kind, *options):
    """At each rollback some come back from copies, the others from images."""
    def test():
        with Place() as place:
            held = range(4, 4 + 2 ** P)
            job = Job(place, kind, held, "--every", 1, *options)
            for number, superstep in enumerate(held):
                ranks = job.wait(superstep)
                place.wait_committed(2 * superstep - 2)
                copies = job.copies()
                place.kill(*(copy for i, copy in enumerate(copies) if number >> i & 1),
                           ranks[number % P])
                job.wait(superstep, 2)
                place.release(0, superstep)
            job.end()
    return test


def restarted(kind):
    """On this host, and on another one where all come to be."""
    def test():
        with Place() as place:
            job = Job(place, kind, (4, 8), "--every", 1)
            for superstep, options in ((4, ()), (8, ("--launcher", RSH, "--hosts", "h0:%d" % P))):
                job.wait(superstep)
                place.wait_committed(2 * superstep - 2)
                job.restart(*options)
                job.wait(superstep, 2)
                place.release(0, superstep)
            job.end()
    return test


def back_to_the_beginning():
    """All are made of the image of process 0."""
    with Place() as place:
        job = Job(place, "anonymous", (4,), "--every", 1000)
        place.wait_committed(0)
        for victim in range(P):
            place.kill(job.wait(4, victim + 1)[victim])
        job.wait(4, P + 1)
        place.release(0, 4)
        job.end()


def taken_apart():
    """On two hosts it cannot be."""
    with Place() as place:
        job = Job(place, "anonymous", (4,), "--every", 1)
        job.wait(4)
        place.wait_committed(6)
        job.restart("--launcher", RSH, "--hosts", "h0:2,h1:1")
        job.job.wait()
        check(job.job.status not in (0, 123) and b"wrong" not in job.job.out(), job.job)
        check("all of them must be on one host" in job.job.said(), job.job)
        place.check_clean()


def on_hosts(job_options=()):
    """Each host would have its own: refused also where no snapshots are asked for."""
    def test():
        with Place() as place:
            options = [place.store if word == "DIR" else word for word in job_options]
            job = place.start(BSPRUN, "-np", P, "--launcher", RSH, "--hosts", "h0:2,h1:1",
                              *options, COMMON, "anonymous", place.files, SUPERSTEPS).wait()
            check(job.status not in (0, 123) and b"wrong" not in job.out(), job)
            check(re.search(SHARED, job.said()), "the memory is not named:", job)
            place.check_clean()
    return test


def not_alone(kind, named):
    """Who else may use it while it is moved would go on with what was there before: so it stays, and no
    snapshot is taken.  A child that the user does without is not named itself."""
    def test():
        with Place() as place:
            job = place.start(BSPRUN, "-np", P, "--ckpt", place.store, "--every", "1", "--on-refuse",
                              "continue", "--ckpt-exclude", "child", COMMON, kind, place.files,
                              SUPERSTEPS).wait()
            check(job.status == 0 and sorted(job.out().splitlines()) == RIGHT, kind, job)
            check(re.search(named, job.said()), kind, "is not named:", job)
            place.check_clean()
    return test


def of_one_process():
    """Nobody shares it then."""
    with Place() as place:
        place.hold(0, 5)
        job = place.start(BSPRUN, "-np", 1, "--ckpt", place.store, "--every", 1, COMMON,
                          "anonymous", place.files, SUPERSTEPS)
        place.wait_executed(0, 5)
        place.wait_committed(8)
        place.kill(place.executed(0, 5)[-1])
        place.wait_executed(0, 5, 2)
        place.release(0, 5)
        job.wait(0)
        check(job.out() == b"process 0: 0 wrong\n", job)
        place.check_clean()


if __name__ == "__main__":
    with_snapshots = ("--ckpt", tempfile.mkdtemp(dir=scratch), "--every", "1")
    main([*(("refused_" + kind, refused(kind, *with_snapshots)) for kind in REFUSED),
          ("on_hosts", on_hosts()),
          ("on_hosts_with_snapshots", on_hosts(("--ckpt", "DIR", "--every", "1"))),
          ("with_a_child", not_alone("child", SHARED)),
          ("with_a_thread", not_alone("thread", "has 2 threads")),
          of_one_process, back_to_the_beginning, taken_apart,
          *(("each_mixture_" + kind, each_mixture(kind) if kind in ("puts", "zero") else long(each_mixture(kind))) for kind in RESTORED),
          ("each_mixture_synchronous", long(each_mixture("anonymous", "--async", "off"))),
          *(("restarted_" + kind, restarted(kind)) for kind in RESTORED)], together=3)
