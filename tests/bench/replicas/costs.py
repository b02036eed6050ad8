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


def watch(job, programs, hosts):
    """Until the job ends, per second: processor time in ns of the threads of each program, how often those of the
    first one have gone to sleep, and frames that hosts have sent.  Looks seldom, as that computes, too."""
    threads = threads_of(*programs)
    first = last = look_at(threads)
    begin = end = time.monotonic(), frames_of(hosts)
    while job.process.poll() is None:
        time.sleep(0.4)
        now = look_at(threads)
        if len(now) < 0.9 * len(first):
            break  # it ends
        last, end = now, (time.monotonic(), frames_of(hosts))
    seconds = max(end[0] - begin[0], 1e-9)
    used = {program: sum(last[path][0] - first[path][0] for path in last if path in first and threads[path] == program)
            for program in programs}
    sleeps = sum(last[path][1] - first[path][1] for path in last if path in first and threads[path] == programs[0])
    return ({program: ns / seconds for program, ns in used.items()}, sleeps / seconds, (end[1] - begin[1]) / seconds)
