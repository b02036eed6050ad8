"""Snapshots that are damaged, foreign or do not fit, directories that fail: refused before anything
is touched, with one line that says why; where an older snapshot is safe, it is used and named."""
import json
import shlex
import signal
import stat

from harness import *

ROOT = os.geteuid() == 0


def stopped(place, p=2, supersteps=12, at=6, options=(), words=()):
    """A job that was saved and stopped in the superstep: its snapshots, ascending."""
    place.hold(0, at)
    job = place.ticker(p, supersteps, *words, options=["--every", "1", "--keep", "all", *options])
    place.wait_executed(0, at)
    place.wait_committed(at)
    job.signal(signal.SIGTERM)
    place.release(0, at)
    job.wait(123)
    return snapshots(place.store)


def cut(path, keep):
    with open(path, "r+b") as file:
        file.truncate(max(0, os.fstat(file.fileno()).st_size + keep if keep < 0 else keep))


def refused(place, job, *patterns):
    """Status 1 (or 2: a wrong command), one line that says why, and nothing was touched."""
    before, witness = place.contents(), place.witness()
    job = job().wait()
    check(job.status in (1, 2), "status", job)
    check(job.out() == b"", job)
    check(reasons(job) == 1, "one line is enough\n", job)
    for pattern in patterns:
        check(re.search(pattern, job.said()), "the line lacks", repr(pattern), job)
    check(place.contents() == before and place.witness() == witness, "something was touched\n", job)
    check(not marked(place.mark), "processes are left", marked(place.mark))


def reasons(job):
    """How many lines bsprun said, but for the one that tells how to go on, and where it began."""
    return sum("--restart" not in line and not re.search("^bsprun: job .* continues from", line)
               for line in job.said().splitlines())


def older_used(place, reference, name):
    """The snapshot cannot be used and the job says so, goes on from an older one, ends well."""
    job = place.restart()
    job.wait(0)
    check(job.said(), "nothing was said of the damage\n", job)
    check(f"{name[0]}.{name[1]}" in job.said() or str(name[0]) in job.said(),
          "it was not said which snapshot\n", job)
    check(reference.out.endswith(job.out()), "stdout is no tail\n", job)
    place.check_files(reference)
    place.check_clean()


def damaged(how):
    def test():
        reference = Reference.of(2, 12)
        with Place() as place:
            newest = stopped(place)[-1]
            how(place, newest)
            older_used(place, reference, newest)
    return test


def damage_everywhere(place):
    for name in snapshots(place.store):
        for pid in range(2):
            if os.path.exists(image(place, name, pid)):
                flip(image(place, name, pid), 3000)


def group_writable(place, newest):
    os.chmod(image(place, newest), 0o660)


def swap_images(place, newest):
    a, b = image(place, newest, 0), image(place, newest, 1)
    os.rename(a, a + ".x")
    os.rename(b, a)
    os.rename(a + ".x", b)


def of_an_older_one(place, newest):
    """The image of the same process in another snapshot under this one's name."""
    other = snapshots(place.store)[-2]
    with open(image(place, other), "rb") as file:
        content = file.read()
    with open(image(place, newest), "wb") as file:
        file.write(content)


DAMAGES = {
    "a_flipped_bit_in_data": lambda place, newest: flip(image(place, newest, 1), 30000),
    "a_flipped_bit_in_the_header": lambda place, newest: flip(image(place, newest, 1), 40),
    "a_flipped_bit_at_the_end": lambda place, newest: flip(image(place, newest, 0), -3),
    "a_truncated_image": lambda place, newest: cut(image(place, newest, 1), -100),
    "an_empty_image": lambda place, newest: cut(image(place, newest, 0), 0),
    "a_missing_image": lambda place, newest: os.unlink(image(place, newest, 1)),
    "swapped_images": swap_images,
    "an_image_of_another_snapshot": of_an_older_one,
    "a_group_writable_image": group_writable,
    "a_damaged_manifest": lambda place, newest: flip(
        os.path.join(directory(place, newest), "manifest"), 100),
    "a_truncated_manifest": lambda place, newest: cut(
        os.path.join(directory(place, newest), "manifest"), -1),
}


