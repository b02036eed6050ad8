"""Hosts fail, one after the other, that a job of the dataspace outlives; hosts share no directory of snapshots, so the images come
from those that have copies.
"""
import os
import random
import re

from jobs import *
from jobs import BUILD, Failed, HostPlace

OBJECTS = os.path.join(BUILD, "tests", "integ", "integ_objects")
ROUNDS = 2500
P = 4


def expected(place):
    return sorted(place.start(BSPRUN, "-np", P, OBJECTS, "work", ROUNDS, 0).wait(0).out().splitlines())


def until(job, condition, what):
    try:
        wait_until(condition, what)
    except Failed as failure:
        raise Failed(f"{failure}\n{job}") from None


def hosts_fail():
    """Without a word: what they were is known when they have been silent for too long."""
    with HostPlace(hosts=4, private=True, here=True) as place:
        wanted = expected(place)
        job = place.start(BSPRUN, "-v", "-np", P, "--ckpt", place.store, "--every", "1s", "--rejoin", "off", *place.host_options(),
                          OBJECTS, "work", ROUNDS, 3000)
        wait_until(lambda: job.said().count("snapshot of superstep") >= 2, "a snapshot beside that of the beginning")
        for victim in random.sample(place.job_hosts[1:], 2):
            place.farm.kill_host(victim)
            until(job, lambda: f"host {victim} was lost" in job.said(), f"that {victim} is lost")
            before = job.said().count("snapshot of superstep")
            until(job, lambda: job.said().count("snapshot of superstep") > before, "the next snapshot")
        job.wait(0)
        check(job.said().count("restarted alone on host") >= 2, job)
        check("the job continues from superstep" not in job.said(), job)
        check(sorted(job.out().splitlines()) == wanted, job)


if __name__ == "__main__":
    farms.require()
    main([hosts_fail])
