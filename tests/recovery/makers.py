"""The short-lived process that makes a copy of a rank is killed, at the worst moment: the copy is
there, and nobody has said so yet.  An image has one writer all the same.

Below a shell the agent is not a rank's parent, so copies are made by such a process.  It waits for the
agent, which is stopped here while it does."""
import signal

from harness import *

P, SUPERSTEPS, MEBIBYTES = 1, 60, 24
HITS = 1  # snapshots in which makers die, at least


def below_a_shell(place):
    return ["/bin/sh", "-c", '"$@"; exit $?', "sh", TICKER, place.files, SUPERSTEPS, "-m", MEBIBYTES]


def makers(rank):
    """Those that wait for the agent: children of the rank with a child of their own."""
    return [child for child in children_of(rank) if alive(child) and children_of(child)]


def kill_makers(agent, rank):
    """Stops the agent as soon as a maker is there, and kills what makers wait then and come after;
    how many."""
    while not children_of(rank) and alive(rank):
        pass  # it is there for a moment only
    killed = 0
    send(agent, signal.SIGSTOP)
    try:
        wait_until(lambda: state_of(agent) in ("T", "t"), "the agent to stop")
        while True:
            end = time.monotonic() + (0.1 if killed else 0.02)
            while time.monotonic() < end and not makers(rank):
                time.sleep(0.0005)
            waiting = makers(rank)
            if not waiting:
                return killed
            killed += sum(send(maker, signal.SIGKILL) for maker in waiting)
            wait_until(lambda: not any(alive(maker) for maker in waiting), "makers to end")
    finally:
        send(agent, signal.SIGCONT)


def one_writer(*options):
    def test():
        reference = Reference.of(P, SUPERSTEPS, "-m", MEBIBYTES)
        with Place() as place:
            place.hold(0, 1)
            job = place.start(BSPRUN, "-np", P, "--ckpt", place.store, "--every", 1, *options,
                              *below_a_shell(place))
            rank, agent, hits = place.wait_executed(0, 1), job.agent(), 0
            place.release(0, 1)
            while hits < HITS and alive(rank):
                hits += kill_makers(agent, rank) > 0
            check(hits == HITS, "no maker was found while it waited:", hits, job)
            job.wait(0)
            check(job.out() == reference.out, "the output differs\n", job)
            check(" bytes, and " not in job.said(), "two have written to one file\n", job)
            check("no snapshot" not in job.said(), "a snapshot failed\n", job)
            place.check_files(reference)
            place.check_store()
            place.check_clean()
            return f"ok, {hits} snapshots"
    return test


main([("makers_of_frozen_copies", one_writer("--async", "on")),
      ("makers_of_writers", one_writer("--async", "auto"))])
