"""Memory that all processes of a job have mapped since before bsp_begin."""
from harness import *

COMMON = os.path.join(PROGRAMS, "common")
P, SUPERSTEPS = 3, 20
SHARED = r"memory that the processes share"
REFUSED = {"anonymous": SHARED, "zero": SHARED, "memfd": r"/memfd:of all.*memory shared",
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


def on_hosts(job_options=()):
    """Each host would have its own: refused also where no snapshots are asked for."""
    def test():
        rsh = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "hosts",
                           "local-rsh")
        with Place() as place:
            options = [place.store if word == "DIR" else word for word in job_options]
            job = place.start(BSPRUN, "-np", P, "--launcher", rsh, "--hosts", "h0:2,h1:1",
                              *options, COMMON, "anonymous", place.files, SUPERSTEPS).wait()
            check(job.status not in (0, 123) and b"wrong" not in job.out(), job)
            check(re.search(SHARED, job.said()), "the memory is not named:", job)
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
          of_one_process])
