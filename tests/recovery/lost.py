"""However a job is lost: what is said is true, and the command that is named goes on."""
import signal

from harness import *

P, SUPERSTEPS, AT = 2, 20, 8


def start(place, *options):
    """A job whose processes stand in a superstep that is saved: it, and their numbers."""
    for pid in range(P):
        place.hold(pid, AT)
    job = place.ticker(P, SUPERSTEPS, options=["--every", "1", *options])
    ranks = [place.wait_executed(pid, AT) for pid in range(P)]
    place.wait_committed(AT)
    return job, ranks


def goes_on(place, job):
    """The command is executed as it was printed."""
    hint = re.search(r"^bsprun: bsprun (--restart \S+) continues from superstep (\d+)$", job.said(),
                     re.M)
    check(hint, "no command that goes on:", job)
    check((int(hint[2])) in [s for s, _ in snapshots(place.store)], "there is no such snapshot", job)
    for pid in range(P):
        if os.path.exists(place.path("files", f"hold.{pid}.{AT}")):
            place.release(pid, AT)
    again = place.start(BSPRUN, *hint[1].split())
    again.check_tail(Reference.of(P, SUPERSTEPS))
    place.check_files(Reference.of(P, SUPERSTEPS))


def way(options, act, status, *texts):
    """Lost in one way, after which there is a snapshot to go on from."""
    def test():
        with Place() as place:
            job, ranks = start(place, *options)
            act(place, job, ranks)
            job.wait(status)
            for text in texts:
                check(re.search(text, job.said(), re.M), "not said:", text, "\n", job)
            check("at the end of the job" not in job.said() and
                  "while the job was ending" not in job.said(), "it was not ending:", job)
            goes_on(place, job)
    return test


def interrupted_twice(place, job, ranks):
    job.signal(signal.SIGINT)
    job.signal(signal.SIGINT)


def agent_early():
    """Before bsp_begin there is nothing to go on from, and that is what is said."""
    with Place() as place:
        job = place.start(BSPRUN, "--ckpt", place.store, "-np", 2, "sleep", 30)
        wait_until(lambda: children_of(job.agent()), "the program")
        send(job.agent(), signal.SIGKILL)
        job.wait(137)
        check(re.search(r"node agent .* was killed by signal 9 .*, before there was a snapshot to restart from$", job.said(), re.M), job)
        check("--restart" not in job.said(), "a command that cannot work:", job)


def agent_again_and_again():
    """Whenever it has started something, until the job is given up."""
    with Place() as place:
        job, _ = start(place, "--max-restarts", "3")

        def ended():
            for agent in children_of(job.os_pid):
                if name_of(agent) == "bspnode" and children_of(agent):
                    send(agent, signal.SIGKILL)
            return job.process.poll() is not None
        wait_until(ended, "the end of the job")
        job.wait(137)
        check("no restarts are left (--max-restarts 3" in job.said(), job)
        goes_on(place, job)


def image_gone():
    """Of one host: the newest is damaged, the one before is what is named."""
    with Place() as place:
        job, ranks = start(place, "--max-restarts", "0", "--async", "off")
        newest = max(snapshots(place.store))
        job_name = jobs(place.store)[0]
        os.unlink(os.path.join(place.store, job_name, "%d.%d" % newest, "1.img"))
        place.kill(ranks[0])
        job.wait(137)
        check(f"continues from superstep {AT - 1}" in job.said(), job)
        goes_on(place, job)


WAYS = [
    ("rank_killed", way(["--max-restarts", "0"], lambda place, job, ranks: place.kill(ranks[1]), 137,
                        r"pid 1 was killed by signal 9 .*no restarts are left")),
    ("agent_killed", way(["--max-restarts", "0"], lambda place, job, ranks: place.kill(job.agent()),
                         137, r"the node agent .* was killed by signal 9 .*no restarts are left")),
    ("interrupted", way([], lambda place, job, ranks: job.signal(signal.SIGINT), 130)),
    ("interrupted_twice", way([], interrupted_twice, 130)),
    ("time_limit", way(["--timeout", "4"], lambda place, job, ranks: None, 124)),
    ("no_time_to_save", way(["--grace", "0"], lambda place, job, ranks: job.signal(signal.SIGTERM),
                            123)),
]

main([*WAYS, agent_early, agent_again_and_again, image_gone])
