"""What the agents and processes of a job use, from /proc: their hosts share the processors of one machine, with
what delays frames."""
import os
import re
import time


def threads_of(*programs):
    """Of their processes: {path of the thread: program}."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            program = os.readlink(f"/proc/{pid}/exe")
            if program in programs:
                found.update({f"/proc/{pid}/task/{thread}": program for thread in os.listdir(f"/proc/{pid}/task")})
        except OSError:
            continue
    return found


def look_at(threads):
    """{path: (processor time in ns, how often it has gone to sleep)} of those that have not ended."""
    found = {}
    for path in threads:
        try:
            with open(f"{path}/schedstat") as file:
                ns = int(file.read().split()[0])
            with open(f"{path}/status") as file:
                found[path] = ns, int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M).group(1))
        except OSError:
            continue
    return found


def frames_of(hosts):
    """How many frames they have sent; hosts: a process on each."""
    frames = 0
    for process in hosts:
        with open(f"/proc/{process}/net/dev") as file:
            frames += int(re.search(r"eth0:(.*)", file.read()).group(1).split()[9])
    return frames


def watch(seconds, programs, hosts):
    """For so long, per second: processor time in ns of the threads of each program, how often those of the first one
    have gone to sleep, and frames that hosts have sent.  Looks twice only, as that computes, too."""
    threads = threads_of(*programs)
    begin, first, sent = time.monotonic(), look_at(threads), frames_of(hosts)
    time.sleep(seconds)
    end, last, sent = time.monotonic(), look_at(threads), frames_of(hosts) - sent
    used, sleeps = dict.fromkeys(programs, 0), 0
    for path in first.keys() & last.keys():
        used[threads[path]] += (last[path][0] - first[path][0]) / (end - begin)
        if threads[path] == programs[0]:
            sleeps += (last[path][1] - first[path][1]) / (end - begin)
    return used, sleeps, sent / (end - begin)
