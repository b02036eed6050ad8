"""Jobs on hosts that share no directory of snapshots, and not always the program.

The first host is bsprun's and takes part.  Images are on two hosts each.
"""
import glob
import signal

from jobs import *
from jobs import BUILD, HostPlace

SUPERSTEPS = 16
AT = 6
WORDS = (SUPERSTEPS, "-m", 1)
MPI_CASES = os.path.join(BUILD, "tests", "integ", "integ_mpi")


def held_job(p, **more):
    """A place with a job whose processes all stand in superstep AT, which is saved."""
    place = HostPlace(private=True, here=True, **more)
    return place, start_held(place, p)


def start_held(place, p):
    for pid in range(p):
        place.hold(pid, AT)
    job = place.ticker(p, *WORDS)
    for pid in range(p):
        place.wait_executed(pid, AT)
    place.wait_committed(AT)
    return job


def release_all(place, p):
    for pid in range(p):
        place.release(pid, AT)


def stop_all(place, job):
    place.strike(lambda: send(job.os_pid, signal.SIGKILL))
    job.wait()
    wait_until(lambda: not any(place.farm.processes(name) for name in place.farm.names),
               "the end of all processes", GONE)


def check_end(place, job, p):
    reference = Reference.of(p, *WORDS, "-a")
    if job.status is None and job is place.started[0]:
        job.check_all(reference)
    else:
        job.check_tail(reference)
    try:
        place.check_files(reference)
        place.check_executions()
    except Failed as failure:
        raise Failed(f"{failure}\n{job}") from None
    place.check_clean()


def hosts_lost():
    """One after the other, without a snapshot in between: each image has its two copies again as soon
    as the job goes on."""
    p = 4
    place, job = held_job(p, hosts=6, spares=2)
    with place:
        for lost in ("c", "d"):
            before = {pid: len(place.executed(pid, AT)) for pid in range(p)}
            place.strike(lambda: place.farm.kill_host(lost))
            for pid in range(p):
                place.wait_executed(pid, AT, before[pid] + 1)
            for pid in range(p):
                kept_twice(place, pid)
        release_all(place, p)
        check_end(place, job, p)


def kept_twice(place, pid):
    def count():
        found = 0
        for store in place.stores():
            for directory, _, names in os.walk(store):
                found += os.path.basename(directory).startswith(f"{AT}.") and f"{pid}.img" in names
        return found
    wait_until(lambda: count() >= 2, f"two copies of the image of process {pid}")


def begun(place, p, first):
    """A job whose processes stand in that superstep, and then will in AT."""
    for superstep in (first, AT):
        for pid in range(p):
            place.hold(pid, superstep)
    job = place.ticker(p, *WORDS)
    for pid in range(p):
        place.wait_executed(pid, first)
    place.wait_committed(first)
    return job


def went_back(place, p, first=2):
    """A job that was started, whose processes stand in superstep AT of term 2."""
    job = begun(place, p, first)
    place.kill(place.executed(0, first)[-1])
    for pid in range(p):
        place.wait_executed(pid, first, 2)
        place.release(pid, first)
    for pid in range(p):
        place.wait_executed(pid, AT)
    place.wait_committed(AT)
    return job


def killed(place, job):
    """bsprun, and so all of the job."""
    place.strike(lambda: send(job.os_pid, signal.SIGKILL))
    job.process.wait()
    wait_until(lambda: not any(place.farm.processes(name) for name in place.farm.names if place.farm.hosts[name].init),
               "the end of all processes", GONE)


def came_late():
    """A spare that has never heard of term 2 is the only host that is left, with a snapshot of that term."""
    p = 2
    with HostPlace(hosts=3, spares=1, private=True, here=True) as place:
        job = went_back(place, p)
        place.strike(lambda: place.farm.kill_host("b"))
        for pid in range(p):
            place.wait_executed(pid, AT, 2)
            place.wait_kept(AT, pid, ["a", "c"])
        killed(place, job)
        place.farm.kill_host("a")
        release_all(place, p)
        place.farm.names[:] = ["c", "a", "b"]
        place.slots = p
        check_end(place, place.restart(names=["c"], options=["--spares", 0]), p)