def an_image_of_another_owner():
    if not ROOT:
        return "skipped: needs root"
    reference = Reference.of(2, 12)
    with Place() as place:
        newest = stopped(place)[-1]
        os.chown(image(place, newest), 65534, -1)
        older_used(place, reference, newest)


def a_lost_record():
    """Of which terms began there are two: either is enough, and bspckpt says what is missing."""
    reference = Reference.of(2, 12)
    for name, how in (("term", os.unlink), ("term.copy", os.unlink),
                      ("term", lambda path: flip(path, 40))):
        with Place() as place:
            stopped(place)
            how(os.path.join(place.store, jobs(place.store)[0], name))
            verify = subprocess.run([BSPCKPT, "verify", place.store], capture_output=True, text=True,
                                    check=False)
            check(verify.returncode == 1 and f"/{name}: " in verify.stdout, verify.stdout)
            job = place.restart().wait(0)
            check(reference.out.endswith(job.out()), "stdout is no tail\n", job)
            place.check_files(reference)
            place.check_store()


def both_records_lost():
    """Nothing is believed until it was put together, and then what counted."""
    reference = Reference.of(2, 12)
    with Place() as place:
        newest = stopped(place)[-1]
        job = os.path.join(place.store, jobs(place.store)[0])
        for name in ("term", "term.copy"):
            os.unlink(os.path.join(job, name))
        os.unlink(os.path.join(directory(place, newest), "manifest"))
        refused(place, place.restart, "bspckpt repair")
        repair = subprocess.run([BSPCKPT, "repair", place.store], capture_output=True, text=True,
                                check=False)
        check(repair.returncode == 0 and "2 files made again" in repair.stdout,
              repair.stdout + repair.stderr)
        place.check_store()
        job = place.restart().wait(0)
        check(f"from superstep {newest[0]}" in job.said() or not job.said(), job)
        check(reference.out.endswith(job.out()), "stdout is no tail\n", job)
        place.check_files(reference)


def a_damaged_record_of_the_end():
    """Whether the job has ended is not known; whoever knows is told what to do."""
    reference = Reference.of(2, 12)
    with Place() as place:
        stopped(place)
        file = place.write(os.path.join(place.store, jobs(place.store)[0], "finished"), "yes")
        os.chmod(file, 0o600)
        refused(place, place.restart, "not a record of the end", "to continue the job, remove finished")
        os.unlink(file)
        job = place.restart().wait(0)
        check(reference.out.endswith(job.out()), "stdout is no tail\n", job)
        place.check_files(reference)
        place.check_clean()


def a_newest_job_that_cannot_be_read():
    """It may be the one that is meant, so no other is continued in its place."""
    reference = Reference.of(2, 12)
    with Place() as place:
        place.ticker(2, 5, "-x", 3).wait(3)
        older = jobs(place.store)[0]
        for name in listing(place.files):
            os.unlink(os.path.join(place.files, name))
        stopped(place)
        newest, = (name for name in jobs(place.store) if name != older)
        for name in ("term", "term.copy"):
            flip(os.path.join(place.store, newest, name), 40)
        refused(place, place.restart, f"job {newest} may be the newest", "bspckpt repair")
        place.restart(at="/" + older).wait(3)
        repair = subprocess.run([BSPCKPT, "repair", place.store], capture_output=True, text=True,
                                check=False)
        check(repair.returncode == 0, repair.stdout + repair.stderr)
        job = place.restart().wait(0)
        check(job.out() and reference.out.endswith(job.out()), "stdout is no tail\n", job)
        place.check_files(reference)
        place.check_clean()


def a_newest_job_that_cannot_be_opened():
    """The same if it is its directory: others may write to it, or the user may not look into it."""
    with Place() as place:
        place.ticker(2, 5, "-x", 3).wait(3)
        older = jobs(place.store)[0]
        for name in listing(place.files):
            os.unlink(os.path.join(place.files, name))
        stopped(place)
        newest, = (name for name in jobs(place.store) if name != older)
        for mode in (0o770,) if ROOT else (0o770, 0o000, 0o300, 0o600):
            os.chmod(os.path.join(place.store, newest), mode)
            witness = place.witness()
            job = place.restart().wait(1)
            os.chmod(os.path.join(place.store, newest), 0o700)
            check(f"job {newest} may be the newest, but cannot be opened" in job.said() and reasons(job) == 1, oct(mode), job)
            check(job.out() == b"" and place.witness() == witness, "something was done\n", job)
        place.restart().wait(0)
        place.check_clean()


