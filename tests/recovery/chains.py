"""Going on after everything has ended: --restart again and again, from where one likes, of what."""
import signal

from harness import *

LINES = b"".join(b"line %d\n" % i * (i % 50) for i in range(200))


def stop_at(place, job, superstep, pid=0):
    """Asks a job whose process is held in a superstep to save and stop: status 123."""
    place.wait_executed(pid, superstep)
    job.signal(signal.SIGTERM)
    # The job hears of it before it goes on, or it would stop one superstep later: also right.
    place.release(pid, superstep)
    return job.wait(123)


@long
def ten_times_saved_and_stopped():
    """What the eleven runs print is, one after the other, what the undisturbed one does."""
    words, out, err = (60, "-i"), b"", b""
    reference = Reference.of(3, *words, stdin=LINES)
    with Place() as place:
        place.hold(1, 5)
        job = place.ticker(3, *words, stdin=LINES)
        for turn in range(10):
            if turn < 9:
                place.hold(1, 10 + 5 * turn)
            stop_at(place, job, 5 + 5 * turn, 1)
            check(not marked(place.mark), "processes are left after 123")
            out, err = out + job.out(), err + job.program_err()
            job = place.restart(stdin=LINES)
        job.wait(0)
        check(out + job.out() == reference.out, "stdout of all",
              first_difference(out + job.out(), reference.out), job)
        check(err + job.program_err() == reference.err, "stderr of all", job)
        place.check_files(reference)
        check(len(place.witness()) == 60 * 3, "supersteps were executed twice:", place.witness())
        place.check_clean()


def ten_times_killed():
    words = (60, "-i")
    reference = Reference.of(3, *words, stdin=LINES)
    with Place() as place:
        place.hold(2, 5)
        job = place.ticker(3, *words, stdin=LINES)
        for turn in range(10):
            superstep = 5 + 5 * turn
            place.wait_executed(2, superstep)
            place.wait_committed(superstep)
            place.kill(job.os_pid)
            job.wait(-signal.SIGKILL)
            wait_until(lambda: not marked(place.mark), "the end of all processes")
            place.release(2, superstep)
            if turn < 9:
                place.hold(2, superstep + 5)
            job = place.restart(stdin=LINES)
        job.check_tail(reference)
        place.check_files(reference)
        place.check_executions()
        place.check_clean()


def from_an_older_one():
    """DIR@S continues from there, and what was newer counts no more."""
    reference = Reference.of(2, 40)
    with Place() as place:
        place.hold(0, 20)
        job = place.ticker(2, 40, options=["--every", "1", "--keep", "all"])
        stop_at(place, job, 20)
        place.hold(0, 12)
        job = place.restart(at="@7")
        check(place.wait_executed(0, 7, 2), "superstep 7 again")
        stop_at(place, job, 12)
        supersteps = [s for _, s, _ in place.witness()]
        check(min(supersteps[supersteps.index(20) + 1:]) == 7, "where it went on:", supersteps)
        place.hold(0, 13)
        job = place.restart()
        place.wait_executed(0, 13, 2)
        check(len(place.executed(0, 20)) == 1, "the newer snapshot was taken although retired")
        place.release(0, 13)
        job.check_tail(reference)
        place.check_files(reference)
        place.check_clean()


def from_one_that_is_not_there():
    with Place() as place:
        place.hold(0, 5)
        stop_at(place, place.ticker(1, 10), 5)
        before = place.contents()
        job = place.restart(at="@4711").wait(1)
        check("4711" in job.said() and job.out() == b"", job)
        check(place.contents() == before, "files were touched")
        job = place.restart(at="@nonsense")
        job.wait()
        check(job.status in (1, 2) and job.err(), job)


def finished():
    """The status again, nothing on stdout."""
    for status in (0, 3, 123):
        with Place() as place:
            place.ticker(2, 5, "-x", status, options=("--every", 1, "--keep", "all")).wait(status)
            before, witness = place.contents(), place.witness()
            for at in ("", "@2"):  # nor from an older snapshot, though it is there
                job = place.restart(at=at).wait(status)
                check(job.out() == b"" and "has ended already" in job.said(),
                      "should say that it is over\n", job)
                check(place.contents() == before and place.witness() == witness, "it ran again")
            check(2 in [superstep for superstep, _ in snapshots(place.store)], "no snapshot 2")
            place.check_clean()


def snapshot_when_asked():
    """SIGUSR1: at the next barrier, whatever the rule is."""
    reference = Reference.of(3, 10)
    with Place() as place:
        for step in range(5, 9):
            place.hold(0, step)
        job = place.ticker(3, 10, options=["--every", "1000", "-vv"])
        place.wait_executed(0, 5)
        check(place.committed() <= 0, "too early:", snapshots(place.store))
        job.signal(signal.SIGUSR1)
        wait_until(lambda: "effect CONSULT" in job.said(), "Processor Zero to hear of it")
        for step in range(5, 8):  # the processes may hear of it a moment later
            place.release(0, step)
            place.wait_executed(0, step + 1)
        place.wait_committed(6)
        place.kill(place.executed(0, 8)[-1])
        place.release(0, 8)
        job.check_all(reference)
        place.check_executions()
        place.check_files(reference)


def exactly_every_seventh():
    with Place() as place:
        place.ticker(2, 30, options=["--every", "7", "--keep", "all"]).wait(0)
        taken = [superstep for superstep, _ in snapshots(place.store)]
        # The last one may be cut short by the end of the job.
        check(taken == list(range(0, taken[-1] + 1, 7)) and taken[-1] >= 21, taken)
    with Place() as place:
        place.ticker(2, 30, options=["--every", "1", "--keep", "2"]).wait(0)
        taken = snapshots(place.store)
        # With a second chain, and what both build on.
        check(3 <= len(taken) <= 2 + 2 * 8 - 1, "--keep 2 kept", taken)


