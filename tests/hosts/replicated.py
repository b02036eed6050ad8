"""Jobs whose processes have replicas: hosts that are killed, stopped or slow cost nothing, and what
the job prints is the same and shown once.
"""
import signal
import time

from jobs import *

BEATS = os.path.join(BUILD, "tests/hosts/beats")
P = 4


class Beats:
    """A job of beats on hosts with so many slots."""

    def __init__(self, place, supersteps, rest_ms, *words, replicas=2, options=(), stdin=None):
        self.place, self.supersteps = place, supersteps
        self.directory = place.path("beats")
        os.makedirs(self.directory, exist_ok=True)
        more = ["--replicas", replicas] if replicas > 1 else []
        self.job = place.start(BSPRUN, "-v", "-np", P, *place.host_options(), *more, *options, BEATS,
                               self.directory, supersteps, rest_ms, *words, stdin=stdin)

    def tell(self, what, host):
        with open(os.path.join(self.directory, f"{what}.{host}"), "w"):
            pass

    def zero(self):
        """The host of Processor Zero, before it is lost."""
        def found():
            self.job.check_running()
            named = re.findall(r"Processor Zero is host (\S+) |and host (\S+) is Processor Zero now",
                               self.job.said())
            return "".join(named[-1]) if named else None
        return wait_until(found, "Processor Zero")

    def at(self, host):
        """The superstep that has begun there; 0: none."""
        try:
            with open(os.path.join(self.directory, f"at.{host}")) as file:
                return int(file.read() or 0)
        except OSError:
            return 0

    def wait_at(self, superstep, *hosts):
        wait_until(lambda: self.job.check_running() or
                   all(self.at(host) >= superstep for host in hosts), f"superstep {superstep}")

    def check_output(self, reference):
        """Shown once, in the order of supersteps."""
        lines = self.job.out().decode().splitlines()
        check(sorted(lines) == sorted(reference), "other output", lines[-5:], reference[-5:], self.job)
        steps = [int(line.split()[1]) for line in lines if line.startswith("superstep")]
        check(steps == sorted(steps), "not in order", self.job)

    def end(self, reference):
        self.job.wait(0)
        self.check_output(reference)
        check(not re.search(r"restart \d|continues from superstep", self.job.said()),
              "it was rolled back", self.job)


def reference(place, supersteps, *words, options=(), stdin=None):
    """What the job prints without any host but its own."""
    directory = place.path("alone")
    os.makedirs(directory, exist_ok=True)
    job = place.start(BSPRUN, "-np", P, *options, BEATS, directory, supersteps, 0, *words, stdin=stdin)
    return job.wait(0).out().decode().splitlines()


def here(hosts, **more):
    return HostPlace(hosts=hosts, slots=2, **more)


def without_faults():
    """On four hosts 4 processes with 2 replicas each; on three hosts one is left over."""
    for hosts in (4, 5):
        with here(hosts) as place:
            expected = reference(place, 30)
            Beats(place, 30, 5).end(expected)


def each_number():
    for replicas in (2, 3, 4):
        with here(2 * replicas) as place:
            expected = reference(place, 20)
            Beats(place, 20, 5, replicas=replicas).end(expected)


def is_told(job, victim):
    return f"host {victim} was lost" in job.said()


def killed(number):
    """Any host, that of Processor Zero (0) or another one."""
    def test():
        with here(4) as place:
            expected = reference(place, 200)
            beats = Beats(place, 200, 40)  # longer than it takes to notice the loss
            beats.wait_at(10, *place.job_hosts)
            zero = beats.zero()
            victim = [zero, *(name for name in place.job_hosts if name != zero)][number]
            place.farm.kill_host(victim)
            beats.end(expected)
            check(is_told(beats.job, victim), "nobody was told", beats.job)
    test.__name__ = f"killed_{number}"
    return test


@long
def one_after_the_other():
    """Hosts of Processor Zero, as long as each process has a replica."""
    with here(6, heartbeat=1) as place:
        expected = reference(place, 200)
        beats = Beats(place, 200, 40, replicas=3)
        beats.wait_at(10, *place.job_hosts)
        for count in (1, 2):
            victim = beats.zero()
            place.farm.kill_host(victim)
            wait_until(lambda count=count: beats.job.said().count("is Processor Zero now") == count,
                       f"the loss of {victim}")
        beats.end(expected)