def all_damaged():
    with Place() as place:
        stopped(place)
        damage_everywhere(place)
        before = place.contents()
        job = place.restart().wait()
        check(job.status not in (0, 123) and job.said(), job)
        check(job.out() == b"" and place.contents() == before, "something was touched\n", job)
        place.check_clean()


def damaged_while_it_runs():
    """A rank is lost whose newest image is damaged: everybody goes back further."""
    reference = Reference.of(2, 12)
    with Place() as place:
        for pid in range(2):
            place.hold(pid, 6)
        job = place.ticker(2, 12, options=["--every", "1", "--keep", "all"])
        ranks = [place.wait_executed(pid, 6) for pid in range(2)]
        place.wait_committed(6)
        newest = snapshots(place.store)[-1]
        flip(image(place, newest, 1), 30000)
        kill_copies(job.agent())
        place.kill(ranks[1])
        place.release(0, 6)
        place.release(1, 6)
        job.check_all(reference)
        place.check_files(reference)
        place.check_clean()


def all_lost_while_it_runs():
    """The job ends, and what is said last is what is wrong here: there is no other host."""
    for what, pattern in (("images", "no snapshot can be used: snapshot 6.1 cannot be used: "),
                          ("snapshots", "job [0-9a-f]+ has no snapshot"), ("records", ": term: ")):
        with Place() as place:
            for pid in range(2):
                place.hold(pid, 6)
            job = place.ticker(2, 12, options=["--every", "1", "--keep", "all"])
            ranks = [place.wait_executed(pid, 6) for pid in range(2)]
            place.wait_committed(6)
            place.wait_copied((6, 1))
            for name in snapshots(place.store):
                if what == "images":
                    for file in listing(directory(place, name)):
                        if file.endswith(".img"):
                            os.unlink(os.path.join(directory(place, name), file))
                elif what == "snapshots":
                    shutil.rmtree(directory(place, name))
            for name in ("term", "term.copy") if what == "records" else ():
                os.unlink(os.path.join(place.store, jobs(place.store)[0], name))
            kill_copies(job.agent())
            send(ranks[1], signal.SIGKILL)
            place.release(0, 6)
            place.release(1, 6)
            job.wait()
            check(job.status not in (0, 123), "status", job)
            where = re.escape(shlex.quote(place.store))
            check(re.search(pattern + f".*; bspckpt verify {where} ", job.said()), what, job)
            check("this host" not in job.said(), what, "are on another host", job)


def full_ones(place):
    """The snapshots in which a chain begins, ascending: (superstep, term)."""
    listed = json.loads(subprocess.run([BSPCKPT, "ls", "--json", place.store], check=True,
                                       stdout=subprocess.PIPE, text=True).stdout)
    return [(one["superstep"], one["term"]) for one in listed[0]["snapshots"]
            if one["generation"] == 0]


def a_damaged_base():
    """Under what is kept there are two full images that have nothing to do with each other: with
    one of them damaged a restart goes on from the newest snapshot that does not need it."""
    reference = Reference.of(2, 40)
    for damaged_ones in ((-1,), (-2,), (-1, -2)):
        with Place() as place:
            place.hold(0, 20)
            job = place.ticker(2, 40)
            place.wait_executed(0, 20)
            place.wait_committed(20)
            place.kill(job.os_pid)
            job.wait(-signal.SIGKILL)
            wait_until(lambda: not marked(place.mark), "the end of all processes")
            place.release(0, 20)
            bases, kept = full_ones(place), snapshots(place.store)
            check(len(bases) >= 2 and len(kept) <= 3 + 2 * 8 - 1, "bases", bases, "of", kept)
            for which in damaged_ones:
                flip(image(place, bases[which]), 30000)
            before, done = place.contents(), len(place.witness())
            job = place.restart().wait()
            if len(damaged_ones) == 2:
                check(job.status not in (0, 123) and job.said(), job)
                check(job.out() == b"" and place.contents() == before, "something was touched", job)
                continue
            check(job.status == 0 and reference.out.endswith(job.out()), "not the right end\n", job)
            place.check_files(reference)
            if damaged_ones == (-1,):
                check(f"{bases[-1][0]}.1, which is damaged" in job.said(), "not named\n", job)
                check(job.said().count("cannot be restored") == 1, "tried more than once\n", job)
                first = min(superstep for _, superstep, _ in place.witness()[done:])
                check(first == bases[-1][0] - 1, "where it went on", first)
            place.check_clean()