def damaged_copy():
    """What comes is looked at before it counts; another host has a better one."""
    p = 3
    place, job = held_job(p, hosts=4, spares=1, options=["--copies", 3])
    with place:
        # The host that is asked first has a copy of another process's image.
        image = f"{place.store_on('a')}/{jobs(place.store_on('a'))[0]}/{AT}.1/2.img"
        with open(image, "r+b") as file:
            file.seek(os.path.getsize(image) // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        place.strike(lambda: place.farm.kill_host("c"))
        release_all(place, p)
        check_end(place, job, p)
        check("the data of host a cannot be used" in job.said(), job)


@long
def damaged_own():
    """What a host has of its own is useless, and another one has it whole: also the first host, where bsprun looks for
    the newest snapshot, or for that of a superstep.  It is used all the same, and the image is whole again."""
    p = 3
    for host, pid, at in (("b", 1, ""), ("a", 0, ""), ("a", 0, f"@{AT}")):
        place, job = held_job(p, hosts=3)
        with place:
            stop_all(place, job)
            image = f"{place.store_on(host)}/{jobs(place.store_on(host))[0]}/{AT}.1/{pid}.img"
            size = os.path.getsize(image)
            os.truncate(image, size - 100)
            restarted = place.restart(at=at, names=["a", "b", "c"])
            for other in range(p):
                place.wait_executed(other, AT, 2)
                check(len(place.executed(other, AT - 1)) == 1, "process", other, "went back further")
            check(os.path.getsize(image) == size, "host", host, "has the damaged image still")
            check({term for _, term in snapshots(place.store_on(host))} <= {1, 2}, "it went back twice", restarted)
            release_all(place, p)
            check_end(place, restarted, p)
            check(host != "a" or f"snapshot {AT}.1 cannot be used unless another host has it whole" in restarted.said(), restarted)


def restarted():
    """Everything is killed, and one host does not come back."""
    p = 3
    place, job = held_job(p, hosts=3)
    with place:
        stop_all(place, job)
        place.farm.kill_host("b")
        release_all(place, p)
        check_end(place, place.restart(names=["a", "c"]), p)


def restarted_elsewhere():
    """From another host than the job was begun on: each host has the images where the user said."""
    p = 3
    place, job = held_job(p, hosts=3)
    with place:
        stop_all(place, job)
        place.farm.names[:] = ["b", "c", "a"]
        release_all(place, p)
        check_end(place, place.restart(names=["b", "c", "a"]), p)
        for name in place.farm.names:
            terms = {term for superstep, term in snapshots(place.store_on(name)) if superstep > AT}
            check(2 in terms, "host", name, "has none of the later snapshots where they belong", terms)


@long
def restarted_where_it_was_left_behind():
    """On a host that was not there in the last term, together with one that was: it would begin another
    term 2, from an older snapshot."""
    p, first = 2, 2
    with HostPlace(hosts=2, private=True, here=True) as place:
        killed(place, begun(place, p, first))
        job = place.restart(names=["a"])
        for pid in range(p):
            place.release(pid, first)
        wait_until(lambda: (AT, 2) in snapshots(place.store_on("a")), "a snapshot on host a alone")
        killed(place, job)
        before = {name: snapshots(place.store_on(name)) for name in place.farm.names}
        place.farm.names[:] = ["b", "a"]
        job = place.restart(names=["b", "a"]).wait(1)
        check(re.search(r"^bsprun: .*host a has later terms of this job \(term 2\)", job.said(), re.M), job)
        check("bsprun --restart there, or leave it out of --hosts" in job.said(), job)
        after = {name: snapshots(place.store_on(name)) for name in place.farm.names}
        check(before == after, "snapshots:", before, after, job)
        place.farm.names[:] = ["a", "b"]
        release_all(place, p)
        check_end(place, place.restart(names=["a", "b"]), p)


def term_noted_late():
    """A host that cannot write which term has begun has no snapshot of that term, as it would not count
    there; when it can, those that follow count."""
    p, words = 2, (60, "-m", 1)
    with HostPlace(hosts=2, private=True, here=True) as place:
        for superstep in (2, AT):
            for pid in range(p):
                place.hold(pid, superstep)
        job = place.ticker(p, *words, "-t", 10, options=("--every", "1", "--keep", "1"))
        for pid in range(p):
            place.wait_executed(pid, 2)
        place.wait_committed(2)
        record = f"{place.store_on('b')}/{jobs(place.store_on('b'))[0]}/term"
        os.mkdir(record + ".tmp")
        place.kill(place.executed(0, 2)[-1])
        for pid in range(p):
            place.wait_executed(pid, 2, 2)
            place.release(pid, 2)
        for pid in range(p):
            place.wait_executed(pid, AT)
        check(re.search(r"host b: .*cannot note the term.*; it will be tried again with the next snapshot", job.said()), job)
        check("no snapshot after superstep 3: " in job.said(), job)
        for name in place.farm.names:
            check((2, 1) in snapshots(place.store_on(name)), "host", name, "has lost what it began from", job)
        check(place.committed() == 2, "a snapshot that does not count on host b", job)
        os.rmdir(record + ".tmp")
        release_all(place, p)
        job.check_all(Reference.of(p, *words, "-a"))
        listed = place.farm.run("b", [harness.BSPCKPT, "ls", "--local", place.store]).stdout
        check(re.search(r" \d+\.2 .* committed$", listed, re.M) and "retired" not in listed, listed)
        place.check_files(Reference.of(p, *words, "-a"))
        place.check_clean()


def hidden_place(shared):
    """Where DIR is, host b has a file, so its images go to $TMPDIR, which it has for itself or shares with other jobs of the
    user: also with those of another run of these tests.  A place with a job that is held, and the job's directory there as
    seen from here."""
    place = HostPlace(hosts=2, private=True, here=True)
    with open(place.store_on("b"), "w", encoding="utf-8"):
        pass
    directory = os.environ.get("TMPDIR", "/tmp") if shared else os.path.dirname(place.store)
    if not shared:
        own_temporary(place)
    job = start_held(place, 2)
    root = f"/proc/{place.farm.hosts['b'].init}/root"
    # Which user a host takes this one for depends on its namespace.
    anybody = os.path.join(root + directory, "bspzero-store-*-1*", jobs(place.store_on("a"))[0])
    hidden = (glob.glob(anybody) or [anybody])[0]
    check(listing(hidden), "host b has nothing in", hidden)
    return place, job, hidden


def hidden_store():
    """Images of a host that cannot have the path: gone with a good end; after a bad one bspckpt finds
    them, and removes them with the job."""
    place, job, hidden = hidden_place(shared=False)
    with place:
        release_all(place, 2)
        check_end(place, job, 2)
        check(not os.path.exists(hidden), "left:", listing(hidden))
    place, job, hidden = hidden_place(shared=False)
    with place:
        send(job.os_pid, signal.SIGKILL)
        job.process.wait()
        wait_until(lambda: not any(place.farm.processes(name) for name in place.farm.names),
                   "the end of all processes", GONE)
        name = jobs(place.store_on("a"))[0]
        check(listing(hidden), "the images went with bsprun")

        def bspckpt(*words):
            done = place.farm.run("a", [harness.BSPCKPT, *words])
            check(done.returncode == 0 and done.stderr == "", words, done)
            return done.stdout
        check(re.search(rf"^on host b:\nin \S*/bspzero-store-\d+-1(?:-\d)?/{name}:$",
                        bspckpt("ls", place.store), re.M), "not listed")
        check(" 0 damaged files" in bspckpt("verify", place.store), "verify")
        check("on host b: " in bspckpt("rm", f"{place.store}/{name}"), "rm")
        check(not os.path.exists(hidden) and not jobs(place.store_on("a")), "left", listing(hidden))


def hidden_stores_of_two_jobs():
    """Of one user, at the same time, on the same host."""
    first, one, _ = hidden_place(shared=True)
    with first:
        second, other, _ = hidden_place(shared=True)
        with second:
            for place, job in ((second, other), (first, one)):
                release_all(place, 2)
                check_end(place, job, 2)


def own_temporary(place):
    """$TMPDIR is what each host of the place has for itself; hosts of a farm share the machine's."""
    launcher = place.write("launcher", f"""#!/bin/sh
host=$1; shift
exec {place.farm.rsh} "$host" env TMPDIR={os.path.dirname(place.store)} "$@"
""")
    os.chmod(launcher, 0o755)
    place.options[place.options.index(place.farm.rsh)] = launcher


def hidden_and_restarted(free):
    """Host c cannot have DIR, and host a does not come back: only c has an image of process 2.  `free`:
    c can have DIR by then."""
    names = ["b", "c"]
    with HostPlace(hosts=3, private=True, here=True) as place:
        with open(place.store_on("c"), "w", encoding="utf-8"):
            pass
        own_temporary(place)
        job = start_held(place, 3)

        def hidden():
            return [name for name in listing(os.path.dirname(place.store_on("c")))
                    if name.startswith("bspzero-store-")]
        check(len(hidden()) == 1 and hidden()[0].endswith("-2"), "host c has", hidden())
        place.strike(lambda: send(job.os_pid, signal.SIGKILL))
        job.process.wait()
        wait_until(lambda: not any(place.farm.processes(name) for name in place.farm.names),
                   "the end of all processes", GONE)
        place.farm.kill_host("a")
        place.farm.names[:] = [*names, "a"]
        if free:
            os.unlink(place.store_on("c"))
        release_all(place, 3)
        check_end(place, place.restart(names=names), 3)
        check(not hidden(), "left:", hidden())


@long
def hidden_at_another_number():
    """The place of a host in the list of hosts is in the name of its directory below $TMPDIR."""
    hidden_and_restarted(False)


def hidden_and_not_needed_now():
    """A host that can have DIR now goes on with the images where they are."""
    hidden_and_restarted(True)


def without_the_program():
    """It is on the first host only, and comes to a spare, too, when another host is lost."""
    p = 2
    directory = tempfile.mkdtemp(prefix="own-", dir=harness.scratch)
    program = os.path.join(directory, "a program")
    shutil.copy(TICKER, program)
    others = {name: [directory] for name in ("b", "c")}
    with HostPlace(hosts=3, spares=1, private=True, here=True, private_on=others) as place:
        place.program = program
        job = start_held(place, p)
        check(not os.path.exists(f"/proc/{place.farm.hosts['b'].init}/root{program}"), "it is there")
        place.strike(lambda: place.farm.kill_host("b"))
        release_all(place, p)
        check_end(place, job, p)


def one_store_is_gone():
    """A host that cannot begin a snapshot of a program of MPI: the other one, which can, keeps the messages that are on their
    way, and needs to hear that no more of them come.  Nobody waits for ever, and later there are snapshots again."""
    for lost in ("a", "b"):
        with HostPlace(hosts=2, private=True, here=True) as place:
            go_on = place.path("files", "go on")
            job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", "0.1s", *place.host_options(), MPI_CASES, "full",
                              go_on)
            place.wait_committed(1)
            os.rename(place.store_on(lost), place.store_on(lost) + ".gone")
            wait_until(lambda: "no snapshot after superstep" in job.said(), "a snapshot that fails")
            os.rename(place.store_on(lost) + ".gone", place.store_on(lost))
            wait_until(lambda: "snapshots are taken again" in job.said(), "a snapshot after that")
            place.write(go_on, "")
            job.wait(0)
            check(all(f"full: pid {pid}: 0 wrong" in job.out().decode() for pid in range(2)), job)


if __name__ == "__main__":
    farms.require()
    main([hosts_lost, came_late, damaged_copy, damaged_own, restarted, restarted_elsewhere,
          restarted_where_it_was_left_behind, term_noted_late, hidden_store, hidden_stores_of_two_jobs, hidden_at_another_number,
          hidden_and_not_needed_now, without_the_program, one_store_is_gone], together=3)
