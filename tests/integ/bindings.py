"""What processes are bound to, as the kernel has it, and what --report-bindings says.

All jobs have the first two processors of this machine, and a topology of these that hwloc is told. They run
in a network of their own, where no claims of other jobs are seen."""
import ctypes
import os
import platform
import re
import struct
import tempfile

from harness import BSPRUN, PROG, RSH, Job, alone, check, expect, main, run, scratch

MINE = sorted(os.sched_getaffinity(0))[:2]
A, B = map(str, MINE if len(MINE) == 2 else (0, 0))
BOTH = f"{A}-{B}" if int(B) == int(A) + 1 else f"{A},{B}"
ALONE = alone()
PREFIX = [*(ALONE or []), "taskset", "-c", f"{A},{B}"]

CORES = f"core:2 pu:1(indexes={A},{B})"
THREADS = f"package:1 core:1 pu:2(indexes={A},{B})"
PACKAGES = f"package:2 core:1 pu:1(indexes={A},{B})"
NODES = f"package:1 numa:2 core:1 pu:1(indexes={A},{B})"
FIRST_CORE, SECOND_CORE = "package 0[core 0[hwt 0]]", "package 0[core 1[hwt 0]]"
WHOLE_CORE = "package 0[core 0[hwt 0-1]]"


def possible():
    return len(MINE) == 2 and ALONE


def on(topology):
    return {"HWLOC_SYNTHETIC": topology}


def lists(job, count):
    """The processors of each process, as the kernel has them."""
    found = {}
    for pid, os_pid in job.wait_for(r"^rank (\d+) (\d+) group", count):
        with open(f"/proc/{os_pid}/status", encoding="utf-8") as file:
            found[int(pid)] = re.search(r"^Cpus_allowed_list:\s*(\S+)$", file.read(), re.M)[1]
    return [found[pid] for pid in range(count)]


def start(topology, count, *words, prefix=None):
    return Job([*(PREFIX if prefix is None else prefix), BSPRUN, *words, "-np", str(count), PROG,
                "whoami", "0"], env=on(topology), stdin=-1)


def let_go(job):
    job.process.stdin.close()
    check(job.finish() == 0, job.text())
    job.check_gone()


def reports(text):
    """What was said of each process: (host, objects, processors)."""
    found = re.findall(r"^bsprun: host (\S+): pid (\d+) is (?:bound to (.*)|not bound), "
                       r"processors? (\S+)$", text, re.M)
    found.sort(key=lambda row: int(row[1]))
    check([int(row[1]) for row in found] == list(range(len(found))), "one line each", text)
    return [(host, objects, processors) for host, _, objects, processors in found]


def bound(topology, words, expected, objects=None):
    with start(topology, len(expected), "--report-bindings", *words) as job:
        have = lists(job, len(expected))
        let_go(job)
        said = reports(job.text())
        check(have == expected, words, topology, have, "instead of", expected)
        check([row[2] for row in said] == expected, "said", words, said)
        check(objects is None or [row[1] for row in said] == objects, words, said)
        check(job.text().count("bsprun: ") == len(expected), "nothing else is said", job.text())


def what_words_mean():
    for option in ("--bind-to", "--bind", "-bind-to"):
        bound(CORES, (option, "core"), [A, B], ["core 0[hwt 0]", "core 1[hwt 0]"])
    bound(CORES, ("--bind-to", "none"), [BOTH, BOTH], ["", ""])
    bound(CORES, (), [A, B])
    bound(CORES, (), [BOTH])  # one process alone is not bound, unless that is wanted
    bound(CORES, ("--bind-to", "core"), [A])
    bound(CORES, ("--bind-to", "socket"), [BOTH, BOTH])  # there are none: the whole machine
    bound(THREADS, ("--bind-to", "core"), [BOTH, BOTH], [WHOLE_CORE] * 2)
    bound(THREADS, ("--bind-to", "hwthread"), [A, B],
          ["package 0[core 0[hwt 0]]", "package 0[core 0[hwt 1]]"])
    for word in ("socket", "package"):
        bound(PACKAGES, ("--bind-to", word), [A, B], [FIRST_CORE, "package 1[core 1[hwt 0]]"])
    bound(NODES, ("--bind-to", "numa"), [A, B], [FIRST_CORE, SECOND_CORE])
    bound(NODES, ("--bind-to", "package"), [BOTH, BOTH], ["package 0[core 0-1[hwt 0]]"] * 2)


def what_is_mapped_is_bound():
    for word in ("socket", "package", "core", "hwthread"):
        bound(PACKAGES, ("--map-by", word), [A, B])
    bound(NODES, ("--map-by", "numa"), [A])
    bound(NODES, ("--map-by", "numa", "--bind-to", "package"), [BOTH, BOTH])
    bound(THREADS, ("--map-by", "core", "--bind-to", "hwthread"), [A, B])
    for word in ("slot", "node"):
        bound(CORES, ("--map-by", word), [A, B])


def of_the_real_machine():
    with Job([*PREFIX, BSPRUN, "--bind-to", "hwthread", "--report-bindings", "-np", "2", PROG, "whoami",
              "0"], stdin=-1) as job:
        have = lists(job, 2)
        let_go(job)
        check(sorted(have) == sorted([A, B]), have)
        check([row[2] for row in reports(job.text())] == have, job.text())