def a_damaged_base_while_it_runs():
    """The same when a rank is lost, whose frozen copy is lost, too: what builds on the damaged image
    costs one restart, and not one for each snapshot."""
    reference = Reference.of(2, 40)
    for which, restarts in ((-1, 2), (-2, 1)):
        with Place() as place:
            for pid in range(2):
                place.hold(pid, 20)
            job = place.ticker(2, 40)
            ranks = [place.wait_executed(pid, 20) for pid in range(2)]
            place.wait_committed(20)
            bases = full_ones(place)
            check(len(bases) >= 2, "there is no second chain", bases)
            flip(image(place, bases[which]), 30000)
            kill_copies(job.agent())
            place.kill(ranks[1])
            place.release(0, 20)
            place.release(1, 20)
            job.check_all(reference)
            place.check_files(reference)
            said = job.said()
            check(said.count("the job continues") == restarts, "restarts\n", job)
            check(said.count("cannot be restored") == restarts - 1, "tried more than once\n", job)
            last = bases[-1][0] - 1 if which == -1 else 20
            check(f"the job continues from superstep {last} (restart {restarts} of" in said, job)
            place.check_clean()


def another_program():
    """The file of the program is another one now."""
    with Place() as place:
        program = place.path("prog")
        shutil.copy(TICKER, program)
        place.hold(0, 5)
        job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1, program,
                          place.files, 10)
        place.wait_executed(0, 5)
        place.wait_committed(5)
        job.signal(signal.SIGTERM)
        place.release(0, 5)
        job.wait(123)
        os.unlink(program)
        shutil.copy(os.path.join(PROGRAMS, "refused"), program)
        refused(place, place.restart, "prog")
        os.unlink(program)
        refused(place, place.restart, "prog")
        # What is there now is not executed, however often it is tried.
        place.write("prog", f"#!/bin/sh\necho executed >>{place.path('trace')}\n")
        os.chmod(program, 0o755)
        for _ in range(3):
            refused(place, place.restart, "prog.*another program|prog.*not the program")
        check(not os.path.exists(place.path("trace")), "another program was executed")
        os.unlink(program)
        shutil.copy(TICKER, program)
        place.restart().check_tail(Reference.of(2, 10))


def a_program_of_others():
    """Where everybody may write, the same program by another user's hand is not executed."""
    if not ROOT:
        return "skipped: needs root"
    with Place() as place:
        os.mkdir(place.path("open"))
        os.chmod(place.path("open"), 0o777)
        program = place.path("open", "prog")
        shutil.copy(TICKER, program)
        place.hold(0, 5)
        job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1, program,
                          place.files, 10)
        place.wait_executed(0, 5)
        place.wait_committed(5)
        job.signal(signal.SIGTERM)
        place.release(0, 5)
        job.wait(123)
        os.chown(program, 12345, -1)
        refused(place, place.restart, "user 12345")
        os.chmod(place.path("open"), 0o755)
        place.restart().check_tail(Reference.of(2, 10))


def another_version_of_the_library():
    """One line that names both, and the program is not started."""
    with Place() as place:
        place.hold(0, 20)
        job = place.ticker(2, 40, options=["--every", "1", "--keep", "all"])
        place.wait_executed(0, 20)
        place.wait_committed(20)
        place.kill(job.os_pid)
        job.wait(-signal.SIGKILL)
        wait_until(lambda: not marked(place.mark), "the end of all processes")
        base = full_ones(place)[-1]
        subprocess.run([os.path.join(PROGRAMS, "older"), directory(place, base)], check=True)
        refused(place, lambda: place.restart(at=f"@{base[0]}"),
                r"libbsp 1\).*libbsp [2-9]", f"{base[0]}.1")


