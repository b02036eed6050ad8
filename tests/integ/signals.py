"""Signals from the terminal, from kill, from batch systems that signal whole trees."""
import os
import signal
import tempfile
import time

from harness import BSPRUN, PROG, RSH, Job, check, committed, jobs, main, run, scratch
from kills import chance, new_store

CTRL_C = b"\x03"
BSPRUN_NAME = os.path.basename(BSPRUN)


def ended_by(job, status, at_once=True):
    check(job.finish() == status, "status should be", status, "is", job.status, "\n", job.text())
    job.check_gone(at_once)


def interrupt_key():
    """One Ctrl-C ends a job wherever its ranks are."""
    for mode, count in (("loop", 3), ("compute", 3), ("wait", 3), ("late-sleep", 1),
                        ("early-sleep", 1)):
        with Job([BSPRUN, "-np", "3", PROG, mode, "1"], terminal=True) as job:
            job.wait_ready(count)
            os.write(job.fd, CTRL_C)
            ended_by(job, 130)
            # A program outside its SPMD part may die of it before bsprun has said a word.
            check("ed by signal 2 (Interrupt)" in job.text(), job.text())
            check(job.text().count("bsprun:") == 1, job.text())


def where_they_were():
    """With -v an interrupt shows it, which is how a job that hangs is looked at; else it does not."""
    for option, shown in (([], False), (["-v"], True)):
        with Job([BSPRUN, *option, "-np", "3", PROG, "wait", "1"], terminal=True) as job:
            job.wait_ready(3)
            os.write(job.fd, CTRL_C)
            ended_by(job, 130)
            for pid in range(3):
                check((f"  pid {pid}: last call " in job.text()) == shown, option, job.text())


def interrupt_key_without_bsprun():
    for mode in ("loop", "compute", "wait"):
        with Job([PROG, mode, "1"], env={"BSP_PROCS": "3"}, terminal=True) as job:
            job.wait_ready(3)
            os.write(job.fd, CTRL_C)
            ended_by(job, -signal.SIGINT, at_once=False)


def interrupt_key_twice():
    """A program that does not react is ended at once by the second one."""
    deaf = "trap '' INT; echo ready 0 $$; while :; do sleep 60; done"
    with Job([BSPRUN, "sh", "-c", deaf], terminal=True) as job:
        job.wait_ready(1)
        start = time.monotonic()
        while BSPRUN_NAME in job.members().values():  # two that come together count as one
            os.write(job.fd, CTRL_C)
            time.sleep(0.05)
        check(time.monotonic() - start < 2.9, "the grace was waited for")
        ended_by(job, 130)


def interrupt_key_once_for_the_deaf():
    deaf = "trap '' INT; echo ready 0 $$; while :; do sleep 60; done"
    with Job([BSPRUN, "sh", "-c", deaf], terminal=True) as job:
        job.wait_ready(1)
        os.write(job.fd, CTRL_C)
        ended_by(job, 130)


def signals_to_bsprun():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        for mode, count in (("loop", 2), ("compute", 2), ("early-sleep", 1), ("late-sleep", 1)):
            with Job([BSPRUN, "-np", "2", PROG, mode]) as job:
                job.wait_ready(count)
                job.signal(number)
                ended_by(job, 128 + number)
                check(f"ended by signal {int(number)} (" in job.text(), job.text())


def signal_to_the_whole_tree():
    """As batch systems do it: one message about the signal, none about dead ranks."""
    with Job([BSPRUN, "-np", "3", PROG, "compute"]) as job:
        job.wait_ready(3)
        for pid in job.members():
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        ended_by(job, 143)
        check(job.text().count("bsprun:") == 1, job.text())
        check("was killed" not in job.text(), job.text())


def ranks_ignore_signals_of_others():
    """A signal to a rank alone, as a terminal sends it to its group, ends nothing."""
    with Job([BSPRUN, "-np", "2", PROG, "loop"]) as job:
        ranks = job.wait_ready(2)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            for pid in ranks.values():
                os.kill(pid, number)
        check(job.process.poll() is None and set(ranks.values()) <= set(job.members()),
              "the job has ended", job.text())
        job.signal(signal.SIGTERM)
        ended_by(job, 143)