def frozen_or_cut_off():
    """The host of Processor Zero does not answer for longer than the heartbeat, or its network is
    gone: the others go on, and it takes no part any more."""
    def cut_from_hosts(place, victim):
        for other in place.job_hosts:
            if other != victim:
                place.farm.cut_between(other, victim)

    for fault in (lambda place, victim: place.farm.freeze(victim),
                  lambda place, victim: place.farm.cut(victim), cut_from_hosts):
        with here(4, heartbeat=1) as place:
            expected = reference(place, 120)
            beats = Beats(place, 120, 40)
            beats.wait_at(10, *place.job_hosts)
            victim = beats.zero()
            fault(place, victim)
            beats.end(expected)
            check(is_told(beats.job, victim), "nobody was told", beats.job)


@long
def deaf():
    """A host does not hear bsprun, and its processes end: others do not count on it, though it answers.  That of
    Processor Zero, or another one."""
    for number in (0, 1):
        with here(3, heartbeat=1) as place:
            expected = reference(place, 120)
            beats = Beats(place, 120, 40, replicas=3)
            beats.wait_at(10, *place.job_hosts)
            zero = beats.zero()
            victim = [zero, *(name for name in place.job_hosts if name != zero)][number]
            place.farm.cut_between(place.farm.names[0], victim, both=False)
            beats.end(expected)
            check(is_told(beats.job, victim), "nobody was told", beats.job)


def stopped():
    """The processes and the agent of a host are stopped: the others do not wait.  Of
    Processor Zero's host they would."""
    with here(4, heartbeat=60) as place:
        expected = reference(place, 60)
        beats = Beats(place, 60, 20)
        beats.wait_at(10, *place.job_hosts)
        begun = time.monotonic()
        victim = [name for name in place.job_hosts if name != beats.zero()][-1]
        place.farm.freeze(victim)
        try:
            others = [name for name in place.job_hosts if name != victim]  # the job ends with the first of them
            wait_until(lambda: beats.job.check_running() or any(beats.at(host) >= 60 for host in others), "the end")
            check(time.monotonic() - begun < 20, "it has waited for the host", beats.job)
        finally:
            place.farm.thaw(victim)
        beats.end(expected)


@long
def slow():
    """A host that takes ten times as long: the job takes as long as without it."""
    with here(4) as place:
        expected = reference(place, 60)
        quick = Beats(place, 60, 50)
        begun = time.monotonic()
        quick.end(expected)
        undisturbed = time.monotonic() - begun
        beats = Beats(place, 60, 50)
        beats.tell("slow", beats.zero())
        begun = time.monotonic()
        beats.end(expected)
        took = time.monotonic() - begun
        check(took < 1.5 * undisturbed + 2, f"{took:.1f} s instead of {undisturbed:.1f} s", beats.job)


def with_input(reader):
    """Every replica of the process that reads gets the same."""
    def test():
        with here(4) as place:
            text = "".join(f"line {i}\n" for i in range(60))
            source = place.write("input", text)
            words, options = ["-i", "-r", reader], ["--stdin", reader]
            with open(source) as file:
                expected = reference(place, 60, *words, options=options, stdin=file)
            with open(source) as file:
                beats = Beats(place, 60, 20, *words, options=options, stdin=file)
            beats.wait_at(10, *place.job_hosts)
            place.farm.kill_host([name for name in place.job_hosts if name != beats.zero()][0])
            beats.end(expected)
    test.__name__ = f"with_input_of_{reader}"
    return test


@long
def all_of_one_process():
    """With snapshots the job goes on from the last one."""
    with here(4) as place:
        expected = reference(place, 80)
        beats = Beats(place, 80, 20, options=["--ckpt", place.store, "--every", "5"])
        beats.wait_at(20, *place.job_hosts)
        # Hosts are dealt out in rounds: the second of each round have the same processes.
        place.farm.kill_host(place.job_hosts[1])
        place.farm.kill_host(place.job_hosts[3])
        beats.job.wait(0)
        beats.check_output(expected)