def another_number_of_processes():
    with Place() as place:
        stopped(place, p=3)
        refused(place, lambda: place.restart(options=["-np", 2]), r"\b3\b")
        place.restart(options=["-np", 3]).wait(0)


def another_command():
    with Place() as place:
        stopped(place)
        refused(place, lambda: place.restart(os.path.join(PROGRAMS, "refused")), "refused|ticker")


def missing_data_file():
    with Place() as place:
        stopped(place)
        os.unlink(place.path("files", "appended.1"))
        refused(place, place.restart, "appended.1")


def shortened_input_file():
    with Place() as place:
        stopped(place)
        cut(place.path("files", "given"), 10)
        refused(place, place.restart, "given")


def shortened_output_file():
    """The program may have cut it itself: it becomes as long as it was, which is said."""
    with Place() as place:
        stopped(place)
        length = os.path.getsize(place.path("files", "appended.0"))
        cut(place.path("files", "appended.0"), 10)
        job = place.restart().wait(0)
        check(re.search("appended.0 is shorter", job.said()), job)
        check(reasons(job) == 1, job)
        reference = Reference.of(2, 12).files["appended.0"]
        check(place.contents()["appended.0"][length:] == reference[length:], "the rest differs")


def a_directory_of_others():
    with Place() as place:
        os.mkdir(place.store)
        os.chmod(place.store, 0o770)
        refused(place, lambda: place.ticker(2, 5), re.escape(place.store))
        os.chmod(place.store, 0o777)
        refused(place, lambda: place.ticker(2, 5), re.escape(place.store))
        os.chmod(place.store, 0o700)
        place.ticker(2, 5).wait(0)
    with Place() as place:
        place.ticker(1, 5).wait(0)
        mode = stat.S_IMODE(os.stat(place.store).st_mode)
        check(mode == 0o700, "made with mode", oct(mode))


def no_directory_at_all():
    with Place() as place:
        place.write("file", "a file")
        for path in (place.path("file"), place.path("file", "below"), "/proc/nothing"):
            refused(place, lambda: place.start(BSPRUN, "-np", 1, "--ckpt", path, TICKER,
                                               place.files, 5), re.escape(path))
        refused(place, place.restart, re.escape(place.store))
        os.mkdir(place.store, 0o700)
        refused(place, place.restart, re.escape(place.store))


def a_readonly_directory():
    if ROOT:
        return "skipped: root may write everywhere"
    with Place() as place:
        os.mkdir(place.store, 0o500)
        refused(place, lambda: place.ticker(2, 5), re.escape(place.store))


def a_full_disk():
    """A small file system of its own: the snapshots until then are good, the job says what is."""
    with Place() as place:
        os.mkdir(place.store, 0o700)
        # $2: one that has no room for a first snapshot, or for no second one.
        script = 'mount -t tmpfs -o size=$2,mode=700 none "$1" || exit 77; shift 2; exec "$@"'
        unshare = [shutil.which("unshare") or "unshare", "-m" if ROOT else "-rm"]
        inside = [*unshare, "/bin/sh", "-c", script, "sh", place.store, "6m"]
        trial = subprocess.run([*BEFORE, *inside, "true"], capture_output=True, check=False)
        if trial.returncode:
            return "skipped: no private mounts here"
        job = place.start(*inside, BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1,
                          "--on-refuse", "stop", TICKER, place.files, 12, "-m", 4)
        job.wait()
        check(re.search("(?i)no space", job.said()), "should say that the disk is full\n", job)
        check(job.status not in (0, 123), "status", job)
        place.check_clean()
    with Place() as place:
        os.mkdir(place.store, 0o700)
        job = place.start(*inside[:-2], place.store, "6m", BSPRUN, "-np", 2, "--ckpt", place.store,
                          "--every", 1, "--on-refuse", "continue", TICKER, place.files, 12, "-m", 4)
        job.check_all(Reference.of(2, 12, "-m", 4))
        check(re.search("(?i)no space", job.said()), "should say that the disk is full\n", job)
        check(job.said().count("no snapshot") == 1 + job.said().count("taken again"),
              "once is enough\n", job)
    with Place() as place:
        os.mkdir(place.store, 0o700)
        job = place.start(*inside[:-2], place.store, "12m", BSPRUN, "-np", 2, "--ckpt", place.store,
                          "--every", 1, TICKER, place.files, 12, "-m", 4)
        job.check_all(Reference.of(2, 12, "-m", 4))
        check(re.search("(?i)no space", job.said()), "should say that the disk is full\n", job)
        check(re.search("restart would continue from superstep [1-9]", job.said()), "from where?\n", job)


