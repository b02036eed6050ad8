"""Faults beside the matrix: several at once, again and again, at the very beginning, and what of a
job's end is no fault at all."""
import re
import signal

from harness import *


def held_everywhere(place, p, superstep):
    for pid in range(p):
        place.hold(pid, superstep)


def let_go(place, p, superstep):
    for pid in range(p):
        place.release(pid, superstep)


def wait_all(place, p, superstep, times=1):
    ranks = [place.wait_executed(pid, superstep, times) for pid in range(p)]
    place.wait_committed(superstep)
    return ranks


def copies(job):
    return copies_of(job.agent())


def ended(place, job, reference):
    job.check_all(reference)
    place.check_files(reference)
    place.check_executions()
    place.check_store()
    place.check_clean()


def restarts_told(job):
    """The numbers of the restarts, each counted from the last commit before it."""
    return [int(number) for number in
            re.findall(r"\(restart (\d+) of 10 since the last committed snapshot", job.said())]


def all_ranks_at_once():
    reference = Reference.of(4, 15, "-m", 1)
    with Place() as place:
        held_everywhere(place, 4, 6)
        job = place.ticker(4, 15, "-m", 1)
        place.kill(*wait_all(place, 4, 6))
        let_go(place, 4, 6)
        ended(place, job, reference)


def ranks_and_copies_at_once():
    """Nothing is in memory any more: all come back from their images."""
    reference = Reference.of(3, 15, "-m", 1)
    with Place() as place:
        held_everywhere(place, 3, 6)
        job = place.ticker(3, 15, "-m", 1)
        ranks = wait_all(place, 3, 6)
        kill_copies(job.agent())
        place.kill(*ranks)
        let_go(place, 3, 6)
        ended(place, job, reference)


def a_copy_is_no_rank():
    """The death of a frozen copy goes unnoticed."""
    reference = Reference.of(3, 15, "-m", 1)
    with Place() as place:
        held_everywhere(place, 3, 6)
        job = place.ticker(3, 15, "-m", 1)
        wait_all(place, 3, 6)
        victims = copies(job)
        for copy in victims:
            send(copy, signal.SIGKILL)
        let_go(place, 3, 6)
        job.check_all(reference)
        check(job.said() == "", job)
        check(len(place.witness()) == 45, "supersteps were executed again")
        return f"ok, {len(victims)} copies"


def the_first_writer_is_buried():
    """It ends while the processes are being made, when the children of the agent are not looked at."""
    with Place() as place:
        held_everywhere(place, 32, 2)
        job = place.ticker(32, 3, options=("--every", "1000000"))
        for pid in range(32):
            place.wait_executed(pid, 2)
        place.wait_committed(0)
        wait_until(lambda: not any(state_of(child) == "Z" for child in children_of(job.agent())),
                   "the burial of what has ended")
        let_go(place, 32, 2)
        job.wait(0)


def survivors_come_from_their_copies():
    """And so does the lost one, as its copy has survived it: no image is read."""
    reference = Reference.of(4, 15, "-m", 1)
    with Place() as place:
        held_everywhere(place, 4, 6)
        job = place.ticker(4, 15, "-m", 1)
        ranks = wait_all(place, 4, 6)
        before = copies(job)
        place.kill(ranks[2])
        let_go(place, 4, 6)
        ended(place, job, reference)
        for pid in range(4):
            again = place.executed(pid, 6)[-1]
            check(again in before, "process", pid, "went on as", again, "copies were", before)


def below_a_wrapper():
    """Process 0 is a child of a shell, which must not get to know its copies."""
    script = 'ulimit -c 0; "$@"; status=$?; exit $status'
    reference = Reference.of(2, 15)
    with Place() as place:
        held_everywhere(place, 2, 6)
        job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1,
                          "/bin/sh", "-c", script, "sh", TICKER, place.files, 15)
        ranks = wait_all(place, 2, 6)
        before = copies(job)
        place.kill(ranks[1])
        let_go(place, 2, 6)
        ended(place, job, reference)
        for pid in range(2):
            again = place.executed(pid, 6)[-1]
            check(again in before, "process", pid, "went on as", again, "copies were", before)


