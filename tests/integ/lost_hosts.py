"""What tests share in which hosts of a job are lost: its agents and processes by host, the loss itself."""
import json
import os
import re
import signal

import kills
from harness import BIN, expect, process_stat, run

BSPSTAT = os.path.join(BIN, "bspstat")


def shown_by(job):
    """The lines of the program's output, in any order."""
    return sorted(kills.shown_by(job))


def agents_of(job):
    """Agents by the names of their hosts, which are in their environments; not what they are about to start."""
    agents = {}
    for pid, name in job.members().items():
        stat = process_stat(pid)
        if name == "bspnode" and stat and stat[1] == job.os_pid:
            with open(f"/proc/{pid}/environ", "rb") as file:
                agents[re.search(rb"(?:^|\0)BSPZERO_HOST_NAME=([^\0]*)", file.read()).group(1).decode()] = pid
    return agents


def ranks_of(job, *hosts):
    """Processes of these hosts: children of their agents."""
    agents = agents_of(job)
    parents = {agents[host] for host in hosts if host in agents}
    return [pid for pid, name in job.members().items()
            if name == "integ_objects" and (process_stat(pid) or (0, 0))[1] in parents]


def lose(job, *hosts):
    """Their agents are killed, at once: none sees the end of another one."""
    agents = agents_of(job)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for host in hosts:
            os.kill(agents[host], number)


def zero_of(job):
    """The host of Processor Zero."""
    return json.loads(expect(run([BSPSTAT, "--json", str(job.os_pid)]), 0).out)["zero"]
