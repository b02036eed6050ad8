"""What may happen at the end of a job on several hosts, and what ends it before it has begun."""
import re
import signal

from loopback import *
from loopback import (BSPRUN, TICKER, LoopbackPlace, check, held_up, holdup_behind, main, send,
                      state_of, wait_said, wait_until)

SUPERSTEPS = 3


def stop(agent):
    """When it waits for something: what it has begun to send it has sent."""
    wait_until(lambda: state_of(agent) == "S", "the agent to be idle")
    send(agent, signal.SIGSTOP)
    wait_until(lambda: state_of(agent) == "T", "the agent to stop")


def killed_in_bsp_end():
    """A process that is killed in bsp_end when Processor Zero has decided the end, and its agent has
    not heard of that, has ended once: its host breaks no rule."""
    with LoopbackPlace() as place:
        place.env.update(holdup_behind("coord RUNNING -> CLOSING"))
        place.delay("h1")
        job = place.ticker(4, SUPERSTEPS, "-a", options=("-vv", "--every", "1"))
        wait_said(job, "host h0 has joined")  # and is Processor Zero
        place.let_come("h1")
        wait_until(lambda: state_of(job.os_pid) == "T", "all in bsp_end, and bsprun to be asked")
        victim, agent, zero = place.wait_executed(3, SUPERSTEPS), place.agent("h1"), place.agent("h0")
        stop(zero)
        send(job.os_pid, signal.SIGCONT)
        wait_said(job, "host h1 has sent all output before bsp_end")
        stop(agent)
        send(victim, signal.SIGKILL)
        wait_until(lambda: state_of(victim) == "Z", "the end of process 3")
        send(zero, signal.SIGCONT)
        wait_said(job, "event RANK_EXITED term 1 host 0 pid 0")
        send(agent, signal.SIGCONT)
        job.wait(128 + signal.SIGKILL)
        check(job.said().count("event RANK_EXITED term 1 host 1 pid 3") == 1,
              "told once is enough\n", job)
        check("coord ENDING -> ENDED" in job.said() and "twice" not in job.said() and
              "was lost" not in job.said(), "the host is blamed\n", job)
        check(re.search(r"^bsprun: pid 3 was killed by signal 9 ", job.said(), re.M), job)
        place.check_clean()


def agent_gone_before_its_order():
    """bsprun writes to an agent that is no more: that is a lost host like any other."""
    with LoopbackPlace(1) as place:
        place.env.update(held_up(HOLDUP_SENT="1"))
        job = place.start(BSPRUN, "-np", 2, "--hosts", "localhost:1,h0:1", "--launcher",
                          place.launcher, TICKER, place.files, SUPERSTEPS, env=dict(place.env))
        wait_until(lambda: state_of(job.os_pid) == "T", "bsprun to be about to write")
        agent = job.agent()
        send(agent, signal.SIGKILL)
        wait_until(lambda: state_of(agent) == "Z", "the end of the agent")
        send(job.os_pid, signal.SIGCONT)
        job.wait(128 + signal.SIGKILL)
        check(re.search(r"^bsprun: the node agent .* was killed by signal 9", job.said(), re.M), job)
        place.check_clean()


if __name__ == "__main__":
    main([killed_in_bsp_end, agent_gone_before_its_order])
