"""A job that is restarted with the input it had, with another one, and with too little of it."""
import signal
import subprocess

from harness import *

# More than stdio reads ahead.
LINES = b"".join(b"line %d %s\n" % (i, b"x" * (400 + i)) for i in range(60))
OTHER = LINES.replace(b"line 3 ", b"line X ")


def saved(place, supersteps=20, at=8):
    """A job that was stopped in a superstep, having read its input."""
    place.hold(0, at)
    job = place.ticker(2, supersteps, "-i", stdin=LINES)
    place.wait_executed(0, at)
    job.signal(signal.SIGTERM)
    place.release(0, at)
    job.wait(123)
    return job


def refused(place, text, **how):
    """The restart says so and ends, and what there is to go on from is what there was."""
    before = snapshots(place.store)
    job = place.restart(**how).wait(1)
    check(re.search(text, job.said()), "not said:", text, "\n", job)
    check("bsprun --restart DIR < FILE" in job.said(), "it does not say what to do:", job)
    check(set(before) <= set(snapshots(place.store)), "snapshots are lost:", job)
    check(not marked(place.mark), "processes are left")
    return job


def goes_on(place, first, **how):
    reference = Reference.of(2, 20, "-i", stdin=LINES)
    job = place.restart(**how).wait(0)
    check(first.out() + job.out() == reference.out, "stdout of both",
          first_difference(first.out() + job.out(), reference.out), job)
    place.check_files(reference)
    place.check_clean()


def piped(content, keep=False):
    """A pipe that holds so much, and whose writing end is closed, or returned."""
    reader, writer = os.pipe()
    os.write(writer, content)
    if not keep:
        os.close(writer)
    return (os.fdopen(reader, "rb"), writer) if keep else os.fdopen(reader, "rb")


ENDS = r"at the snapshot of superstep \d+ the job had read \d+ bytes of its input, " \
       "and the input of this restart ends before that"
DIFFERS = "the input of this restart begins with different ones"


def nothing_to_read():
    with Place() as place:
        first = saved(place)
        refused(place, ENDS, stdin=subprocess.DEVNULL)
        refused(place, ENDS, stdin=b"")
        refused(place, ENDS, stdin=piped(b""))
        goes_on(place, first, stdin=LINES)


def too_little():
    with Place() as place:
        first = saved(place)
        refused(place, ENDS, stdin=LINES[:300])
        refused(place, ENDS, stdin=piped(LINES[:300]))
        goes_on(place, first, stdin=piped(LINES))


def another_one():
    with Place() as place:
        first = saved(place)
        refused(place, DIFFERS, stdin=OTHER)
        refused(place, DIFFERS, stdin=piped(OTHER))
        reader, writer = piped(OTHER, keep=True)
        refused(place, DIFFERS, stdin=reader)
        os.close(writer)
        goes_on(place, first, stdin=LINES)


def another_one_is_wanted():
    """So much is left out of it as was read of the first."""
    with Place() as place:
        first = saved(place)
        goes_on(place, first, options=["--input-differs"], stdin=OTHER)


def nothing_is_wanted():
    """Then it has ended, which the program sees."""
    with Place() as place:
        saved(place)
        job = place.restart(options=["--input-differs"], stdin=subprocess.DEVNULL).wait()
        check(job.status not in (0, None) and "the input is shorter than it was" in str(job), job)


def the_digest_goes_on():
    """Over several restarts, with rollbacks between; each can tell another input."""
    reference = Reference.of(2, 20, "-i", stdin=LINES)
    with Place() as place:
        out = saved(place, at=5).out()
        place.hold(0, 9)
        place.hold(0, 12)
        job = place.restart(stdin=piped(LINES))
        ranks = [place.wait_executed(pid, 9) for pid in range(2)]
        place.kill(ranks[0])
        place.release(0, 9)
        place.wait_executed(0, 12)
        job.signal(signal.SIGTERM)
        place.release(0, 12)
        out += job.wait(123).out()
        refused(place, DIFFERS, stdin=OTHER)
        out += place.restart(stdin=LINES).wait(0).out()
        check(out == reference.out, "stdout of all", first_difference(out, reference.out))
        place.check_files(reference)


def typed_on_a_terminal():
    """What a person types is what follows."""
    reference = Reference.of(2, 20, "-i", stdin=LINES)
    with Place() as place:
        first = saved(place)
        read = int(re.search(r"had read (\d+) bytes", refused(place, ENDS, stdin=b"").said())[1])
        check(2000 < read < len(LINES), "read:", read)
        master, slave = os.openpty()
        job = place.restart(stdin=os.fdopen(slave, "rb"))
        for line in LINES[read:].splitlines(keepends=True):
            os.write(master, line)
        job.wait(0)
        os.close(master)
        check(first.out() + job.out() == reference.out, "stdout of both", job)


def only_a_restart_can_differ():
    with Place() as place:
        job = place.start(BSPRUN, "--input-differs", "-np", 1, TICKER, place.files, 3).wait(2)
        check("--input-differs is for --restart DIR" in job.said(), job)


main([nothing_to_read, too_little, another_one, another_one_is_wanted, nothing_is_wanted,
      the_digest_goes_on, typed_on_a_terminal, only_a_restart_can_differ])
