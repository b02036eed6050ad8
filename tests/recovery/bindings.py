"""What processes are bound to after they rolled back to a snapshot, by frozen copy and by image, and after a
restart where bsprun binds to something else: it is bsprun's choice and no part of the snapshot."""
from attributes import Lives
from harness import *

MINE = sorted(os.sched_getaffinity(0))[:2]
A, B = map(str, MINE if len(MINE) == 2 else (0, 0))
BOTH = f"{A}-{B}" if int(B) == int(A) + 1 else f"{A},{B}"
TWO_CORES = f"core:2 pu:1(indexes={A},{B})"
ONE_CORE = f"core:1 pu:2(indexes={A},{B})"


def alone():
    """A prefix for a command that sees no claims of other jobs, as these belong to a network; None where
    that is forbidden."""
    for prefix in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return prefix
    return None


ALONE = alone()


def skip_unless_possible():
    if len(MINE) < 2 or not ALONE:
        print("two processors and a network of one's own are needed")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)


def on(topology):
    """A prefix for a job that has the first two processors, as two cores or one."""
    return [*ALONE, "env", f"HWLOC_SYNTHETIC={topology}", "taskset", "-c", f"{A},{B}"]


def list_of(os_pid):
    """The processors on which the kernel lets it run."""
    with open(f"/proc/{os_pid}/status", encoding="utf-8") as file:
        return re.search(r"^Cpus_allowed_list:\s*(\S+)$", file.read(), re.M)[1]


def have(lives, superstep, times, expected):
    lists = [list_of(os_pid) for os_pid in lives.wait(superstep, times)]
    check(lists == expected, lists, "instead of", expected, lives.job)


def kept_in_rollbacks():
    for topology, bind, expected in ((TWO_CORES, "core", [A, B]), (ONE_CORE, "core", [BOTH, BOTH]),
                                     (ONE_CORE, "hwthread", [A, B])):
        with Place() as place:
            lives = Lives(place, (3, 5), before=on(topology), options=("--bind-to", bind, "--report-bindings"))
            for superstep, victim in ((3, 0), (5, 1)):
                have(lives, superstep, 1, expected)
                place.kill(lives.wait(superstep)[victim])
                have(lives, superstep, 2, expected)
                lives.let_go(superstep)
            lives.check()
            check(lives.job.said().count(" is bound to ") == 2, "said once for each", lives.job)


def those_of_where_it_goes_on():
    with Place() as place:
        lives = Lives(place, (3, 5, 7), before=on(TWO_CORES), options=("--bind-to", "core"))
        have(lives, 3, 1, [A, B])
        lives.restart(3, before=on(ONE_CORE))
        have(lives, 5, 1, [BOTH, BOTH])
        lives.restart(5, before=on(TWO_CORES))
        have(lives, 7, 1, [A, B])
        lives.let_go(7)
        lives.check()


def a_choice_of_the_program():
    """Which comes before bsprun's, also where it is restored."""
    with Place() as place:
        lives = Lives(place, (3,), "pin", before=on(TWO_CORES), options=("--bind-to", "socket"))
        have(lives, 3, 1, [B, B])
        place.kill(lives.wait(3)[0])
        have(lives, 3, 2, [B, B])
        lives.restart(3, before=on(ONE_CORE))
        lives.check("processors 1")


if __name__ == "__main__":
    skip_unless_possible()
    main([kept_in_rollbacks, those_of_where_it_goes_on, a_choice_of_the_program])
