"""What is left decides how snapshots are taken: memory whether there are copies of the processes,
cores whether images are compressed."""
import json
import signal
import uuid

from faults import copies, ended, held_everywhere, let_go, wait_all
from harness import *

MEBIBYTES = 40  # of each of two processes
LIMIT = 150 << 20


class Group:
    """A memory cgroup of its own below ours, or none where that is not allowed."""

    def __init__(self, limit):
        self.path = None
        for line in open("/proc/self/cgroup", encoding="ascii"):
            number, controllers, own = line.rstrip("\n").split(":", 2)
            if controllers == "memory":
                self.make("/sys/fs/cgroup/memory", own, "memory.limit_in_bytes", limit)
            elif number == "0" and not self.path:
                self.make("/sys/fs/cgroup", own, "memory.max", limit)

    def make(self, mount, own, name, limit):
        for parent in (mount + own, mount):  # what we are in need not be seen from here
            path = os.path.join(parent, f"bspzero-{uuid.uuid4().hex}")
            try:
                os.mkdir(path)
            except OSError:
                continue
            self.path = path
            try:
                with open(os.path.join(path, name), "w", encoding="ascii") as file:
                    file.write(str(limit))
                return
            except OSError:
                self.remove()

    def inside(self):
        """A command with which a command begins that is to run in the group."""
        return ["sh", "-c", 'echo $$ > "$1/cgroup.procs" || exit 77; shift; exec "$@"', "sh",
                self.path]

    def remove(self):
        deadline = time.monotonic() + 10
        while self.path:
            try:
                os.rmdir(self.path)
                self.path = None
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)  # until what has ended in it is buried

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Copies:
    """What is said of a job that has copies; read when it is said."""

    def __init__(self, job):
        self.job = job

    def __str__(self):
        return f"no copies, but {copies(self.job)}\n{self.job}"


class Limited:
    """A job of two processes in a group with too little memory for copies of them, with what belongs to it."""

    def __init__(self, group, place, every, held):
        words = (12, "-m", MEBIBYTES)
        self.place, self.reference = place, Reference.of(2, *words)
        for superstep in held:
            held_everywhere(place, 2, superstep)
        self.job = place.start(*group.inside(), BSPRUN, "-np", 2, "--ckpt", place.store, "--every", every,
                               TICKER, place.files, *words)

    def wait_without_copies(self, superstep):
        """The processes in the superstep, at whose beginning a snapshot was committed.

        What writes an image ends soon; a frozen copy would stay as long as the processes are held."""
        ranks = wait_all(self.place, 2, superstep)
        wait_until(lambda: copies(self.job) == [], Copies(self.job))
        return ranks

    def ends(self, superstep):
        let_go(self.place, 2, superstep)
        ended(self.place, self.job, self.reference)


def no_copies_in_a_small_group():
    with Group(LIMIT) as group, Place() as place:
        if not group.path:
            return "skipped: no memory cgroup can be made here"
        limited = Limited(group, place, every=1, held=[6])
        place.kill(limited.wait_without_copies(6)[1])
        limited.ends(6)
        job = limited.job
        check(job.said().count("too little free memory") == 1, "once is enough\n", job)
        check(signal.SIGKILL not in (job.status, -job.status), "out of memory", job)


def none_as_soon_as_it_is_full():
    """Processes begin again from the first snapshot, when they had no memory yet, and fill it at once."""
    with Group(LIMIT) as group, Place() as place:
        if not group.path:
            return "skipped: no memory cgroup can be made here"
        limited = Limited(group, place, every=3, held=[2, 3])
        ranks = [place.wait_executed(pid, 2) for pid in range(2)]
        place.wait_committed(0)
        place.kill(*ranks)
        let_go(place, 2, 2)
        limited.wait_without_copies(3)
        limited.ends(3)


def copies_in_a_large_one():
    words = (12, "-m", 1)
    reference = Reference.of(2, *words)
    with Group(LIMIT) as group, Place() as place:
        if not group.path:
            return "skipped: no memory cgroup can be made here"
        held_everywhere(place, 2, 6)
        job = place.start(*group.inside(), BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1,
                          TICKER, place.files, *words)
        wait_all(place, 2, 6)
        check(len(copies(job)) >= 2, "there are no copies", copies(job))
        let_go(place, 2, 6)
        ended(place, job, reference)
        check("memory" not in job.said(), "there is enough\n", job)


def codings(cpus, *options):
    """How the records of the first snapshots at barriers are coded; the job has two processes.

    It runs until it has one: when the policy takes that depends on how busy the machine is, and how
    many supersteps there are until then, on the disk: none before snapshot 0 is durable."""
    with Place() as place:
        job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, *options, TICKER, place.files,
                          1000000000, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        place.wait_committed(1)
        job.signal(signal.SIGINT)
        job.wait()
        shown = subprocess.run([BSPCKPT, "show", place.store], stdout=subprocess.PIPE, check=True)
        return set(re.findall(r"records (\w+):", shown.stdout.decode()))


def compressed_where_a_core_is_idle():
    cpus = sorted(os.sched_getaffinity(0))
    check(codings(cpus[:1]) == {"raw"}, "compressed in the time that the processes were promised")
    check("lz4" in codings(cpus[:1], "--every", 1), "not compressed, although the user says when")
    if len(cpus) < 3:
        return "skipped in part: there is no third core"
    check("lz4" in codings(cpus[:3]), "not compressed, although a core is left")


if __name__ == "__main__":
    main([no_copies_in_a_small_group, none_as_soon_as_it_is_full, copies_in_a_large_one, compressed_where_a_core_is_idle])