def a_restart_on_a_full_disk():
    """What could not be written is said once; it was no snapshot."""
    with Place() as place:
        stopped(place)
        os.rename(place.store, place.path("kept"))
        os.mkdir(place.store, 0o700)
        script = ('mount -t tmpfs -o size=12m,mode=700 none "$1" || exit 77; cp -a "$2/." "$1" || exit 78; '
                  'dd if=/dev/zero of="$1/full" bs=4k 2>/dev/null; shift 2; exec "$@"')
        unshare = [shutil.which("unshare") or "unshare", "-m" if ROOT else "-rm"]
        inside = [*unshare, "/bin/sh", "-c", script, "sh", place.store, place.path("kept")]
        trial = subprocess.run([*BEFORE, *inside, "true"], capture_output=True, check=False)
        check(trial.returncode != 78, "the snapshots are too large for this test", trial.stderr)
        if trial.returncode:
            return "skipped: no private mounts here"
        job = place.start(*inside, BSPRUN, "--restart", place.store).wait(1)
        check("cannot note the term: No space left on device" in job.said(), job)
        check("a snapshot could not be written" not in job.said() and reasons(job) == 1, job)


def a_directory_that_disappears():
    for rule in ("stop", "first", "continue"):
        with Place() as place:
            place.hold(0, 6)
            job = place.ticker(2, 12, options=["--every", "1", "--on-refuse", rule])
            place.wait_executed(0, 6)
            place.wait_committed(6)
            os.rename(place.store, place.path("elsewhere"))
            shutil.rmtree(place.path("elsewhere"), ignore_errors=True)
            place.release(0, 6)
            job.wait()
            check(job.said(), "nothing was said\n", job)
            if rule != "stop":
                job.check_all(Reference.of(2, 12))
                check("restart would continue from superstep 6" in job.said(), "from where?\n", job)
            else:
                check(job.status not in (0, 123), "status", job)
            place.check_clean()


def a_stop_that_cannot_be_saved():
    """The snapshot fails for which the job was to go on until the next barrier: it stops all the
    same, does not say that it was saved, and goes on later from the one before."""
    reference = Reference.of(2, 12)
    with Place() as place:
        place.hold(0, 6)
        job = place.ticker(2, 12, options=("--every", "1", "-vv"))
        place.wait_executed(0, 6)
        place.wait_committed(6)
        in_the_way = directory(place, (7, 1))
        open(in_the_way, "w").close()
        job.signal(signal.SIGTERM)
        wait_until(lambda: "event SAVE" in job.said(), "Processor Zero to know of the signal")
        place.release(0, 6)
        job.wait(123)
        check("without a new snapshot" in job.said() and "7.1" in job.said(), "why?\n", job)
        check("saved" not in job.said(), "it was not\n", job)
        check(not marked(place.mark), "processes are left after 123")
        os.unlink(in_the_way)
        check(place.committed() == 6, "snapshots", snapshots(place.store))
        place.restart().check_tail(reference)
        place.check_files(reference)
        place.check_clean()


