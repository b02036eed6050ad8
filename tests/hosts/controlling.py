"""bspctl at the wrong moment, from the wrong user, of hosts that cannot: one message, and the job goes on.
draining.py has what is asked wrongly at any time."""
import os
import subprocess

import draining
from draining import (BSPCTL, asked, control, is_undisturbed, places, reference, refused, running, said,
                      step_until_done)
from loopback import LoopbackPlace, check, main

STRANGER = 65534


def homes(place, job):
    return {rank["pid"]: rank["host"] for rank in draining.status(place, job)["ranks"]}


def a_process_that_is_moving():
    """It goes where it was sent last, in one move; whoever sent it elsewhere is told so at once."""
    with LoopbackPlace(3) as place:
        job = running(place)
        first = asked(place, job, "move", "3", "h2", "--wait")
        second = asked(place, job, "move", "3", "h0", "--wait")
        why = said(first, 1, job)
        check("process 3 is to move to host h0 now, by another bspctl\n" in why, why)
        third = asked(place, job, "move", "3", "h0", "--wait")  # the same again
        at = step_until_done(place, job, second, 3)
        said(third, 0, job)
        check(homes(place, job)[3] == "h0", places(place, job))
        check(job.said().count("(term ") == 2, "it has moved twice\n", job)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def two_at_once():
    """Both are done, at one barrier."""
    with LoopbackPlace(3) as place:
        job = running(place)
        ctls = [control(place, job, "--wait", "move", str(pid), "h2") for pid in (1, 3)]
        draining.wait_until(lambda: job.said().count("bspctl: ") == 2, "both requests")
        at = step_until_done(place, job, ctls[0], 3)
        said(ctls[1], 0, job)
        now = homes(place, job)
        check(now[1] == now[3] == "h2", now)
        check(job.said().count("(term ") == 2, "they have moved one after the other\n", job)
        place.release(0, at)
        is_undisturbed(place, job, reference())


def two_that_contradict():
    """To a host that is to be left nobody is moved; it may be added again before, and whoever waits for its
    emptiness is told so."""
    with LoopbackPlace(3) as place:
        job = running(place)
        away = asked(place, job, "drain", "h1", "--wait")
        check("gets no processes" in refused(place, job, "move", "0", "h1"), job)
        back = asked(place, job, "add", "h1", "--wait")
        why = said(away, 1, job)
        check("host h1 may have processes again, by another bspctl\n" in why, why)
        at = step_until_done(place, job, back, 3)
        check(places(place, job)["h1"] == ("up", 2), places(place, job))
        place.release(0, at)
        is_undisturbed(place, job, reference())


def all_are_placed_anew():
    """Who waits for a process that another request places is told so."""
    with LoopbackPlace(3) as place:
        job = running(place)
        begun = places(place, job)
        moved = asked(place, job, "move", "0", "h2", "--wait")
        anew = asked(place, job, "rebalance", "--wait")
        check("all processes are placed anew, by another bspctl\n" in said(moved, 1, job), job)
        at = step_until_done(place, job, anew, 3)
        check(places(place, job) == begun, "they were", begun, "and are", places(place, job))
        place.release(0, at)
        is_undisturbed(place, job, reference())


def a_new_host_of_another_version():
    with LoopbackPlace(2) as place:
        place.make_puppet("h7", "old-message@1")
        place.env["PUPPET_VERSION"] = "0.1.9"
        job = running(place)
        why = refused(place, job, "--wait", "add", "h7")
        check("continues without it" in why, why)
        check("its node agent is of version 0.1.9" in why + job.said(), why, job)
        check(places(place, job)["h7"] == ("lost", 0), places(place, job))
        place.release(0, 3)
        is_undisturbed(place, job, reference())


def jobs_of_others():
    """There is none, for them; nor may they look where it is."""
    if os.geteuid() != 0:
        return "needs root"
    with LoopbackPlace(2) as place:
        job = running(place)
        env = dict(os.environ, **place.env)
        for words in ((BSPCTL, str(job.os_pid), "drain", "h1"), (BSPCTL, str(job.os_pid), "save")):
            done = subprocess.run(words, env=env, user=STRANGER, group=STRANGER, extra_groups=[], capture_output=True,
                                  text=True, check=False, cwd="/")
            check(done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, done)
            check(done.stderr.startswith("bspctl: "), done)
        check(places(place, job) == {"h0": ("up", 2), "h1": ("up", 2)}, job)
        place.release(0, 3)
        is_undisturbed(place, job, reference())
    return None


if __name__ == "__main__":
    main([a_process_that_is_moving, two_at_once, two_that_contradict, all_are_placed_anew, a_new_host_of_another_version, jobs_of_others])
