"""A job on hosts without a common directory that loses more of them than there are copies of images:
what is said is true.

Images are on two hosts each.
"""
import shlex
import signal

from jobs import *

P, SUPERSTEPS, AT = 3, 400, 40


def two_of_three(here, then):
    """Process 1's image was on both hosts that are lost.  here: bsprun's host takes part."""
    with HostPlace(hosts=3, private=True, here=here) as place:
        for pid in range(P):
            place.hold(pid, AT)
        job = place.ticker(P, SUPERSTEPS, "-m", 1)
        for pid in range(P):
            place.wait_executed(pid, AT)
        place.wait_committed(AT)
        stays, *lost = place.job_hosts
        place.strike(*[lambda name=name: place.farm.kill_host(name) for name in lost])
        job.wait(1)
        said = job.said()
        for name in lost:
            check(f"host {name} was lost" in said, "host", name, job)
        check(f"of the snapshot of superstep {AT} the hosts lack the image of process 1" in said, job)
        check("end of the job" not in said and "was ending" not in said, "it was not ending", job)
        then(place, job, stays, *lost)
        check(not any(place.farm.processes(name) for name in place.farm.names
                      if place.farm.hosts[name].init and name != place.farm.names[0]),
              "something is left")


def names_images(place, job, stays, first, second):
    """What is lacking, where it was, and what would do; a restart on too few hosts says the same."""
    for text in (job.said(), place.restart(names=[stays]).wait(1).said()):
        check(re.search(rf"the image {AT}\.1/1\.img, of process 1, is neither in {place.store} nor on "
                        rf"a host that is in the job now; it was on host {first} and on {second}$",
                        text, re.M), text)
        check(re.search(rf"bsprun --restart {place.store} continues from superstep {AT} when one of "
                        r"these hosts is up and one of the hosts of the job \(--hosts\)$", text, re.M),
              text)


def names_hosts(place, job, *hosts):
    """This host has no part of it."""
    check(f"hosts that do not share {place.store} may have some of the snapshot of superstep {AT} in a {place.store} "
          f"of their own (or bspzero-store-{os.getuid()}-NUMBER of TMPDIR): {', '.join(hosts)}; if so, "
          f"bsprun --restart {place.store} on one of them" in job.said(), job)


def here():
    two_of_three(True, names_images)


@long
def elsewhere():
    two_of_three(False, names_hosts)


def remove_all(place):
    for name in snapshots(place.store):
        shutil.rmtree(directory(place, name))


def damage_all(place):
    for name in snapshots(place.store):
        for pid in range(2):
            if os.path.exists(image(place, name, pid)):
                flip(image(place, name, pid), -3)


def nothing_in_a_shared_directory():
    """Nothing is anywhere: that is said first, and no host is said to have it."""
    gone, bad = "job [0-9a-f]+ has no snapshot", rf"snapshot {AT}\.1 cannot be used"
    for here, spoil, pattern in ((True, remove_all, gone), (False, remove_all, gone), (True, damage_all, bad)):
        with HostPlace(hosts=2, here=here) as place:
            for pid in range(2):
                place.hold(pid, AT)
            job = place.ticker(2, SUPERSTEPS, options=("--every", "1", "--keep", "all"))
            ranks = [place.wait_executed(pid, AT) for pid in range(2)]
            place.wait_committed(AT)
            place.wait_copied((AT, 1))
            spoil(place)
            for name in place.job_hosts:
                kill_copies(job.agent(name))
            send(ranks[1], signal.SIGKILL)
            for pid in range(2):
                place.release(pid, AT)
            job.wait()
            check(job.status not in (0, 123), "status", job)
            where = re.escape(shlex.quote(place.store))
            wrong = re.search(rf"{pattern}.*; bspckpt verify {where} says", job.said())
            check(wrong, "what is wrong here is not said", job)
            check("is not on this host but on" not in job.said(), "nothing is on another host", job)
            hint = re.search(rf"hosts that do not share {where} may have ", job.said())
            check(hint and hint.start() > wrong.end(), "first what is sure", job)


def agent_at_the_start():
    """However far it has come: there is no snapshot, or the job goes on from it."""
    for private in (True, False):
        with HostPlace(hosts=3, private=private, here=True) as place:
            job = place.ticker(P, 20)
            send(job.agent(), signal.SIGKILL)
            job.wait()
            check(job.status == 0 or "before there was a snapshot to restart from" in job.said(), job)
            check("was ending" not in job.said(), job)
            check(job.status == 0 or "--restart" not in job.said(), "a command that cannot work", job)


if __name__ == "__main__":
    farms.require()
    main([here, elsewhere, nothing_in_a_shared_directory, agent_at_the_start], together=3)
