"""Output is shown once, also where a job is stopped, or its bsprun lost, before it has come again to where its output was.

The program prints in each step, to both outputs, by children and what process 0 has read of its input, and goes on as far as a file
says: so the test knows what has been shown when all go back, and where they are when the job is saved.
"""
import json
import os
import re
import signal
import subprocess
import time

from harness import BIN, BSPRUN, Job, PATIENCE, PROG, RSH, check, committed, jobs, main, run, scratch, wait_committed, wait_until

BSPSTAT = os.path.join(BIN, "bspstat")
BSPCTL = os.path.join(BIN, "bspctl")
OBJECTS = os.environ["INTEG_OBJECTS"]
STEPS = 50
SHOWN = 36  # the last step in which processes print before they go back
BEHIND = 21  # where they wait then: Processor Zero may be asked some supersteps later only
BEFORE = 2  # supersteps before the first step
NP = 3
ONE = ["-np", str(NP)]
SEVERAL = ["--launcher", RSH, "--hosts", "h0:1,h1:1,h2:1"]
REPLICAS = ["--launcher", RSH, "--hosts", "h0:2,h1:2,h2:2", *ONE, "--replicas", "2"]
given = os.path.join(scratch, "input")
with open(given, "w") as file:
    file.writelines(f"line {step} {'x' * 60}\n" for step in range(1, STEPS + 1))
stores = 0


class Course:
    """A job that is started, stopped and restarted, with what all its bspruns have shown."""

    def __init__(self, where, *options, program=PROG):
        global stores
        stores += 1
        self.where, self.options, self.program = where, options, program
        self.store, self.gate = (os.path.join(scratch, f"{what} {stores}") for what in ("store", "gate"))
        self.shown = []

    def open(self, step):
        """Lets the processes print up to step + 1, and wait there."""
        with open(self.gate + ".new", "w") as file:
            file.write(f"{step}\n")
        os.rename(self.gate + ".new", self.gate)

    def start(self, step):
        self.open(step)
        return Job([BSPRUN, *self.where, f"--ckpt={self.store}", "--every", "20", *self.options, self.program, "gated", STEPS, self.gate],
                   stdin=open(given))

    def restart(self, step, at=""):
        self.open(step)
        return Job([BSPRUN, "--restart", self.store + at], stdin=open(given))

    def take(self, job):
        """What it has shown until its end."""
        self.shown += job.text().splitlines()

    def records(self):
        return [name for name in os.listdir(os.path.join(self.store, jobs(self.store)[0])) if name.startswith("shown.")]

    def check_shown_once(self):
        check(lines_of(self.shown) == wanted(), "\n".join(self.shown))
        check(not any("both versions" in line or "shown twice" in line or "not repeated" in line for line in self.shown), self.shown)


def lines_of(shown, first=1):
    """Without what bsprun says and adds."""
    found = []
    for line in shown:
        line = re.sub(r"^\[[0-9?]+\] ", "", line.rstrip("\r"))
        step = re.match(r"(?:step|error|child|read line) (\d+)", line)
        if step and int(step.group(1)) >= first:
            found.append(line)
    return sorted(found)


def wanted(first=1):
    lines = []
    for step in range(first, STEPS + 1):
        for pid in range(NP):
            lines += [f"step {step} of {pid}", f"error {step} of {pid}"] + [f"child {step} of {pid}"] * (step % 4 == 0)
        lines.append(f"read line {step} {'x' * 60}")
    return sorted(lines)


def wait_shown(job, step):
    for words in "step", "error":
        job.wait_for(rf"{words} {step} of \d", NP)


