"""Descriptors that were open before bsprun was started are no part of the program's state: neither a
lock nor a missing name is a reason to refuse, and nothing is done to what they lead to."""
from harness import *

P, SUPERSTEPS = 2, 12
RESULT = Reference.of(P, SUPERSTEPS)


def play(before, *options, at_kill=lambda place: None):
    """A process is lost, then everything; what bsprun said."""
    with Place() as place:
        for superstep in (4, 7):
            place.hold(0, superstep)
        os.environ["OUTSIDE"] = place.path("outside")
        place.write("outside", "first\n")
        job = place.start(*before, BSPRUN, *options, "-np", P, "--ckpt", place.store, "--every", 1,
                          TICKER, place.files, SUPERSTEPS)
        place.wait_executed(0, 4)
        place.wait_committed(4)
        at_kill(place)
        place.kill(place.executed(0, 4)[-1])
        place.wait_executed(0, 4, 2)
        place.release(0, 4)
        place.wait_executed(0, 7)
        place.wait_committed(7)
        leader = [os_pid for os_pid, name in marked(place.mark).items() if name == "bsprun"]
        check(len(leader) == 1, leader)
        at_kill(place)
        send(leader[0], signal.SIGKILL)
        wait_until(lambda: not marked(place.mark), "the end of all processes")
        place.release(0, 7)
        again = place.start(*before, BSPRUN, "--restart", place.store)
        again.check_tail(RESULT)
        place.check_files(RESULT)
        place.check_clean()
        return place, job.said() + again.said(), open(os.environ["OUTSIDE"]).read()


def shell(text):
    return "sh", "-c", text + '; exec "$@"', "sh"


def a_lock():
    for options in ((), ("-v",)):
        with Place() as other:
            lock = other.path("lock")
            _, said, _ = play(("flock", lock), *options)
            check((f"({lock}) was open before bsprun was started" in said) == bool(options), said)


def a_log_that_others_write():
    """It is not cut back."""
    def add(place):
        with open(place.path("outside"), "a") as file:
            file.write("line\n")
    _, _, text = play(shell('exec 7>>"$OUTSIDE"'), at_kill=add)
    check(text == "first\nline\nline\n", text)


def a_file_without_a_name():
    play(shell('exec 7<>"$OUTSIDE.gone"; rm "$OUTSIDE.gone"'))


main([a_lock, a_log_that_others_write, a_file_without_a_name])