def five_times_in_a_row():
    """The second fault and all that follow come before anything new is committed."""
    reference = Reference.of(3, 15)
    with Place() as place:
        held_everywhere(place, 3, 6)
        job = place.ticker(3, 15)
        for turn in range(5):
            ranks = wait_all(place, 3, 6, turn + 1)
            place.kill(ranks[turn % 3])
        let_go(place, 3, 6)
        ended(place, job, reference)
        check(len(place.executed(0, 6)) == 6, "superstep 6:", place.executed(0, 6))
        check(restarts_told(job) == [1, 2, 3, 4, 5], job)


def fifty_supersteps_fifty_faults():
    """Processes that were restored, and thawed, dozens of times."""
    reference = Reference.of(2, 54, "-i", stdin=b"a line\n" * 60)
    with Place() as place:
        for superstep in range(2, 52):
            held_everywhere(place, 2, superstep)
        job = place.ticker(2, 54, "-i", stdin=b"a line\n" * 60)
        for superstep in range(2, 52):
            ranks = wait_all(place, 2, superstep)
            place.kill(ranks[superstep // 3 % 2])
            let_go(place, 2, superstep)
        ended(place, job, reference)
        check(len(restarts_told(job)) == 50 and max(restarts_told(job)) <= 2, job)


def agent_five_times():
    reference = Reference.of(2, 30)
    with Place() as place:
        for superstep in range(5, 30, 5):
            held_everywhere(place, 2, superstep)
        job = place.ticker(2, 30)
        for superstep in range(5, 30, 5):
            ranks = wait_all(place, 2, superstep)
            place.kill(job.agent())
            wait_until(lambda: not any(map(alive, ranks)), "the end of what the agent left")
            let_go(place, 2, superstep)
        ended(place, job, reference)


def back_to_the_start():
    """Only snapshot 0 is there: all processes are made of one image."""
    for p in (1, 4):
        reference = Reference.of(p, 8)
        with Place() as place:
            place.hold(p - 1, 4)
            job = place.ticker(p, 8, options=["--every", "1000"])
            rank = place.wait_executed(p - 1, 4)
            place.wait_committed(0)
            place.kill(rank)
            place.release(p - 1, 4)
            ended(place, job, reference)


def the_same_fault_for_ever():
    """Reported with its signal and stopped after --max-restarts; and it can be gone on with."""
    with Place() as place:
        # Only when the snapshot before is committed: a commit would let restarts count anew.
        held_everywhere(place, 3, 5)
        job = place.ticker(3, 10, "-d", 5, options=["--every", "1", "--max-restarts", "3"])
        wait_all(place, 3, 5)
        let_go(place, 3, 5)
        job.wait(128 + signal.SIGSEGV)
        check(len(place.executed(2, 5)) == 4, "superstep 5 was executed", place.executed(2, 5))
        check(re.search(r"(?i)segmentation|signal 11|SIGSEGV", job.said()), job)
        check(re.search(r"superstep 5", job.said()), job)
        place.check_clean()
    with Place() as place:
        job = place.ticker(1, 10, "-d", 5, options=["--every", "1", "--max-restarts", "0"])
        job.wait(128 + signal.SIGSEGV)
        check(len(place.executed(0, 5)) == 1, "it was restarted")


def restarts_count_anew():
    """After a commit: three faults with one restart allowed."""
    reference = Reference.of(2, 20)
    with Place() as place:
        for superstep in (5, 9, 13):
            held_everywhere(place, 2, superstep)
        job = place.ticker(2, 20, options=["--every", "1", "--max-restarts", "1"])
        for superstep in (5, 9, 13):
            place.kill(wait_all(place, 2, superstep)[1])
            let_go(place, 2, superstep)
        ended(place, job, reference)


def labelled_and_split():
    """Each line once also where bsprun labels lines."""
    for option in ("--tag-output",):
        with Place() as place:
            plain = place.start(BSPRUN, "-np", 3, option, TICKER, place.files, 15).wait(0)
            out, err = plain.out(), plain.program_err()
        with Place() as place:
            held_everywhere(place, 3, 6)
            job = place.ticker(3, 15, options=["--every", "4", option])
            ranks = [place.wait_executed(pid, 6) for pid in range(3)]
            place.wait_committed(4)
            place.kill(ranks[2])
            let_go(place, 3, 6)
            job.wait(0)
            check(job.out() == out and job.program_err() == err, job)
            place.check_executions()


def shortened_by_itself():
    """The program cut a file after the snapshot: it will do so again."""
    for with_copies in (True, False):
        reference = Reference.of(2, 15, "-c")
        with Place() as place:
            held_everywhere(place, 2, 8)
            job = place.ticker(2, 15, "-c", options=["--every", "3"])
            ranks = [place.wait_executed(pid, 8) for pid in range(2)]
            place.wait_committed(6)
            if not with_copies:
                kill_copies(job.agent())
            place.kill(ranks[0])
            let_go(place, 2, 8)
            ended(place, job, reference)


def slow_input():
    """A pipe whose writer waits for what was printed, as a person does."""
    with Place() as place:
        text = [b"line %d %s\n" % (i, b"x" * (i * 37 % 500)) for i in range(1, 21)]
        reference = Reference.of(2, 20, "-i", stdin=b"".join(text))
        reader, writer = os.pipe()
        os.set_blocking(writer, True)
        held_everywhere(place, 2, 8)
        job = place.ticker(2, 20, "-i", options=["--every", "3"], stdin=os.fdopen(reader, "rb"))
        for line in text[:9]:
            os.write(writer, line)
        ranks = [place.wait_executed(pid, 8) for pid in range(2)]
        place.wait_committed(6)
        place.kill(ranks[0])
        let_go(place, 2, 8)
        place.wait_executed(0, 8, 2)
        for line in text[9:]:
            os.write(writer, line)
        os.close(writer)
        ended(place, job, reference)


def input_from_a_terminal():
    with Place() as place:
        text = [b"typed %d\n" % i for i in range(1, 16)]
        reference = Reference.of(2, 15, "-i", stdin=b"".join(text))
        master, slave = os.openpty()
        held_everywhere(place, 2, 8)
        job = place.ticker(2, 15, "-i", options=["--every", "3"], stdin=os.fdopen(slave, "rb"))
        for line in text[:8]:
            os.write(master, line)
        ranks = [place.wait_executed(pid, 8) for pid in range(2)]
        place.wait_committed(6)
        place.kill(ranks[0])
        let_go(place, 2, 8)
        for line in text[8:]:
            os.write(master, line)
        ended(place, job, reference)
        os.close(master)


def reader_that_waits():
    """Output that nobody has read yet when the agent is killed comes out all the same."""
    reference = Reference.of(1, 25, "-o", 400)
    with Place() as place:
        reader, writer = os.pipe()
        job = place.ticker(1, 25, "-o", 400, stdout=writer)
        os.close(writer)
        place.wait_committed(1)
        rest = 0
        while rest != len(place.witness()):  # wherever it comes to rest, if it does
            rest = len(place.witness())
            time.sleep(0.5)
        send(job.agent(), signal.SIGKILL)
        with os.fdopen(reader, "rb") as file:
            shown = file.read()
        job.wait(0)
        check(shown == reference.out, "stdout", first_difference(shown, reference.out), "\n", job)
        place.check_clean()


def slow_reader():
    """Output waits on its whole way when snapshots are taken and a process is killed: it comes once."""
    reference = Reference.of(1, 24, "-o", 400)
    kills = [2 << 20, 4 << 20, 6 << 20]  # after so much
    with Place() as place:
        reader, writer = os.pipe()
        job = place.ticker(1, 24, "-o", 400, stdout=writer)
        os.close(writer)
        place.wait_committed(1)
        shown = b""
        with os.fdopen(reader, "rb", buffering=0) as file:
            while piece := file.read(65536):
                shown += piece
                rank = place.witness()[-1][2] if kills and len(shown) >= kills[0] else None
                if rank and name_of(rank) == "ticker":
                    send(rank, signal.SIGKILL)
                    kills.pop(0)
        job.wait(0)
        check(not kills, "it was over too soon")
        if shown != reference.out:
            raise Failed("stdout " + first_difference(shown, reference.out))
        place.check_clean()


def address_sanitizer():
    """Not possible is fine, wrong is not."""
    program = TICKER + "_asan"
    if not os.path.exists(program):
        return "skipped: it is not there"
    reference = Reference.of(2, 10)
    with Place() as place:
        place.hold(1, 5)
        job = place.start(BSPRUN, "-np", 2, "--ckpt", place.store, "--every", 1, program,
                          place.files, 10, env={"ASAN_OPTIONS": "detect_leaks=0"})
        wait_until(lambda: place.executed(1, 5) or job.process.poll() is not None, "superstep 5")
        if job.process.poll() is None:
            place.wait_committed(5)
            place.kill(place.executed(1, 5)[-1])
            place.release(1, 5)
            ended(place, job, reference)
            return "ok, works"
        job.wait()
        check(job.status not in (0, 123) and job.said().count("\n") == 1, job)
        return "ok, refused: " + job.said().strip()


def signal_to_everybody():
    """A batch system signals all processes: only bsprun acts on it."""
    reference = Reference.of(3, 15)
    with Place() as place:
        held_everywhere(place, 3, 6)
        job = place.ticker(3, 15, options=["--every", "1000"])
        ranks = [place.wait_executed(pid, 6) for pid in range(3)]
        place.wait_committed(0)
        for os_pid in [*ranks, job.agent(), job.os_pid]:
            send(os_pid, signal.SIGUSR1)
        let_go(place, 3, 6)
        job.check_all(reference)
        check(job.said() == "", job)
        check(len(place.witness()) == 45, "supersteps were executed again")


def a_variable_of_our_own():
    """What the user's environment says of a restore is not meant for the program."""
    with Place() as place:
        for options in ([], ["--ckpt", place.store]):
            job = place.start(BSPRUN, "-np", 2, *options, TICKER, place.files, 3,
                              env={"BSPZERO_RESTORE": "0:0:0:1:00112233445566778899aabbccddeeff:0"})
            job.wait(0)


def forgotten_descriptors():
    """Of a shell or a terminal: the program has them open from the start, and never heard of them."""
    reference = Reference.of(2, 15)
    for with_copies in (True, False):
        with Place() as place:
            fds = [*os.openpty(), *os.pipe()]
            held_everywhere(place, 2, 8)
            job = place.ticker(2, 15, pass_fds=fds)
            ranks = wait_all(place, 2, 8)
            if not with_copies:
                kill_copies(job.agent())
            place.kill(*ranks)
            let_go(place, 2, 8)
            wait_until(lambda: len(place.executed(1, 8)) == 2, "superstep 8 again")
            ended(place, job, reference)
            for fd in fds:
                os.close(fd)


def own_ends_are_final():
    """A status of the program's own is no fault, whatever it is."""
    for status in (7, 123):
        with Place() as place:
            job = place.ticker(2, 5, "-x", status).wait(status)
            check(job.said() == "", job)
            place.check_clean()


def killed_on_its_way_out():
    """All have come to bsp_end and been let out, but one is killed before it has left."""
    with Place() as place:
        place.hold(0, 9)
        job = place.ticker(2, 9, options=["--every", "8"])
        place.wait_executed(0, 9)
        place.wait_committed(8)
        agent, ranks = job.agent(), [place.wait_executed(pid, 9) for pid in range(2)]
        os.kill(agent, signal.SIGSTOP)
        place.release(0, 9)
        wait_until(lambda: len(place.ends()) == 2 and all(state_of(rank) == "S" for rank in ranks),
                   "both in bsp_end")
        os.kill(ranks[1], signal.SIGSTOP)
        os.kill(agent, signal.SIGCONT)
        wait_until(lambda: not alive(ranks[0]), "the end of process 0")
        os.kill(ranks[1], signal.SIGKILL)
        job.wait(128 + signal.SIGKILL)
        check(job.said().count("killed by signal 9") == 1 and "internal" not in job.said(), job)
        place.check_clean()
        place.restart().wait(0)
        place.check_clean()


def without_snapshots():
    """A kill without snapshots ends the job, as ever."""
    with Place() as place:
        place.hold(1, 4)
        job = place.start(BSPRUN, "-np", 2, TICKER, place.files, 8)
        send(place.wait_executed(1, 4), signal.SIGKILL)
        job.wait(128 + signal.SIGKILL)
        check(not os.path.exists(place.store), "a store was made")
        place.check_clean()


if __name__ == "__main__":
    main([all_ranks_at_once, ranks_and_copies_at_once, a_copy_is_no_rank, the_first_writer_is_buried,
          survivors_come_from_their_copies, below_a_wrapper, five_times_in_a_row, fifty_supersteps_fifty_faults,
          agent_five_times, back_to_the_start, the_same_fault_for_ever, restarts_count_anew,
          labelled_and_split, shortened_by_itself, slow_input, input_from_a_terminal,
          reader_that_waits, slow_reader, signal_to_everybody, a_variable_of_our_own,
          forgotten_descriptors, address_sanitizer,
          own_ends_are_final, killed_on_its_way_out, without_snapshots], together=3)
