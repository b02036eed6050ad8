"""The C stacks of processes: bspctl JOB stacks, with eu-stack, with gdb, with neither, with tools that
fail, hang or write without end."""
import json
import os
import re
import shutil
import signal
import tempfile

from harness import (BIN, BSPRUN, PROG, RSH, Job, check, expect, long, main, process_stat, run, scratch,
                     wait_until)


def path_with(**tools):
    """A PATH in which of the debuggers there are only these: a real one, or a script."""
    directory = tempfile.mkdtemp(dir=scratch)
    for name, script in tools.items():
        file = os.path.join(directory, name.replace("_", "-"))
        if script is None:
            real = shutil.which(name.replace("_", "-"))
            check(real, f"no {name}: tools/install-deps installs what the tests need")
            os.symlink(real, file)
        else:
            with open(file, "w", encoding="utf-8") as text:
                text.write("#!/bin/sh\n" + script)
            os.chmod(file, 0o755)
    for name in ("sleep", "env"):
        os.symlink(shutil.which(name), os.path.join(directory, name))
    return directory


class Place:
    """A job with a socket directory of the test's own."""

    def __init__(self, *words, tools, **more):
        # Paths of sockets are short, and $TMPDIR may be long.
        self.directory = tempfile.mkdtemp(prefix="bspzero-stacks-", dir="/tmp")
        self.env = {"BSPZERO_STATUS_DIR": os.path.join(self.directory, "sockets"), "PATH": tools}
        self.job = Job([BSPRUN, *map(str, words)], env=dict(self.env), **more)

    def __enter__(self):
        self.job.__enter__()
        return self

    def __exit__(self, *error):
        self.job.__exit__(*error)
        shutil.rmtree(self.directory, ignore_errors=True)

    def ctl(self, *words):
        return run([os.path.join(BIN, "bspctl"), *map(str, (self.job.os_pid, *words))], env=dict(self.env))

    def stacks(self):
        return expect(self.ctl("stacks"), 0, no_err=True).out

    def wait_for_barrier(self):
        """Until process 0 waits for the others, which compute."""
        def waits():
            result = run([os.path.join(BIN, "bspstat"), "--json", str(self.job.os_pid)], env=dict(self.env))
            return json.loads(result.out)["ranks"][0]["state"] == "waiting"
        wait_until(waits, "process 0 in a barrier")

    def end(self):
        self.job.signal(signal.SIGTERM)
        self.job.finish()


def wait_place(count, tools, *words, **more):
    """Process 1 computes for ever, and the others wait for it."""
    return Place("-np", count, *words, PROG, "wait", count - 1 if count < 3 else 1, tools=tools, **more)


def blocks(text):
    """{pid: the lines of its stack}, in the order in which they come."""
    parts = re.split(r"^(?=pid \d+ )", text, flags=re.M)
    return {int(part.split()[1]): part for part in parts if re.match(r"pid \d+ .*last call", part)}


def check_stacks(text, count):
    found = blocks(text)
    check(list(found) == list(range(count)), text)
    for pid, part in found.items():
        check(re.search(r"^#\d+ .*\bmain\b", part, re.M), pid, text)
        check(("compute_for_ever" in part) == (pid == 1), pid, text)
    check("bsp_sync" in found[0].splitlines()[0] and "waiting" in found[0].splitlines()[0], text)


def with_eu_stack():
    with wait_place(2, path_with(eu_stack=None)) as place:
        os_pids = place.job.wait_ready(2)
        place.wait_for_barrier()
        text = place.stacks()
        check(text.startswith("pid 1 still computes in superstep 3, and the other waits for it\n"), text)
        check_stacks(text, 2)
        for pid, os_pid in os_pids.items():
            check(f"\npid {pid} (process {os_pid}): last call" in "\n" + text, text)
        check(all(process_stat(os_pid)[0] in "SR" for os_pid in os_pids.values()), os_pids)
        check(place.stacks().count("\n#0 ") == 2, "a second time")
        place.end()


def with_gdb():
    with wait_place(2, path_with(gdb=None)) as place:
        os_pids = place.job.wait_ready(2)
        place.wait_for_barrier()
        check_stacks(place.stacks(), 2)
        check(all(process_stat(os_pid)[0] in "SR" for os_pid in os_pids.values()), os_pids)
        place.end()