def a_snapshot_that_is_asked_for_and_fails():
    """bspctl --wait does not wait for another one."""
    with Place() as place:
        place.hold(0, 6)
        job = place.ticker(2, 12, options=("--every", "1000", "--on-refuse", "continue", "-vv"))
        place.wait_executed(0, 6)
        place.wait_committed(0)
        open(directory(place, (7, 1)), "w").close()
        asked = subprocess.Popen([BSPCTL, "--wait", str(job.os_pid), "save"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        wait_until(lambda: "event SAVE" in job.said(), "Processor Zero to know of the request")
        place.hold(0, 9)
        place.release(0, 6)
        try:
            said, _ = asked.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            asked.kill()
            asked.communicate()
            raise Failed("bspctl waits for ever", job) from None
        check(asked.returncode == 1 and re.search("^bspctl: job .*: no snapshot after superstep 7: .*7.1", said), said)
        place.release(0, 9)
        job.check_all(Reference.of(2, 12))
        os.unlink(directory(place, (7, 1)))
        place.check_clean()


STATES = {"thread": "thread", "socket": "socket", "pipe": "pipe", "deleted": "deleted",
          "timer": "timer", "lock": "lock", "shared": "shared|memfd",
          "child": r"process \d+ \(.*refused child\), which has not been waited for",
          "ended": r"process \d+ \(refused\), which has ended and has not been waited for",
          "seccomp": "a filter of system calls"}
if os.geteuid() == 0:
    STATES["users"] = "other user ids than its node agent"


def a_umask_that_takes_all():
    def with_umask(umask, *words):
        return ["/bin/sh", "-c", f'umask {umask}; exec "$@"', "sh", *words]
    with Place() as place:
        # The program opens its own files again, which only root could.
        program = with_umask("022", TICKER, place.files, 12)
        job = place.start(*with_umask("777", BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 4,
                                      "--", *program))
        job.wait(0)
        modes = {stat.S_IMODE(os.stat(os.path.join(directory, name)).st_mode)
                 for directory, directories, files in os.walk(place.store) for name in files + directories}
        modes.add(stat.S_IMODE(os.stat(place.store).st_mode))
        check(modes == {0o600, 0o700}, "modes", [oct(mode) for mode in modes])
        check(snapshots(place.store), "no snapshots")
        place.check_store()


def what_cannot_be_kept():
    program = os.path.join(PROGRAMS, "refused")
    for what, pattern in STATES.items():
        with Place() as place:
            job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1, program, what,
                              cwd=place.files)
            job.wait()
            check(job.status not in (0, 123) and job.out() == b"", what, job)
            check(re.search(pattern, job.said()), what, "is not named:", job)
            check(reasons(job) == 1, what, "more than a line:", job)
            place.check_clean()
        with Place() as place:
            job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1, "--on-refuse",
                              "continue", program, what, cwd=place.files)
            job.wait(0)
            check(job.out() == b"done\n", what, job)
            check(re.search(pattern, job.said()), what, "is not named:", job)
            check(reasons(job) == 1, what, "more than a line:", job)
            place.check_clean()


def what_is_excluded():
    program = os.path.join(PROGRAMS, "refused")
    with Place() as place:
        job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1, "--ckpt-exclude",
                          "path:*refused.file*", program, "deleted", cwd=place.files)
        job.wait(0)
        check(job.said() == "" and job.out() == b"done\n", job)


def words_that_make_no_sense():
    with Place() as place:
        for words in (["--every", "0"], ["--every", "often"], ["--keep", "0"], ["--async", "maybe"],
                      ["--overhead", "-3%"], ["--max-restarts", "x"], ["--on-refuse", "perhaps"],
                      ["--ckpt-exclude", "nonsense"], ["--grace", "never"], ["--every", "-5s"]):
            job = place.ticker(1, 3, options=words).wait()
            check(job.status == 2 and reasons(job) == 1, words, job)
            check(not os.path.exists(place.store), "a store was made for", words)
            check(not place.witness(), "it ran with", words)


if __name__ == "__main__":
    main([*((name, damaged(how)) for name, how in DAMAGES.items()), an_image_of_another_owner,
          a_lost_record, both_records_lost, a_damaged_record_of_the_end,
          a_newest_job_that_cannot_be_read, a_newest_job_that_cannot_be_opened, all_damaged, damaged_while_it_runs,
          all_lost_while_it_runs, a_damaged_base,
          a_damaged_base_while_it_runs, another_program, a_program_of_others,
          another_version_of_the_library,
          another_number_of_processes, another_command, missing_data_file, shortened_input_file,
          shortened_output_file,
          a_directory_of_others, no_directory_at_all, a_readonly_directory, a_full_disk,
          a_restart_on_a_full_disk, a_directory_that_disappears, a_stop_that_cannot_be_saved,
          a_snapshot_that_is_asked_for_and_fails, a_umask_that_takes_all, what_cannot_be_kept,
          what_is_excluded, words_that_make_no_sense], together=3)
