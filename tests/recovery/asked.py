"""Jobs that are asked to stop as systems do it: the whole tree of processes gets the signal, or one of
it that is not bsprun, or bsprun gets it twice.  The promised snapshot is saved first."""
import signal

from harness import *

AT, SUPERSTEPS = 6, 12


def held(place, p, before=()):
    """A job whose processes stand in a superstep before its first snapshot at a barrier."""
    for pid in range(p):
        place.hold(pid, AT)
    job = place.start(BSPRUN, "-np", p, "--ckpt", place.store, "--every", 1000, "-vv", *before, TICKER,
                      place.files, SUPERSTEPS)
    for pid in range(p):
        place.wait_executed(pid, AT)
    return job


def is_saved(place, job, p):
    """It stops with a new snapshot, and goes on from it."""
    def known():  # what Processor Zero does then is done when its agent, which has said so, sleeps
        return "event SAVE" in job.said() and state_of(job.agent()) == "S"
    wait_until(lambda: not alive(job.os_pid) or known(), "Processor Zero to know")
    for pid in range(p):
        place.release(pid, AT)
    job.wait(123)
    check("ended by signal" not in job.said(), job)
    check(not marked(place.mark), "processes are left", marked(place.mark))
    check(place.committed() == AT + 1, "snapshots", snapshots(place.store), job)
    place.restart().check_tail(Reference.of(p, SUPERSTEPS))
    place.check_files(Reference.of(p, SUPERSTEPS))
    place.check_clean()


def whole_tree(p, before=(), number=signal.SIGTERM):
    def test():
        with Place() as place:
            job = held(place, p, before)
            for os_pid in sorted(marked(place.mark)):
                send(os_pid, number)
            is_saved(place, job, p)
    return test


def agent_first():
    """As one signal for all may come, in any order."""
    with Place() as place:
        job = held(place, 2)
        send(job.agent(), signal.SIGTERM)
        wait_until(lambda: "event SAVE" in job.said() or not alive(job.os_pid), "the agent's word")
        send(job.os_pid, signal.SIGTERM)
        is_saved(place, job, 2)


def the_agent_alone():
    with Place() as place:
        job = held(place, 2)
        send(job.agent(), signal.SIGTERM)
        is_saved(place, job, 2)


def by_timeout():
    """timeout(1) signals bsprun, and then its whole group, bsprun again."""
    with Place() as place:
        job = held(place, 2)
        send(job.os_pid, signal.SIGTERM)
        wait_until(lambda: "event SAVE" in job.said() or not alive(job.os_pid), "the first signal")
        send(job.os_pid, signal.SIGTERM)
        is_saved(place, job, 2)


def twice_on_purpose():
    """A second one that does not come with the first ends the job at once."""
    with Place() as place:
        job = held(place, 2)
        send(job.os_pid, signal.SIGTERM)
        wait_until(lambda: "event SAVE" in job.said(), "the first signal")
        begun = time.monotonic()
        while job.process.poll() is None:
            check(time.monotonic() - begun < PATIENCE, "it does not end", job)
            send(job.os_pid, signal.SIGTERM)
            time.sleep(0.05)
        check(job.wait().status in (123, 143), job)
        check(re.search("ended by signal 15|without a new snapshot", job.said()), job)


def before_a_fault():
    """The job goes back before it comes to the barrier: the snapshot that was asked for is taken then."""
    with Place() as place:
        job = held(place, 2)
        place.wait_committed(0)
        send(job.os_pid, signal.SIGUSR1)
        wait_until(lambda: "event SAVE" in job.said(), "Processor Zero to know")
        place.kill(place.executed(1, AT)[-1])
        place.hold(0, AT + 2)  # or the job is over first
        for pid in range(2):
            place.wait_executed(pid, AT, 2)
            place.release(pid, AT)
        place.wait_committed(1)
        place.release(0, AT + 2)
        job.check_all(Reference.of(2, SUPERSTEPS))
        place.check_clean()


def without_snapshots():
    """There is nothing to save: the first one ends the job, as ever."""
    with Place() as place:
        place.hold(0, AT)
        job = place.start(BSPRUN, "-np", 2, TICKER, place.files, SUPERSTEPS)
        place.wait_executed(0, AT)
        send(job.agent(), signal.SIGTERM)
        job.wait(128 + signal.SIGTERM)


if __name__ == "__main__":
    main([("whole_tree_of_1", whole_tree(1)), ("whole_tree_of_3", whole_tree(3)), agent_first,
          ("whole_tree_by_USR2", whole_tree(2, number=signal.SIGUSR2)),
          ("whole_tree_below_a_shell", whole_tree(2, ["/bin/sh", "-c", '"$@"; exit $?', "sh"])),
          the_agent_alone, by_timeout, twice_on_purpose, before_a_fault, without_snapshots])