def without_tool(tools, why, advice=False):
    with wait_place(2, path_with(**tools)) as place:
        os_pids = place.job.wait_ready(2)
        place.wait_for_barrier()
        text = place.stacks()
        check(text.count(f"    no stack: {why}\n") == 2, why, text)
        check(text.count("ptrace is not permitted: ") == int(advice), text)
        check(re.search(r"^pid 0 \(process \d+\): last call bsp_sync at .*prog.c:\d+, superstep 3, waiting$",
                        text, re.M), text)
        check(re.search(r"^pid 1 still computes in superstep 3", text), text)
        place.end()
        place.job.check_gone()


def without_tools():
    without_tool({}, "neither eu-stack nor gdb is in PATH")


def refused():
    script = "echo 'eu-stack: dwfl_linux_proc_attach pid 1: Operation not permitted' >&2; exit 1\n"
    without_tool({"eu_stack": script}, "ptrace is not permitted", advice=True)


def that_fails():
    without_tool({"eu_stack": "exit 3\n"}, "eu-stack prints none")


def that_hangs():
    """Its children, too, are killed; the loop of the agent goes on meanwhile."""
    with wait_place(2, path_with(eu_stack="sleep 1000 & wait\n")) as place:
        os_pids = place.job.wait_ready(2)
        place.wait_for_barrier()
        text = place.stacks()
        check(len(re.findall(r"^    no stack: (eu-stack took longer than 5 s|there was no time left for it)$",
                             text, re.M)) == 2, text)
        wait_until(lambda: "sleep" not in place.job.members().values(), "the end of the tools")
        check("eu-stack" not in place.job.members().values(), place.job.members())
        place.end()
        place.job.check_gone()


def that_writes_without_end():
    script = "while :; do echo '#0  0x1 endless'; echo '#1  0x2 more'; done\n"
    with wait_place(1, path_with(eu_stack=script)) as place:
        place.job.wait_ready(1)
        text = place.stacks()
        check(text.endswith("    ... (truncated)\n"), text[-200:])
        check(200000 < len(text) < 270000, len(text))
        place.end()
        place.job.check_gone()


def killed_with_its_agent():
    """Tools do not outlive an agent that is killed."""
    with wait_place(1, path_with(eu_stack="exec sleep 1000\n")) as place:
        place.job.wait_ready(1)
        asks = Job([os.path.join(BIN, "bspctl"), str(place.job.os_pid), "stacks"], env=dict(place.env))
        with asks:
            wait_until(lambda: "sleep" in place.job.members().values(), "a tool")
            os.kill(place.job.agent(), signal.SIGKILL)
            place.job.finish()
            wait_until(lambda: not place.job.members(), "the end of all")
            check(asks.finish() == 1, asks.text())


def ended_meanwhile():
    """A job that ends does not wait for tools."""
    with wait_place(2, path_with(eu_stack="exec sleep 1000\n")) as place:
        os_pids = place.job.wait_ready(2)
        place.wait_for_barrier()
        with Job([os.path.join(BIN, "bspctl"), str(place.job.os_pid), "stacks"],
                 env=dict(place.env)) as asks:
            wait_until(lambda: "sleep" in place.job.members().values(), "a tool")
            os.kill(os_pids[1], signal.SIGKILL)
            check(place.job.finish() == 137, place.job.text())
            place.job.check_gone()
            check(asks.finish() in (0, 1), asks.text())


def of_several_hosts():
    tools = path_with(eu_stack=None) + os.pathsep + os.environ["PATH"]
    with wait_place(3, tools, "--launcher", RSH, "--hosts", "h0:1,h1:1,h2:1") as place:
        os_pids = place.job.wait_ready(3)
        text = place.stacks()
        check_stacks(text, 3)
        for pid, os_pid in os_pids.items():
            check(re.search(rf"^pid {pid} on h{pid} \(process {os_pid}\): ", text, re.M), text)
        place.end()


def before_bsp_begin():
    with Place("-np", 2, "/bin/sh", "-c", "echo here; exec sleep 1000", tools=os.environ["PATH"]) as place:
        place.job.wait_for("^here")
        check(place.stacks() == "the job has no processes yet: the program has not reached bsp_begin\n")
        place.end()


def wrong_calls():
    with wait_place(1, path_with()) as place:
        place.job.wait_ready(1)
        expect(place.ctl("stacks", 1), 2, out="^$",
               err="^bspctl: stacks: it takes no host and no pid; see bspctl --help\n$")
        result = run([os.path.join(BIN, "bspctl"), "1", "stacks"], env=dict(place.env))
        expect(result, 1, out="^$", err="^bspctl: job 1: it is not running")
        place.end()


