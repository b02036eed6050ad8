"""What processes have set for themselves, or a wrapper for them, through rollbacks by frozen copy and by
image and through restarts; what bsprun gives is what the present bsprun gives."""
import signal

from harness import *

def tool(name):
    """With its path: the first word of a job's command is not searched for where it is confined."""
    return shutil.which(name) or name


PROGRAM = os.path.join(PROGRAMS, "attributes")
P = 2


class Lives:
    def __init__(self, place, held, *words, before=(), wrapper=(), options=()):
        self.place = place
        for pid in range(P):
            for superstep in held:
                place.hold(pid, superstep)
        self.job = place.start(*before, BSPRUN, "-np", P, "--ckpt", place.store, "--every", 1,
                               *options, "--", *wrapper, PROGRAM, place.files, 8, *words)

    def wait(self, superstep, times=1):
        ranks = [self.place.wait_executed(pid, superstep, times) for pid in range(P)]
        self.place.wait_committed(superstep - 1)
        return ranks

    def let_go(self, superstep):
        for pid in range(P):
            self.place.release(pid, superstep)

    def lose(self, superstep, victim):
        """One comes back from its image, the other from its frozen copy."""
        self.place.kill(self.wait(superstep)[victim])
        self.wait(superstep, 2)
        self.let_go(superstep)

    def restart(self, superstep, before=()):
        self.wait(superstep)
        self.job.signal(signal.SIGTERM)
        self.let_go(superstep)
        self.job.wait(123)
        self.job = self.place.start(*before, BSPRUN, "--restart", self.place.store)

    def check(self, *texts):
        self.job.wait(0)
        lines = self.job.out().decode().splitlines()
        check(len(lines) == P, "lines", lines, self.job)
        for line in lines:
            for text in texts:
                check(re.search(text + r"\b", line), text, "is not so:", line)
        self.place.check_clean()


NICE = os.nice(0)  # of whoever runs this: nobody may have less
SET = ["nice", str(NICE + 3), "files", "700", "slack", "123456", "pin"]
HAS = (f"nice {NICE + 3}", "files 700", "slack 123456", "processors 1")

# Where bsprun binds to the processor that the program pins itself to, that is not the program's doing,
# and a restart may bind to none: whether bsprun binds depends on what else runs here.
UNBOUND = ("--bind", "none")


def kept_in_rollbacks():
    with Place() as place:
        lives = Lives(place, (3, 5), *SET)
        lives.lose(3, 0)
        lives.lose(5, 1)
        lives.check(*HAS)


def kept_with_bound_processes():
    with Place() as place:
        lives = Lives(place, (3, 5), *SET, options=UNBOUND)
        lives.lose(3, 0)
        lives.lose(5, 1)
        lives.check(*HAS)


def kept_in_restarts():
    """Of what the program has not set, whoever restarts it decides."""
    with Place() as place:
        lives = Lives(place, (3, 6), *SET, options=UNBOUND)
        lives.restart(3, before=[tool("prlimit"), "--sigpending=999:999"])
        lives.restart(6, before=[tool("prlimit"), "--sigpending=888:999"])
        lives.check(*HAS, "signals 888")


def not_held_on_to():
    """The priority of the first bsprun is not the program's doing."""
    with Place() as place:
        lives = Lives(place, (3,), "slack", "99999", before=[tool("nice"), "-n", "5"])
        lives.restart(3)
        lives.check(f"nice {NICE}", "slack 99999")


def set_by_a_wrapper():
    with Place() as place:
        lives = Lives(place, (3, 5), wrapper=["nice", "-n", "4", "prlimit", "--nofile=600:"])
        lives.lose(3, 0)
        lives.restart(5)
        lives.check(f"nice {NICE + 4}", "files 600")


def a_small_address_space():
    with Place() as place:
        lives = Lives(place, (3, 5), "small")
        lives.lose(3, 0)
        lives.lose(5, 1)
        lives.check("space small")


def a_limit_that_is_too_high_here():
    with Place() as place:
        lives = Lives(place, (3,), "files", "1000")
        lives.wait(3)
        lives.job.signal(signal.SIGTERM)
        lives.let_go(3)
        lives.job.wait(123)
        # Who may raise it again would.
        less = [tool("prlimit"), "--nofile=800:800"]
        if os.geteuid() == 0:
            less += ["setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource"]
        job = place.start(*less, BSPRUN, "--restart", place.store).wait()
        check(job.status not in (0, 123), job)
        check(re.search("RLIMIT_NOFILE to 1000; here it may be at most 800", job.said()) or
              "capabilities" in job.said(), "not said:", job)
        place.check_clean()


def a_child_that_may_be_lost():
    with Place() as place:
        lives = Lives(place, (3,), "child", options=("--ckpt-exclude", "child"))
        lives.lose(3, 0)
        lives.check("child lost")
    with Place() as place:
        lives = Lives(place, (), "child", options=("--ckpt-exclude", "child"))
        lives.check("child waited for")


def a_process_that_adopts_orphans():
    """Also below a wrapper, where copies are orphans for a moment."""
    for wrapper in ((), ("sh", "-c", '"$@"; exit $?', "sh")):
        with Place() as place:
            lives = Lives(place, (3, 5), "reaper", wrapper=wrapper)
            lives.lose(3, 1)
            lives.lose(5, 0)
            lives.check("reaper 1")


def less_is_allowed_here():
    """Saved with more capabilities than there are where it would go on."""
    if os.geteuid() != 0:
        return "needs root"
    with Place() as place:
        lives = Lives(place, (3,))
        lives.wait(3)
        lives.job.signal(signal.SIGTERM)
        lives.let_go(3)
        lives.job.wait(123)
        job = place.start(tool("setpriv"), "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", BSPRUN,
                          "--restart", place.store).wait()
        check(job.status not in (0, 123) and "capabilities that it would not have here" in
              job.said(), "restored all the same", job)
        place.restart().wait(0)
        place.check_clean()
    return None


def a_filter_of_the_container():
    confined = os.environ.get("RECOVERY_CONFINED")
    if not confined:
        return "no libseccomp"
    with Place() as place:
        lives = Lives(place, (3, 5), *SET, before=[confined], options=UNBOUND)
        lives.lose(3, 0)
        lives.restart(5, before=[confined])
        lives.check(*HAS)
    return None


if __name__ == "__main__":
    main([kept_in_rollbacks, kept_with_bound_processes, kept_in_restarts, not_held_on_to,
          set_by_a_wrapper, a_small_address_space, a_limit_that_is_too_high_here,
          a_child_that_may_be_lost, a_process_that_adopts_orphans, less_is_allowed_here,
          a_filter_of_the_container])
