"""What a job learns of failures and costs: decided by it, shown, and told to later jobs."""
import json
import re

from harness import *

BSPSTAT = os.path.join(BIN, "bspstat")
BSPLOAD = os.path.join(BIN, "bspload")
BSPCTL = os.path.join(BIN, "bspctl")
BSPSIM = os.path.join(BIN, "bspsim")
KINDS = ("host", "process", "preemption", "split")


class Learning(Place):
    """With a history and a directory of sockets of its own."""

    def __init__(self):
        super().__init__()
        self.state = self.path("state")
        self.history = self.path("state", "bspzero", "history")
        self.sockets = tempfile.mkdtemp(prefix="bspz-", dir="/tmp")  # a socket's path is short
        self.env = {"XDG_STATE_HOME": self.state, "BSPZERO_HISTORY": "",
                    "BSPZERO_STATUS_DIR": os.path.join(self.sockets, "s")}

    def __exit__(self, *what):
        super().__exit__(*what)
        shutil.rmtree(self.sockets, ignore_errors=True)

    def learner(self, p, supersteps, *words, options=(), env=None, **more):
        return self.ticker(p, supersteps, *words, env=dict(self.env, **(env or {})),
                           options=("--every", "auto", f"--report={self.path('report')}", *options),
                           **more)

    def report(self):
        with open(self.path("report")) as file:
            return json.load(file)

    def status(self, job):
        done = subprocess.run([BSPSTAT, "--json", str(job.os_pid)], capture_output=True,
                              env=dict(os.environ, **self.env), check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def load(self, *words, status=0, env=None):
        done = subprocess.run([BSPLOAD, "--history", *words], capture_output=True, text=True,
                              env=dict(os.environ, **self.env, **(env or {})), check=False)
        check(done.returncode == status, "bspload:", done)
        return done.stdout + done.stderr

    def sites(self):
        return [json.loads(line) for line in self.load("--json").splitlines() if line[0] == "{"]

    def lines(self):
        with open(self.history, "rb") as file:
            return file.read()


def by_kind(failures):
    """Of what has a list of all kinds."""
    check([kind["kind"] for kind in failures["kinds"]] == list(KINDS), failures)
    return {kind["kind"]: kind for kind in failures["kinds"]}


def snapshots_follow_the_life_of_hosts():
    """Nothing fails; the user says how often hosts do."""
    with Learning() as place:
        for mtbf, least, most in (("1s", 5, 1000), ("200000h", 2, 3)):
            job = place.learner(2, 200, "-t", 10, options=("--mtbf", mtbf, "-v", "--no-history"))
            job.wait(0)
            report = place.report()
            check(least <= report["snapshots"] <= most, mtbf, report, job)
            failures = report["failures"]
            check(failures["known"] and failures["why"].startswith(("best", "failures")), failures)
            check(failures["snapshot"]["count"] >= 1 and failures["snapshot"]["seconds"] > 0, failures)
            check("bsprun: a snapshot every " in job.said(), job)
            check(all(kind["seen"] == 0 for kind in failures["kinds"]), failures)
        check(not os.path.exists(place.history), "--no-history")
        place.check_clean()


def checked_line(text):
    """A line of a history, with the check of what stands in it."""
    check_of = 0x811c9dc5
    for byte in text.encode():
        check_of = (check_of ^ byte) * 0x01000193 % 2 ** 32
    return f"{text} {check_of:08x}\n".encode()


def hardly_any_progress():
    """Where a restore takes half a minute and a host lives for a second: it is said once, and the job
    goes on.  With hosts that live for hours, nothing is said."""
    with Learning() as place:
        place.learner(1, 3).wait(0)
        shutil.rmtree(place.store)
        site = re.search(rb"^job \d+ (\S+)", place.lines(), re.M)[1].decode()
        line = checked_line(f"cost 1 {site} restore host 30 5 1000000")
        with open(place.history, "ab") as file:
            file.write(line)
        for mtbf, times in (("1s", 1), ("7h", 0)):
            job = place.learner(2, 60, "-t", 5, options=("--mtbf", mtbf)).wait(0)
            check(line in place.lines(), place.lines())
            said = re.findall(r"the job makes little progress because its 1 host fails so often: "
                              r"([\d.]+) % of the time is useful; on fewer hosts it would not reach 10 % "
                              r"either", job.said())
            check(len(said) == job.said().count("makes little") == times, mtbf, job)
            check(all(0 < float(share) < 10 for share in said), said)
            shutil.rmtree(place.store)
        place.check_clean()


def kills_are_seen():
    with Learning() as place:
        place.hold(1, 40)
        job = place.learner(2, 60, "-t", 10)
        for turn in range(2):
            victim = place.wait_executed(1, 40, turn + 1)
            place.wait_committed(1)
            place.kill(victim)
        place.wait_executed(1, 40, 3)
        seen = wait_until(lambda: (place.status(job) or {}).get("failures"), "what was learned")
        process = by_kind(seen)["process"]
        check(process["seen"] == 2 and process["watched"] > 0, seen)
        check(0 < process["low"] < process["mean_life"] < process["high"], seen)
        check(seen["restores"]["process"]["count"] == 2, seen)
        check(0 < seen["restores"]["process"]["seconds"] < PATIENCE, seen)
        check(seen["known"] and seen["interval"] is not None, seen)
        text = subprocess.run([BSPSTAT, str(job.os_pid)], capture_output=True, text=True,
                              env=dict(os.environ, **place.env), check=True).stdout
        check(re.search(r"\n  process +2 .* to ", text), text)
        check("a restore takes" in text and "a snapshot costs" in text, text)
        place.release(1, 40)
        job.wait(0)
        check(by_kind(place.report()["failures"])["process"]["seen"] == 2, place.report())
        check("failures and costs:" in job.said() + job.err().decode(), job)
        site = place.sites()[0]
        check(site["kinds"][1]["seen"] == 2 and site["kinds"][0]["seen"] == 0, site)
        check(site["snapshot"]["count"] >= 1 and site["restore_process"]["count"] == 2, site)
        place.check_clean()


def nothing_is_lost_with_processor_zero():
    """Its agent is killed; what it knew is told to the next one, once."""
    with Learning() as place:
        place.hold(0, 40)
        job = place.learner(2, 60, "-t", 10)
        place.wait_executed(0, 40)
        place.wait_committed(1)
        before = by_kind(wait_until(lambda: (place.status(job) or {}).get("failures"), "status"))
        place.kill(job.agent())
        place.wait_executed(0, 40, 2)
        place.kill(place.executed(0, 40)[-1])
        place.wait_executed(0, 40, 3)
        place.release(0, 40)
        job.wait(0)
        failures = by_kind(place.report()["failures"])
        check(failures["process"]["seen"] == 2, failures)
        check(failures["process"]["watched"] > before["process"]["watched"] > 0, failures, before)
        check(failures["host"]["seen"] == 0, failures)
        place.check_clean()


def launcher(place):
    rsh = place.write("rsh", f'#!/bin/sh\nhost=$1\nshift\n[ -e "{place.path("dead")}.$host" ] && exit 1\n'
                             'BSPZERO_HOST_NAME=$host exec "$@"\n')
    os.chmod(rsh, 0o755)
    return rsh


def hosts(place, *options, supersteps=60, names="h0:1,h1:1", heartbeat=10):
    return place.learner(2, supersteps, "-a", "-t", 10,
                         options=("--launcher", launcher(place), "--hosts", names, "--heartbeat", heartbeat, *options))


def agent_of(place, host):
    def found():
        for os_pid, name in marked(place.mark).items():
            if name == "bspnode" and ("BSPZERO_HOST_NAME=" + host).encode() in environment_of(os_pid):
                return os_pid
    def checked():
        for job in place.started:
            job.check_running()
        return found()
    try:
        return wait_until(checked, f"the agent of {host}")
    except Failed:
        raise Failed(f"no agent of {host}: {marked(place.mark)} {place.started[-1]}")


def check_plan(place, failures):
    """bspsim computes with what the report says was seen."""
    model = failures["model"]
    plan = subprocess.run([BSPSIM, "plan", "--work", "1h", "--from-report", place.path("report"),
                           "--runs", "5", "--json"], capture_output=True, text=True, check=False)
    check(plan.returncode == 0 and not plan.stderr, plan)
    given = json.loads(plan.stdout)
    check(given["hosts"] == failures["hosts"], given["hosts"], failures)
    for name, wanted in (("mtbf", given["hosts"] / model["rate"]), ("snapshot", model["cost"]),
                         ("restore", model["restore"])):
        check(abs(given[name] - wanted) <= 0.01 * wanted, name, wanted, given)


def hosts_and_agents_are_told_apart():
    """One agent is killed, and comes again; another one falls silent, and its host is lost."""
    with Learning() as place:
        place.hold(0, 40)
        job = hosts(place, "-v", heartbeat=5)
        place.wait_executed(0, 40)
        place.wait_committed(1)
        os.kill(agent_of(place, "h1"), signal.SIGKILL)
        place.wait_executed(0, 40, 2)
        wait_until(lambda: "restart 1" in job.said(), "the restart")
        silent = agent_of(place, "h1")
        send(silent, signal.SIGSTOP)
        place.wait_executed(0, 40, 3)
        send(silent, signal.SIGCONT)
        place.release(0, 40)
        job.wait(0)
        failures = place.report()["failures"]
        kinds = by_kind(failures)
        check(kinds["process"]["seen"] == 1, failures, job)
        check(kinds["host"]["seen"] == 1, failures, job)
        check(kinds["split"]["seen"] == 0, failures)
        restores = failures["restores"]
        check(restores["host"]["count"] == 1, restores)
        check(restores["host"]["seconds"] >= 5, "the silence is part of it", restores)
        check(restores["process"]["count"] == 1, restores)
        check_plan(place, failures)
        lines = place.lines().decode()
        check(re.search(r"^life \d+ hosts-of:\S+ h1 [\d.]+ host [0-9a-f]{8}$", lines, re.M), lines)
        check(re.search(r"^life \d+ hosts-of:\S+ h0 [\d.]+ alive [0-9a-f]{8}$", lines, re.M), lines)
        check(place.sites()[0]["hosts"] == 2, place.sites())
        # The next job knows.
        shutil.rmtree(place.store)
        job = hosts(place, "-v", supersteps=5)
        job.wait(0)
        check(re.search(r"bsprun: history of hosts-of:\S+: 1 job, 1 failure of hosts, one lives ",
                        job.said()), job)
        place.check_clean()


def lives(place, host):
    """Of that host, as recorded: how long, and how each piece of it ended."""
    return [(float(seconds), end) for seconds, end in
            re.findall(rf"^life \d+ \S+ {host} ([\d.]+) (\S+) [0-9a-f]+$", place.lines().decode(), re.M)]


def died(place, host):
    """As recorded: its life is over, and it has had no other."""
    ends = [end for _, end in lives(place, host)]
    check(ends and ends[-1] == "host" and ends.count("alive") == len(ends) - 1, host, place.lines())


def a_removed_host_lives_no_more():
    """As far as the job knows."""
    with Learning() as place:
        place.hold(0, 10)
        began = time.monotonic()
        job = hosts(place, "-v")
        place.wait_executed(0, 10)
        agent = agent_of(place, "h1")
        with subprocess.Popen([BSPCTL, "--wait", str(job.os_pid), "remove", "h1"], stderr=subprocess.PIPE,
                              env=dict(os.environ, **place.env)) as ctl:
            wait_until(lambda: "bspctl: " in job.said() or ctl.poll() is not None, "the request")
            place.hold(0, 40)
            place.release(0, 10)
            check(ctl.wait(PATIENCE) == 0, ctl.stderr.read(), job)
        wait_until(lambda: not alive(agent), "the end of the agent")
        check(place.status(job), "bsprun answers, and knows")
        removed = time.monotonic()
        place.wait_executed(0, 40)
        time.sleep(2)  # it is the least that has passed, whatever the load
        place.release(0, 40)
        job.wait(0)
        check([end for _, end in lives(place, "h1")] == ["alive"], place.lines())
        check(lives(place, "h1")[0][0] < removed - began + 1, removed - began, place.lines())
        check(sum(seconds for seconds, _ in lives(place, "h0")) > 2, place.lines())
        place.check_clean()


def a_host_that_closes_its_connections():
    """It is a failure of the host, once, when no agent can be started there any more; before that it might be one of the agent,
    which is not recorded yet."""
    with Learning() as place:
        place.hold(0, 40)
        job = hosts(place, "-v")
        place.wait_executed(0, 40)
        place.wait_committed(1)
        place.write("dead.h1", "")
        os.kill(agent_of(place, "h1"), signal.SIGKILL)
        place.wait_executed(0, 40, 2)
        place.release(0, 40)
        job.wait(0)
        check([end for _, end in lives(place, "h1")] == ["host"], place.lines())
        kinds = by_kind(place.sites()[0])
        check(kinds["host"]["seen"] == 1 and kinds["process"]["seen"] == 0, kinds, place.lines())
        check([kind["seen"] for kind in place.report()["failures"]["kinds"]] == [1, 0, 0, 0], place.report())
        place.check_clean()


def hosts_that_are_lost_together():
    """It is one failure, and none of them lives on."""
    with Learning() as place:
        place.hold(0, 40)
        job = hosts(place, "-v", names="h0:1,h1:1,h2:1")
        place.wait_executed(0, 40)
        place.wait_committed(1)
        agents = [agent_of(place, host) for host in ("h1", "h2")]
        for host in ("h1", "h2"):
            place.write("dead." + host, "")
        for os_pid in agents:
            os.kill(os_pid, signal.SIGKILL)
        place.wait_executed(0, 40, 2)
        place.release(0, 40)
        job.wait(0)
        for host in ("h1", "h2"):
            died(place, host)
        check([kind["seen"] for kind in place.report()["failures"]["kinds"]] == [1, 0, 0, 0], place.report())
        place.check_clean()


def a_host_whose_process_is_first():
    """The death of the process may be all that is known when the next term begins; the host is lost nevertheless."""
    with Learning() as place:
        place.hold(1, 40)
        job = hosts(place, "-v")
        victim = place.wait_executed(1, 40)
        place.wait_committed(1)
        agent = agent_of(place, "h1")
        place.write("dead.h1", "")
        place.kill(victim)
        wait_until(lambda: re.search(r"^seen \d+ \S+ process 1\.", place.lines().decode(), re.M), "the record")
        os.kill(agent, signal.SIGKILL)
        place.wait_executed(1, 40, 2)
        place.release(1, 40)
        job.wait(0)
        died(place, "h1")
        place.check_clean()


def a_host_that_joins_and_is_lost():
    """Before any process is there: it is not watched any more."""
    with Learning() as place:
        place.hold(0, 10)
        place.hold(0, 40)
        job = hosts(place, "-vv", "--rejoin", "off")
        place.wait_executed(0, 10)
        began = time.monotonic()
        with subprocess.Popen([BSPCTL, str(job.os_pid), "add", "h7"], stderr=subprocess.PIPE,
                              env=dict(os.environ, **place.env)) as ctl:
            check(ctl.wait(PATIENCE) == 0, ctl.stderr.read(), job)
        wait_until(lambda: "host h7 has joined" in job.said(), "the agent")
        place.write("dead.h7", "")
        os.kill(agent_of(place, "h7"), signal.SIGKILL)
        wait_until(lambda: "continues without it" in job.said(), "the loss")
        lived = time.monotonic() - began
        place.release(0, 10)
        place.wait_executed(0, 40)
        time.sleep(lived + 1)  # so much more has it not lived
        place.release(0, 40)
        job.wait(0)
        check([end for _, end in lives(place, "h7")] == ["alive"], place.lines())
        check(lives(place, "h7")[0][0] < lived + 0.1, lived, place.lines())
        place.check_clean()


def an_agent_that_comes_again():
    """It was a failure of the agent: recorded when the processes run again, so that it is there though bsprun is killed."""
    with Learning() as place:
        place.hold(0, 40)
        job = hosts(place, "-v")
        place.wait_executed(0, 40)
        place.wait_committed(1)
        os.kill(agent_of(place, "h1"), signal.SIGKILL)
        place.wait_executed(0, 40, 2)
        wait_until(lambda: re.search(r"^seen \d+ \S+ process 1\.", place.lines().decode(), re.M), "the record")
        send(job.os_pid, signal.SIGKILL)
        job.wait(-signal.SIGKILL)
        wait_until(lambda: not marked(place.mark), "the end of all processes")


def agents_failed(place):
    """As recorded."""
    return sum(map(float, re.findall(r"^seen \d+ \S+ process ([\d.]+) ", place.lines().decode(), re.M)))


def an_agent_of_replicas():
    """The job goes on without it: it is recorded with the next snapshot, and its host is not watched any more."""
    with Learning() as place:
        place.hold(0, 20)
        place.hold(0, 60)
        job = hosts(place, "-v", "--replicas", 2, "--replica-files", "allow", "--every", "5", supersteps=80, names="h0:1,h1:1,h2:1")
        place.wait_executed(0, 20)
        place.wait_committed(1)
        place.write("dead.h1", "")
        os.kill(agent_of(place, "h1"), signal.SIGKILL)
        wait_until(lambda: "h1" in job.said(), "the loss")
        place.release(0, 20)
        wait_until(lambda: agents_failed(place) == 1, "the record")
        job.check_running()
        before = lives(place, "h1")
        place.release(0, 60)
        job.wait(0)
        check(agents_failed(place) == 1 and lives(place, "h1") == before != [], place.lines())
        place.check_clean()


def failure_is_recorded(place, job):
    """While the job goes on: of the agent of h1, when process 0 is held."""
    place.wait_executed(0, 20)
    os.kill(agent_of(place, "h1"), signal.SIGKILL)
    wait_until(lambda: agents_failed(place) == 1, "the record")
    job.check_running()
    place.release(0, 20)
    job.wait(0)


def an_agent_of_replicas_without_snapshots():
    """No other one comes, so that it is recorded at once."""
    with Learning() as place:
        place.hold(0, 20)
        rsh = launcher(place)
        job = place.start(BSPRUN, "-np", 2, "--launcher", rsh, "--hosts", "h0:1,h1:1,h2:1", "--heartbeat", 10, "--replicas", 2, "--replica-files", "allow",
                          TICKER, place.files, 30, "-t", 10, env=place.env)
        failure_is_recorded(place, job)
        place.check_clean()


def an_agent_of_replicas_that_comes_again():
    """Recorded as soon as it is there."""
    with Learning() as place:
        place.hold(0, 20)
        job = hosts(place, "-v", "--replicas", 2, "--replica-files", "allow", "--rejoin", "1s", names="h0:1,h1:1,h2:1")
        failure_is_recorded(place, job)
        check(agents_failed(place) == 1, place.lines())
        place.check_clean()


def the_next_job_begins_with_it():
    """Without a failure of its own its interval is the one that failures ask for."""
    with Learning() as place:
        place.hold(1, 20)
        job = place.learner(2, 30, "-t", 10)
        place.wait_executed(1, 20)
        place.wait_committed(1)
        place.kill(place.executed(1, 20)[-1])
        place.wait_executed(1, 20, 2)
        place.release(1, 20)
        job.wait(0)
        shutil.rmtree(place.store)
        job = place.learner(2, 60, "-t", 10)
        job.wait(0)
        failures = place.report()["failures"]
        check(failures["known"], failures)
        check(by_kind(failures)["process"]["seen"] == 0, failures)
        check(by_kind(failures)["process"]["mean_life"] is not None, failures)
        shutil.rmtree(place.store)
        job = place.learner(2, 30, "-t", 10, env={"BSPZERO_HISTORY": "off"})
        job.wait(0)
        check(not place.report()["failures"]["known"], place.report())
        check(place.sites()[0]["jobs"] == 2, place.sites())
        place.check_clean()


def two_jobs_at_once():
    with Learning() as place, Learning() as other:
        other.env["XDG_STATE_HOME"] = place.env["XDG_STATE_HOME"]
        running = []
        for here in (place, other):
            here.hold(1, 2)
            here.hold(1, 20)
            running.append(here.learner(2, 30, "-t", 5))
        for here in (place, other):
            here.wait_committed(0)  # none is due before
            here.release(1, 2)
            here.wait_executed(1, 20)
            here.wait_committed(1)
        for here in (place, other):
            here.kill(here.executed(1, 20)[-1])
        for here, job in zip((place, other), running):
            here.wait_executed(1, 20, 2)
            here.release(1, 20)
            job.wait(0)
        site = place.sites()[0]
        check(site["jobs"] == 2 and site["kinds"][1]["seen"] == 2, site)
        check("cannot be read" not in place.load(), place.load())
        for here in (place, other):
            here.check_clean()


def preempted():
    """Somebody wants the machine back: the job is saved, and it is noted."""
    with Learning() as place:
        place.hold(0, 10)
        job = place.learner(2, 30, "-t", 5)
        place.wait_executed(0, 10)
        job.signal(signal.SIGTERM)
        place.release(0, 10)
        job.wait(123)
        check(place.sites()[0]["kinds"][2]["seen"] == 1, place.sites())
        job = place.start(BSPRUN, "--restart", place.store, f"--report={place.path('report')}",
                          env=place.env).wait(0)
        failures = place.report()["failures"]
        check(not failures["known"], "it has cost no work", failures)
        check(place.sites()[0]["jobs"] == 2, place.sites())
        place.check_clean()


def one_warning(place, job, text, untouched=None):
    job.wait(0)
    said = [line for line in job.said().splitlines() if "history" in line]
    check(len(said) == 1 and text in said[0], text, job)
    if untouched is not None:
        check(place.lines() == untouched, "it was written to")
    shutil.rmtree(place.store)


def files_that_are_none():
    with Learning() as place:
        place.learner(1, 3).wait(0)
        good = place.lines()
        shutil.rmtree(place.store)
        for content, text in ((b"bspzero-history 7\nthe future\n", "another version"),
                              (b"my diary\n", "not a history file"), (b"\0" * 5000000, "too large")):
            with open(place.history, "wb") as file:
                file.write(content)
            one_warning(place, place.learner(1, 3), text, content)
        with open(place.history, "wb") as file:
            file.write(good)
        os.chmod(place.history, 0o666)
        one_warning(place, place.learner(1, 3), "writable by others", good)
        os.unlink(place.history)
        os.symlink(place.write("elsewhere", good), place.history)
        one_warning(place, place.learner(1, 3), "symbolic link", good)
        os.unlink(place.history)
        if os.geteuid() == 0:
            with open(place.history, "wb") as file:
                file.write(good)
            os.chown(place.history, 65534, 65534)
            one_warning(place, place.learner(1, 3), "another user", good)
            os.unlink(place.history)
        else:
            os.chmod(os.path.dirname(place.history), 0o500)
            one_warning(place, place.learner(1, 3), "Permission denied")
            os.chmod(os.path.dirname(place.history), 0o700)
        # A line that was cut is left out, the rest counts, and the next line is whole.
        with open(place.history, "wb") as file:
            file.write(good[:-9])
        os.chmod(place.history, 0o600)
        job = place.learner(1, 3, options=("-v",)).wait(0)
        check("1 unreadable line ignored" in job.said(), job)
        check(place.lines().startswith(good[:-9] + b"\n"), place.lines())
        check(place.sites()[0]["jobs"] == 2, place.sites())
        place.check_clean()


def not_to_be_written_at_the_end():
    """The last records are lost, and that is said."""
    with Learning() as place:
        place.hold(0, 3)
        job = place.learner(1, 5)
        wait_until(lambda: os.path.exists(place.history) and b"\njob " in place.lines(), "the first record")
        os.chmod(place.history, 0o666)
        before = place.lines()
        place.release(0, 3)
        one_warning(place, job, "writable by others", before)
        place.check_clean()


def no_home():
    with Learning() as place:
        nowhere = {"XDG_STATE_HOME": "", "HOME": ""}
        job = place.learner(1, 3, env=nowhere).wait(0)
        check("history" not in job.said(), job)
        shutil.rmtree(place.store)
        job = place.learner(1, 3, options=("-v",), env=nowhere).wait(0)
        check(job.said().count("no history of earlier jobs: neither XDG_STATE_HOME nor HOME is set") == 1,
              job)
        shutil.rmtree(place.store)
        job = place.learner(1, 3, env={"XDG_STATE_HOME": "", "HOME": place.path("not", "there")})
        one_warning(place, job, "No such file or directory")
        place.check_clean()


def a_full_disk():
    if os.geteuid() != 0:
        return "skipped: a disk is made by root only"
    with Learning() as place:
        full = place.path("full")
        os.mkdir(full)
        script = ('mount -t tmpfs -o size=8k none "$0" && mkdir "$0/bspzero" && '
                  'dd if=/dev/zero of="$0/rest" bs=4096 count=2 2>/dev/null; shift 0; exec "$@"')
        job = place.start("unshare", "-m", "sh", "-c", script, full, BSPRUN, "-np", 2, "--ckpt",
                          place.store, "--every", "auto", TICKER, place.files, 30,
                          env=dict(place.env, XDG_STATE_HOME=full))
        job.wait()
        if "unshare" in job.err().decode() or "mount:" in job.err().decode():
            return "skipped: no mounts here"
        check(job.status == 0, job)
        said = [line for line in job.said().splitlines() if "history" in line]
        check(len(said) == 1 and "No space left" in said[0], job)


def killed_while_it_is_written():
    """bsprun, again and again: at most a line is lost each time, and the file is one."""
    with Learning() as place:
        for turn in range(6):
            job = place.learner(1, 2000)
            place.wait_executed(0, 1 + turn)
            send(job.os_pid, signal.SIGKILL)
            job.wait(-signal.SIGKILL)
            wait_until(lambda: not marked(place.mark), "the end of all processes")
            shutil.rmtree(place.store)
            shutil.rmtree(place.files)
            os.mkdir(place.files)
        place.learner(1, 3).wait(0)
        check(place.lines().startswith(b"bspzero-history 1\n"), place.lines())
        check(place.sites()[0]["jobs"] >= 1, place.sites())
        place.check_clean()


def nonsense():
    with Learning() as place:
        for value in ("0", "-3h", "1e99h", "soon", "0.5s", ""):
            job = place.learner(1, 3, options=("--mtbf", value)).wait(2)
            check(len(job.said().splitlines()) == 1 and "mean time between failures" in job.said(), value, job)
        job = place.learner(1, 3, env={"BSPZERO_MTBF": "often"}).wait(2)
        check("BSPZERO_MTBF=often: give the mean time between failures" in job.said(), job)


if __name__ == "__main__":
    main([snapshots_follow_the_life_of_hosts, hardly_any_progress, kills_are_seen,
          nothing_is_lost_with_processor_zero, hosts_and_agents_are_told_apart,
          a_removed_host_lives_no_more, a_host_that_closes_its_connections,
          hosts_that_are_lost_together, a_host_whose_process_is_first, a_host_that_joins_and_is_lost, an_agent_that_comes_again,
          an_agent_of_replicas, an_agent_of_replicas_without_snapshots, an_agent_of_replicas_that_comes_again,
          the_next_job_begins_with_it, two_jobs_at_once, preempted, files_that_are_none, not_to_be_written_at_the_end, no_home,
          a_full_disk, killed_while_it_is_written, nonsense], together=3)