def more_processes_than_processors():
    for word in ("core", "hwthread", "package", "numa"):
        with start(NODES, 3, "--bind-to", word, "--report-bindings") as job:
            check(lists(job, 3) == [BOTH] * 3, job)
            let_go(job)
            check([row[1:] for row in reports(job.text())] == [("", BOTH)] * 3, job.text())
            check(len(re.findall(rf"^bsprun: host \S+: --bind-to {word}: 3 processes, but fewer than "
                                 r"that many free processors of 2; nothing is bound$", job.text(),
                                 re.M)) == 1 and job.text().count("bsprun: ") == 4, job.text())


def within_a_mask():
    """That of taskset has a hole where the first core is."""
    only = [*ALONE, "taskset", "-c", B]
    with start(CORES, 1, "--bind-to", "core", "--report-bindings", prefix=only) as job:
        check(lists(job, 1) == [B], job)
        let_go(job)
        check([row[1:] for row in reports(job.text())] == [("core 1[hwt 0]", B)], job.text())


def beside_another_job():
    """Who has a core has its threads; a second job gets what is left."""
    inside = [*PREFIX, "sh", "-c",
              'mkfifo "$4" && { "$0" --bind-to core -np 1 "$1" whoami 0 <"$4" & } && exec 3>"$4" && '
              'read ready && "$0" --report-bindings $2 -np $3 "$1" affinity; exec 3>&-; wait']

    def second(topology, words, count):
        fifo = os.path.join(tempfile.mkdtemp(dir=scratch), "input")
        with Job([*inside, BSPRUN, PROG, words, str(count), fifo], env=on(topology), stdin=-1) as job:
            job.wait_for(r"^rank 0 ")
            job.process.stdin.write(b"\n")
            job.process.stdin.close()
            check(job.finish() == 0, job.text())
            return job.text()

    text = second(THREADS, "--bind-to hwthread", 1)
    check(re.search(r": --bind-to hwthread: 1 process, but fewer than that many free processors of 2; "
                    r"nothing is bound$", text, re.M), text)
    check([row[1:] for row in reports(text)] == [("", BOTH)], text)
    text = second(THREADS, "", 2)
    check([row[1:] for row in reports(text)] == [("", BOTH)] * 2, text)
    text = second(CORES, "--bind-to core", 1)
    check([row[1:] for row in reports(text)] == [("core 1[hwt 0]", B)], text)
    text = second(CORES, "--bind-to numa", 1)
    check([row[2] for row in reports(text)] == [B], text)


def refuses(number):
    """For preexec_fn: this system call is not permitted any more."""
    def call(code, jump_true, jump_false, value):
        return struct.pack("HBBI", code, jump_true, jump_false, value)
    program = (call(0x20, 0, 0, 0) + call(0x15, 0, 1, number) + call(0x06, 0, 0, 0x00050000 | 1) +
               call(0x06, 0, 0, 0x7fff0000))
    buffer = ctypes.create_string_buffer(program)
    libc = ctypes.CDLL(None)

    def install():
        zero = ctypes.c_ulong(0)
        filters = struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer))
        if (libc.prctl(38, ctypes.c_ulong(1), zero, zero, zero) != 0 or  # no new privileges
                libc.prctl(22, ctypes.c_ulong(2), filters, zero, zero) != 0):  # a filter
            os._exit(99)
    return install


def where_binding_is_refused():
    number = {"x86_64": 203, "aarch64": 122}.get(platform.machine())
    if not number:
        return
    result = expect(run([*ALONE, BSPRUN, "--bind-to", "core", "--report-bindings", "-np", "1", PROG,
                         "affinity"], preexec_fn=refuses(number)), 0)
    check(len(re.findall(r"^bsprun: host \S+: --bind-to core: binding is not possible "
                         r"\(sched_setaffinity: Operation not permitted\); nothing is bound$", result.err,
                         re.M)) == 1 and result.err.count("\n") == 2, result)
    check([row[1] for row in reports(result.err)] == [""], result)
    # Nobody asked for it: nothing is said.
    expect(run([*ALONE, BSPRUN, "-np", "2", PROG, "affinity"], preexec_fn=refuses(number)), 0,
           no_err=True)
    result = expect(run([*ALONE, BSPRUN, "-np", "2", "--report-bindings", PROG, "affinity"],
                        preexec_fn=refuses(number)), 0)
    check([row[1] for row in reports(result.err)] == ["", ""] and result.err.count("\n") == 2, result)


def several_hosts():
    """Each of the two claims one of the cores."""
    up = [*ALONE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *PREFIX[len(ALONE):]]
    hosts = ("--launcher", RSH, "--hosts", "h0:1,h1:1")
    with start(CORES, 2, *hosts, "--bind-to", "core", "--report-bindings", prefix=up) as job:
        have = lists(job, 2)
        let_go(job)
        said = reports(job.text())
        check(sorted(have) == sorted([A, B]), have)
        check([row[0] for row in said] == ["h0", "h1"] and [row[2] for row in said] == have, said, have)
        check(all(re.fullmatch(r"core [01]\[hwt 0\]", row[1]) for row in said), said)


if __name__ == "__main__":
    if not possible():
        print("two processors and a network of one's own are needed")
        raise SystemExit(1 if os.environ.get("CI") == "true" else 77)
    main([what_words_mean, what_is_mapped_is_bound, of_the_real_machine, more_processes_than_processors,
          within_a_mask, beside_another_job, where_binding_is_refused, several_hosts])