def ignored_hangup():
    """Under nohup HUP means nothing."""
    with Job(["nohup", BSPRUN, "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        os.kill(job.os_pid, signal.SIGHUP)
        os.kill(job.agent(), signal.SIGHUP)
        check(job.process.poll() is None, job.text())
        job.signal(signal.SIGTERM)
        ended_by(job, 143)


def ignored_signals_reach_the_program():
    show = "grep SigIgn /proc/self/status"
    for trap, bit in (("trap '' HUP", 1), ("trap '' INT", 2), ("true", 0)):
        result = run(["/bin/sh", "-c", f'{trap}; exec "$0" sh -c "{show}"', BSPRUN])
        ignored = int(result.out.split()[1], 16)
        check(ignored & 3 == bit, result)
        check(not ignored & 1 << (signal.SIGPIPE - 1), "SIGPIPE must be at its default", result)


def timeout_command_around():
    """timeout(1) around a bare program and around bsprun ends all of it."""
    for command, env in (([PROG, "loop"], {"BSP_PROCS": "2"}),
                         ([BSPRUN, "-np", "2", PROG, "loop"], {})):
        with Job(["timeout", "1", *command], env=env) as job:
            ended_by(job, 124, at_once=False)


def agent_alone_is_told():
    """A batch system may signal the agent only: it ends the job in good order."""
    with Job([BSPRUN, "-np", "2", PROG, "loop"]) as job:
        job.wait_ready(2)
        os.kill(job.agent(), signal.SIGTERM)
        ended_by(job, 143)
        check("the job was ended by signal 15 (Terminated)" in job.text(), job.text())


def signals_to_a_bare_program():
    """Process 0 is what the user knows: what is sent to it ends the job."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for mode in ("loop", "compute", "wait"):
            with Job([PROG, mode, "1"], env={"BSP_PROCS": "3"}) as job:
                job.wait_ready(3)
                job.signal(number)
                ended_by(job, -number, at_once=False)
                check(f"bspzero: the job was ended by signal {int(number)} (" in job.text(),
                      job.text())
    with Job([PROG, "late-sleep"], env={"BSP_PROCS": "3"}) as job:
        job.wait_ready(1)
        job.signal(signal.SIGTERM)
        ended_by(job, -signal.SIGTERM, at_once=False)


def terminal_closed():
    """The window is closed while the job runs: nothing of it stays."""
    for command, env in (([BSPRUN, "-np", "3"], {}), ([], {"BSP_PROCS": "3"}),
                         (["/bin/sh", "-c", '"$0" "$@"; true', BSPRUN, "-np", "3"], {})):
        for mode in ("loop", "compute", "wait"):
            with Job([*command, PROG, mode, "1"], env=env, terminal=True) as job:
                job.wait_ready(3)
                os.close(job.fd)
                job.fd = os.open("/dev/null", os.O_RDONLY)
                job.check_gone(at_once=False)


def end_of_a_session():
    """The end of a session's leader sends a hangup to its group: no reason to say anything."""
    for _ in range(20):
        with Job([PROG, "count", "2"], env={"BSP_PROCS": "3"}, terminal=True) as job:
            ended_by(job, 0, at_once=False)
            check("bspzero" not in job.text(), job.text())


def stopped_and_continued():
    """Ctrl-Z and fg: the job goes on where it was."""
    with Job([BSPRUN, "-np", "2", PROG, "talk", "3000"], start_new_session=True) as job:
        job.wait_for("^line 3 of", 2)
        os.killpg(job.os_pid, signal.SIGSTOP)
        os.killpg(job.os_pid, signal.SIGCONT)
        ended_by(job, 0)
        check("p = 2" in job.text(), job.text()[-500:])


def while_it_starts():
    """What has been made for the job by then is removed: its record, its private directory."""
    for places in ((), ("--launcher", RSH, "--hosts", "h0:1,h1:1")):
        for _ in range(8):
            temporary, store = tempfile.mkdtemp(dir=scratch), new_store()
            saved = ("--ckpt", store) if not places or chance.random() < 0.5 else ()
            with Job([BSPRUN, "-np", "2", *places, *saved, PROG, "loop", "0"], env={"TMPDIR": temporary}) as job:
                time.sleep(chance.random() * 0.06)
                job.signal(chance.choice((signal.SIGINT, signal.SIGTERM)))
                job.finish()
                job.check_gone()
                check(not os.listdir(temporary), "left:", os.listdir(temporary), job)
                check(not os.path.isdir(store) or not jobs(store) or committed(store), "a job without a snapshot:", job)


if __name__ == "__main__":
    main([interrupt_key, where_they_were, interrupt_key_without_bsprun, interrupt_key_twice,
          interrupt_key_once_for_the_deaf, signals_to_bsprun, signal_to_the_whole_tree,
          ranks_ignore_signals_of_others, ignored_hangup, ignored_signals_reach_the_program,
          timeout_command_around, agent_alone_is_told, signals_to_a_bare_program,
          terminal_closed, end_of_a_session, stopped_and_continued, while_it_starts])