def snapshots_and_a_loss():
    with here(4) as place:
        expected = reference(place, 80)
        beats = Beats(place, 80, 20, options=["--ckpt", place.store, "--every", "5"])
        beats.wait_at(20, *place.job_hosts)
        place.farm.kill_host(place.job_hosts[2])
        beats.job.wait(0)
        beats.check_output(expected)


def mismatched(beats):
    """The supersteps in which replicas of process 1 are said to differ."""
    return set(map(int, re.findall(r"the replicas of process 1 on host \S+ and host \S+ differ in what they "
                                   r"communicate in superstep (\d+)", beats.job.said())))


def with_flip(place, how, *words, replicas):
    """A job in which a bit is changed on each host of one replica, which has all processes."""
    beats = Beats(place, 40, 20, *words, replicas=replicas, options=["--on-mismatch", how])
    beats.tell("flip", [name for name in place.job_hosts if name != beats.zero()][-1])
    return beats


def one_bit():
    """One that is communicated is reported in the superstep in which it is, and ends the job or, of one against
    two, does not count; one that is not communicated is no matter."""
    at = 12
    for replicas, how, status in ((2, "end", 1), (2, "continue", 0), (3, "end", 0)):
        with HostPlace(hosts=replicas, slots=P) as place:
            expected = reference(place, 40)
            beats = with_flip(place, how, "-b", at, replicas=replicas)
            beats.job.wait(status)
            # Superstep 0 is that of the registration.
            check(min(mismatched(beats), default=-1) == at, mismatched(beats), beats.job)
            if replicas == 3:
                beats.check_output(expected)
    with HostPlace(hosts=2, slots=P) as place:
        expected = reference(place, 40)
        beats = with_flip(place, "end", "-q", at, replicas=2)
        beats.end(expected)
        check(not mismatched(beats), "what is not communicated counts", beats.job)


def what_is_not_the_same_twice():
    """It is named, with its path; and allowed, if that is asked for."""
    with here(4) as place:
        expected = reference(place, 60)
        log = place.path("log")
        for words, said in ((["-a", log], f"appends to a file, {log} "),
                            (["-p"], "pipe:[")):
            beats = Beats(place, 100, 40, *words)
            beats.job.wait(1)
            check(re.search(rf"pid 1 .*{re.escape(said)}", beats.job.said()), "not named", beats.job)
            check("--replica-files allow" in beats.job.said(), "what to do is not said", beats.job)
        allowed = Beats(place, 60, 20, "-a", log, options=["--replica-files", "allow"])
        allowed.end(expected)
        Beats(place, 60, 20, "-a", log, replicas=1).end(expected)


def input_before_bsp_begin():
    """The other replicas would read it again."""
    with here(2) as place:
        program = place.write("early.c", "#include <bsp.h>\n#include <stdio.h>\n"
                              "int main(void){char s[9];if(!fgets(s,9,stdin))return 3;"
                              "bsp_begin(bsp_nprocs());bsp_sync();bsp_end();return 0;}\n")
        bspcc = os.path.join(BUILD, "bin", "bspcc")
        harness.subprocess.run([bspcc, program, "-o", place.path("early")], check=True)
        source = place.write("input", "one\ntwo\n")
        for replicas, status in ((2, 1), (1, 0)):
            with open(source) as file:
                job = place.start(BSPRUN, "-np", 2, *place.host_options(), "--replicas", replicas,
                                  place.path("early"), stdin=file)
            job.wait(status)
            check((status == 1) == ("process 0 has read input before bsp_begin" in job.said()), job)


if __name__ == "__main__":
    farms.require()
    main([without_faults, each_number, killed(0), *(long(killed(number)) for number in (1, 2, 3)), one_after_the_other,
          frozen_or_cut_off, deaf,
          stopped, slow, with_input(0), with_input(1), long(with_input(3)),
          all_of_one_process, snapshots_and_a_loss, one_bit, what_is_not_the_same_twice,
          input_before_bsp_begin])