# ---- --stacks: before the job is ended ----

HERE = r"bsprun: the processes are here:\r?\n"


def limited(tools, *words, seconds=3, status=124):
    """The stacks come before the table of the time limit."""
    result = run([BSPRUN, "--timeout", str(seconds), "--stacks", *words, PROG, "wait", "1"],
                 env={"PATH": tools})
    expect(result, status, err=rf"^bsprun: the job took longer than its time limit \(--timeout {seconds}\) and was ended$")
    check(len(re.findall(HERE, result.err, re.M)) == 1, result)
    check(re.search(HERE + r"(.*\n)*?bsprun: the job took", result.err, re.M), result)
    return result


def at_the_time_limit():
    result = limited(path_with(eu_stack=None), "-np", "2")
    check(re.search(r"^#\d .*compute_for_ever", result.err, re.M), result)


@long
def at_the_time_limit_with_snapshots():
    store = tempfile.mkdtemp(dir=scratch)
    result = limited(path_with(eu_stack=None), "-np", "2", "--ckpt", store)
    check(re.search(r"^#\d .*compute_for_ever", result.err, re.M), result)


@long
def at_the_time_limit_of_several_hosts():
    result = limited(path_with(eu_stack=None) + os.pathsep + os.environ["PATH"], "-np", "3",
                     "--launcher", RSH, "--hosts", "h0:1,h1:1,h2:1")
    check(re.search(r"^pid 1 on h1 \(process \d+\): ", result.err, re.M), result)
    check(len(re.findall(r"^#0 ", result.err, re.M)) == 3, result)


def at_the_time_limit_a_tool_hangs():
    result = limited(path_with(eu_stack="sleep 1000 & wait\n"), "-np", "2", seconds=1)
    check(not re.search("^#", result.err, re.M), result)


def ended_before_the_time_limit():
    result = run([BSPRUN, "--timeout", "1000", "--stacks", "-np", "2", PROG, "count", "3"])
    expect(result, 0, no_err=True)
    result = run([BSPRUN, "--stacks", "-np", "2", PROG, "count", "3"])
    expect(result, 0, err="^bsprun: --stacks prints nothing without --timeout or -v\n$")


def at_ctrl_c():
    env = {"PATH": path_with(eu_stack=None)}
    with Job([BSPRUN, "-v", "--stacks", "-np", "2", PROG, "wait", "1"], env=env, terminal=True) as job:
        job.wait_ready(2)
        os.write(job.fd, b"\x03")
        check(job.finish() == 130, job.text())
        check(re.search(HERE + r"(.*\n)*^#\d .*compute_for_ever(.*\n)*"
                        r"bsprun: the job was ended by signal 2", job.text(), re.M), job.text())
        job.check_gone()


def at_ctrl_c_without_v():
    env = {"PATH": path_with(eu_stack=None)}
    with Job([BSPRUN, "--timeout", "1000", "--stacks", "-np", "2", PROG, "wait", "1"], env=env,
             terminal=True) as job:
        job.wait_ready(2)
        os.write(job.fd, b"\x03")
        check(job.finish() == 130, job.text())
        check("the processes are here" not in job.text(), job.text())


def ctrl_c_twice():
    """The second one does not wait for a tool that hangs."""
    env = {"PATH": path_with(eu_stack="exec sleep 1000\n")}
    with Job([BSPRUN, "-v", "--stacks", "-np", "2", PROG, "wait", "1"], env=env, terminal=True) as job:
        job.wait_ready(2)
        os.write(job.fd, b"\x03")
        wait_until(lambda: "sleep" in job.members().values(), "a tool")
        os.write(job.fd, b"\x03")
        check(job.finish() == 130, job.text())
        check("the processes are here" not in job.text(), job.text())
        job.check_gone()


main([at_the_time_limit, at_the_time_limit_with_snapshots, at_the_time_limit_of_several_hosts,
      at_the_time_limit_a_tool_hangs, ended_before_the_time_limit, at_ctrl_c, at_ctrl_c_without_v, ctrl_c_twice,
      with_eu_stack, with_gdb, without_tools, refused, that_fails, that_hangs, that_writes_without_end,
      killed_with_its_agent, ended_meanwhile, of_several_hosts, before_bsp_begin, wrong_calls])