def lose_all(course, job):
    """Each process, so that all go back also where they have replicas."""
    for pid in (pid for pid, name in job.members().items() if name == os.path.basename(course.program)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # its agent has ended it, as another one was lost


def wait_at(job, step):
    """Until all wait in that step."""
    def reached():
        result = run([BSPSTAT, "--json", str(job.os_pid)])
        ranks = json.loads(result.out)["ranks"] if result.status == 0 else []
        return len(ranks) >= NP and all(rank["superstep"] == BEFORE + step for rank in ranks)
    wait_until(reached, "the processes, where they wait")


def go_back(course, job):
    """From where it has shown SHOWN steps to superstep 20."""
    wait_committed(job, course.store, 0)  # with replicas none is begun while the one before is not committed
    course.open(SHOWN - 1)
    wait_shown(job, SHOWN)
    wait_committed(job, course.store, 20)
    course.open(BEHIND - 1)
    lose_all(course, job)
    job.wait_for("the job continues from superstep 20")


def step_by_step(course, over, what, first=BEHIND):
    """Lets it go on until that is done, which is at one of the next barriers; not beyond what was shown."""
    for step in range(first, SHOWN):
        course.open(step)
        end = time.monotonic() + (1 if step < SHOWN - 1 else PATIENCE)
        while not over() and time.monotonic() < end:
            time.sleep(0.01)
    check(over(), what)


def stop_while_behind(course, job, waits=BEHIND):
    wait_at(job, waits)
    job.signal(signal.SIGTERM)
    step_by_step(course, job.is_over, "the end", waits)
    check(job.finish() == 123, job.status, job.text())
    check("stopped after a snapshot" in job.text(), job.text())
    check(course.records(), "it was not behind", committed(course.store))
    course.take(job)


def end_well(course):
    with course.restart(STEPS) as job:
        check(job.finish() == 0, job.status, job.text())
        course.take(job)
        job.check_gone()
    course.check_shown_once()


def stopped(where, *options):
    course = Course(where, *options)
    with course.start(BEFORE + 10) as job:
        go_back(course, job)
        stop_while_behind(course, job)
    end_well(course)


def stopped_on_one_host():
    stopped(ONE)
    stopped(ONE, "--tag-output")


def stopped_on_several_hosts():
    stopped(SEVERAL)
    stopped(SEVERAL, "--tag-output")


def stopped_with_replicas():
    stopped(REPLICAS)


def stopped_again():
    """The second bsprun has not come to where the first one was, either."""
    for where in ONE, SEVERAL:
        course = Course(where)
        with course.start(BEFORE + 10) as job:
            go_back(course, job)
            stop_while_behind(course, job)
        with course.restart(0) as job:
            stop_while_behind(course, job, committed(course.store)[-1] - BEFORE)
        end_well(course)


def stopped_without_a_new_snapshot():
    """No barrier comes in the time given; or it is not as far."""
    for where in ONE, SEVERAL:
        for waits in True, False:
            course = Course(where, "--grace", "1")
            with course.start(BEFORE + 10) as job:
                go_back(course, job)
                if waits:
                    wait_at(job, BEHIND)
                job.signal(signal.SIGTERM)
                check(job.finish() == 123, job.status, job.text())
                check(not waits or "stopped without a new snapshot" in job.text(), job.text())
                course.take(job)
            end_well(course)


def saved_on_request(course, job, first):
    """Asks for a snapshot, and lets it go on until that is there."""
    saving = subprocess.Popen([BSPCTL, "--wait", str(job.os_pid), "save"])
    step_by_step(course, lambda: saving.poll() is not None, "the snapshot", first)
    check(saving.wait() == 0, saving.returncode, job)


def of_a_dataspace():
    """Wherever it is stopped, between calls."""
    for where in ONE, SEVERAL:
        course = Course(where, "--every", "1000s", "--recover", "all", program=OBJECTS)
        with course.start(BEFORE + 10) as job:
            wait_shown(job, BEFORE + 11)
            saved_on_request(course, job, BEFORE + 11)
            course.open(SHOWN - 1)
            wait_shown(job, SHOWN)
            course.open(BEHIND)
            lose_all(course, job)
            job.wait_for("the job continues from superstep")
            job.signal(signal.SIGTERM)
            step_by_step(course, job.is_over, "the end")
            check(job.finish() == 123, job.status, job.text())
            check(course.records(), committed(course.store))
            course.take(job)
        end_well(course)


def lost_behind_a_snapshot():
    """What was shown before the snapshot was taken is known when bsprun is killed."""
    for where in ONE, SEVERAL, REPLICAS:
        course = Course(where)
        with course.start(BEFORE + 10) as job:
            go_back(course, job)
            wait_at(job, BEHIND)
            saved_on_request(course, job, BEHIND)
            check(course.records(), job)
            job.signal(signal.SIGKILL)
            job.finish()
            course.take(job)
            job.check_gone(at_once=False)
        end_well(course)


def lost_before_a_snapshot():
    """What a bsprun that is killed has shown since the snapshot is shown again, and nothing else."""
    course = Course(ONE)
    with course.start(BEFORE + 10) as job:
        go_back(course, job)
        job.signal(signal.SIGKILL)
        job.finish()
        course.take(job)
        job.check_gone(at_once=False)
    check(not course.records(), course.records())
    with course.restart(STEPS) as job:
        check(job.finish() == 0, job.status, job.text())
        again = job.text().splitlines()
    first = min(int(step) for step in re.findall(r"step (\d+)", "\n".join(again)))
    check(lines_of(again) == wanted(first), first, again)
    check(lines_of(course.shown, 1)[:1] and first <= 20, first)


def an_older_one_by_hand():
    """From there on all is shown again, and once; a stop of that job does not change it."""
    course = Course(ONE)
    with course.start(BEFORE + 10) as job:
        go_back(course, job)
        stop_while_behind(course, job)
    course.shown = []
    with course.restart(BEHIND - 1, "@0") as job:
        wait_at(job, BEHIND)
        job.signal(signal.SIGTERM)
        course.open(BEHIND)
        check(job.finish() == 123, job.status, job.text())
        course.take(job)
    check(not course.records(), course.records())
    with course.restart(STEPS) as job:
        check(job.finish() == 0, job.status, job.text())
        course.take(job)
    first = min(int(step) for step in re.findall(r"step (\d+)", "\n".join(course.shown)))
    check(first == 1 and lines_of(course.shown) == wanted(first), first, course.shown)


if __name__ == "__main__":
    main([stopped_on_one_host, stopped_on_several_hosts, stopped_with_replicas, stopped_again, stopped_without_a_new_snapshot,
          of_a_dataspace, lost_behind_a_snapshot, lost_before_a_snapshot, an_older_one_by_hand])