def stop_without_a_barrier():
    """A process that never comes: after the grace, 123 with the snapshot there is."""
    reference = Reference.of(2, 12)
    with Place() as place:
        place.hold(1, 5)
        job = place.ticker(2, 12, options=["--every", "1", "--grace", "1"])
        place.wait_executed(1, 5)
        place.wait_committed(5)
        job.signal(signal.SIGTERM)
        job.wait(123)
        check(not marked(place.mark), "processes are left after 123")
        place.release(1, 5)
        job = place.restart()
        job.check_tail(reference)
        place.check_files(reference)
        place.check_clean()


def soon():
    """Two seconds are promised; a machine with more to do than cores may need more for anything."""
    return 2 if os.getloadavg()[0] < len(os.sched_getaffinity(0)) else PATIENCE


def killed_bsprun_takes_all_with_it():
    """Two seconds after bsprun has terminated, so is everything else."""
    with Place() as place:
        place.hold(1, 5)
        job = place.ticker(4, 10, "-m", 16)
        place.wait_executed(1, 5)
        place.wait_committed(5)
        job.signal(signal.SIGKILL)
        gone = time.monotonic()
        job.wait(-signal.SIGKILL)
        wait_until(lambda: not marked(place.mark), "the end of all processes", soon())
        gone = time.monotonic() - gone
        place.release(1, 5)
        place.restart().check_tail(Reference.of(4, 10, "-m", 16))
        return f"ok, gone after {gone:.2f} s"


def killed_with_its_agent():
    """bsprun and the agent at once: ranks and frozen copies have nobody but themselves."""
    with Place() as place:
        for pid in range(3):
            place.hold(pid, 5)
        job = place.ticker(3, 10, "-m", 4)
        for pid in range(3):
            place.wait_executed(pid, 5)
        place.wait_committed(5)
        os.kill(job.os_pid, signal.SIGSTOP)
        place.kill(job.agent(), job.os_pid)
        job.wait(-signal.SIGKILL)
        wait_until(lambda: not marked(place.mark), "the end of all processes", soon())
        for pid in range(3):
            place.release(pid, 5)
        place.restart().check_tail(Reference.of(3, 10, "-m", 4))
        place.check_files(Reference.of(3, 10, "-m", 4))
        place.check_clean()


def by_other_signals_and_variables():
    """SIGUSR2 is SIGTERM; options come from the environment, too."""
    reference = Reference.of(2, 12)
    with Place() as place:
        place.hold(0, 5)
        job = place.start(BSPRUN, "-np", 2, TICKER, place.files, 12,
                          env={"BSPZERO_CKPT": place.store, "BSPZERO_EVERY": "1"})
        place.wait_executed(0, 5)
        place.wait_committed(5)
        job.signal(signal.SIGUSR2)
        place.release(0, 5)
        job.wait(123)
        shown = job.out()
        job = place.restart().wait(0)
        check(shown + job.out() == reference.out, job)
        place.check_files(reference)
        place.check_clean()


def two_at_once():
    """One directory, one bsprun that writes; a reader sees it."""
    reference = Reference.of(2, 10)
    with Place() as place:
        place.hold(0, 5)
        job = place.ticker(2, 10)
        place.wait_executed(0, 5)
        place.wait_committed(5)
        second = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, TICKER, place.files, 10)
        second.wait(1)
        check(second.out() == b"" and second.said().count("\n") == 1, second)
        second = place.restart().wait(1)
        check(second.out() == b"" and second.said().count("\n") == 1, second)
        place.release(0, 5)
        job.check_all(reference)
        place.check_files(reference)
        place.check_clean()


def several_jobs_in_one():
    """DIR means the newest job, DIR/JOB picks one."""
    with Place() as place:
        place.ticker(1, 5, "-x", 3).wait(3)
        first = jobs(place.store)[0]
        place.ticker(1, 5, "-x", 4).wait(4)
        check(len(jobs(place.store)) == 2, jobs(place.store))
        place.restart().wait(4)
        place.restart(at="/" + first).wait(3)


def the_clock_went_back():
    """DIR means the job that was begun last, not one of which a clock says so."""
    reference = Reference.of(2, 8)
    with Place() as place:
        ahead = place.path("ahead.so")
        os.symlink(os.environ["RECOVERY_AHEAD"], ahead)  # the path of the build may have blanks
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        place.ticker(2, 3, env={"LD_PRELOAD": ahead, "ASAN_OPTIONS": asan}).wait(0)
        for name in listing(place.files):
            os.unlink(os.path.join(place.files, name))
        place.hold(0, 5)
        job = place.ticker(2, 8)
        place.wait_executed(0, 5)
        wait_until(lambda: any(superstep >= 5 for superstep, _ in snapshots(place.store)), "a snapshot")
        job.signal(signal.SIGKILL)
        job.wait(-signal.SIGKILL)
        wait_until(lambda: not marked(place.mark), "the end of all processes")
        place.release(0, 5)
        job = place.restart().wait(0)
        check("has ended already" not in job.said(), "it is the other job\n", job)
        check(job.out() and reference.out.endswith(job.out()), "stdout is no tail\n", job)
        place.check_files(reference)
        place.check_clean()


if __name__ == "__main__":
    main([ten_times_saved_and_stopped, ten_times_killed, from_an_older_one,
          from_one_that_is_not_there, finished, snapshot_when_asked, exactly_every_seventh,
          stop_without_a_barrier, killed_bsprun_takes_all_with_it,
          killed_with_its_agent, by_other_signals_and_variables, two_at_once,
          several_jobs_in_one, the_clock_went_back], together=3)
