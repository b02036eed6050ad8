"""Files that are opened after the snapshot, written, and still open when a process is lost."""
from harness import *

APPENDER = os.path.join(PROGRAMS, "appender")
SUPERSTEPS, SNAPSHOT, OPENS, LOST = 30, 10, 12, 18
BEFORE = b"".join(b"before %d\n" % i for i in range(9))


def look(ranks):
    for os_pid in ranks:
        for name in os.listdir(f"/proc/{os_pid}/fd"):
            os.stat(f"/proc/{os_pid}/fd/{name}")
            with open(f"/proc/{os_pid}/fdinfo/{name}", "rb") as info:
                info.read()


def wait_looks(ranks):
    """Two looks of the agent lie a tenth of a second apart, or more where they would take more than
    one part in 500 of a processor; that they were cannot be seen here."""
    begun = time.process_time()
    look(ranks)
    time.sleep(max(0.5, 2.5 * 500 * (time.process_time() - begun)))


def run(what, victim, before=BEFORE, held=(), disturb=None, status=0, images=False):
    """The file's content and what bsprun said, after a process was lost while the file was open.
    what: the rest of the program's arguments.  held: supersteps in which the agent has time to look.
    images: all come back from their images."""
    with Place() as place:
        file = place.path("files", "log")
        if before is not None:
            place.write("files/log", before)
        for superstep in (*held, LOST):
            for pid in range(2):
                place.hold(pid, superstep)
        job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", SNAPSHOT,
                          APPENDER, place.files, SUPERSTEPS, file, *what)
        for superstep in held:
            wait_looks([place.wait_executed(pid, superstep) for pid in range(2)])
            if disturb:
                disturb(file)
            for pid in range(2):
                place.release(pid, superstep)
        ranks = [place.wait_executed(pid, LOST) for pid in range(2)]
        place.wait_committed(SNAPSHOT)
        wait_looks(ranks)
        place.kill(*(copies_of(job.agent()) if images else []), ranks[victim])
        for pid in range(2):
            place.release(pid, LOST)
        job.wait(status)
        check(status or len(place.executed(1, OPENS)) == 2, "nothing was executed again", job)
        place.check_clean()
        said = job.err().decode() if status else job.said()
        if not os.path.exists(file):
            return None, said
        with open(file, "rb") as log:
            return log.read(), said


def lines(*supersteps):
    return b"".join(b"line %d\n" % s for s in supersteps)


def right(content, wanted, said):
    check(content == wanted, first_difference(content, wanted), said)
    check("/log" not in said, "a warning:", said)


def known_as_it_was(victim):
    """It is looked at before it is written for the first time."""
    def test():
        content, said = run((OPENS, 15, "a"), victim, held=[14])
        right(content, BEFORE + lines(*range(15, SUPERSTEPS + 1)), said)
    return test


def made_since():
    # Later than the snapshot also by a file system's clock, whose ticks are some milliseconds.
    content, said = run((OPENS, OPENS, "a"), 1, before=None, held=[OPENS - 1])
    right(content, lines(*range(OPENS, SUPERSTEPS + 1)), said)


def written_anew():
    content, said = run((OPENS, OPENS, "w"), 1)
    right(content, lines(*range(OPENS, SUPERSTEPS + 1)), said)


def open_before_and_again():
    """Its length was noted when the snapshot was taken, as it had been open before."""
    content, said = run((3, 3, "a", 9, OPENS), 0, held=[7])
    right(content, BEFORE + lines(*range(3, 9), *range(OPENS, SUPERSTEPS + 1)), said)


def not_known():
    """It was written before anybody looked: a warning names it, and nothing is cut off."""
    content, said = run((OPENS, OPENS, "a"), 1)
    check(re.search(rf"/log was opened after superstep {SNAPSHOT}, and its length then is not known",
                    said), said)
    check(content == BEFORE + lines(*range(OPENS, LOST + 1), *range(OPENS, SUPERSTEPS + 1)), content)


def of_somebody_else():
    """What is appended from outside before the job opens it stays."""
    def disturb(file):
        with open(file, "ab") as log:
            log.write(b"of somebody else\n")
    content, said = run((OPENS, OPENS, "a"), 0, held=[OPENS - 1], disturb=disturb)
    check(b"of somebody else\n" in content and "is not known" in said, content, said)


def closed_each_time():
    """What is open for a moment is left alone."""
    content, _ = run((OPENS, OPENS, "close"), 0)
    check(content == BEFORE + lines(*range(OPENS, LOST + 1), *range(OPENS, SUPERSTEPS + 1)), content)


def made_again():
    """A file that is made with O_EXCL is there already, as empty as when it was made."""
    # Made later than the snapshot, as in made_since.
    content, said = run((OPENS, OPENS, "ax"), 0, before=None, held=[OPENS - 1], status=1)
    check("log cannot be opened" in said, said)
    check(content == b"", content)


def moved_again(how):
    """What was renamed or removed since the snapshot is not there to be so again."""
    def test():
        content, said = run((SUPERSTEPS, OPENS, how), 0, status=1)
        check("log cannot be moved" in said and content is None, content, said)
    return test


def moved_while_open(how):
    """A snapshot that has it open cannot be restored from its image."""
    def test():
        content, said = run((3, OPENS, how), 1, status=1, images=True)
        check(re.search(r"/log\b", said) and content is None, content, said)
    return test


main([("renamed", moved_again("rename")), ("removed", moved_again("unlink")),
      ("renamed_while_open", moved_while_open("rename")),
      ("removed_while_open", moved_while_open("unlink")), made_again,
      ("writer_lost", known_as_it_was(1)), ("other_lost", known_as_it_was(0)), made_since, written_anew,
      open_before_and_again, not_known, of_somebody_else, closed_each_time], together=3)
