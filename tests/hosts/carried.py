"""What links carry of objects that replicas of a process get, and that are backed: counted in bytes, not in time."""
import json
import os

import tags
from jobs import *
from jobs import BUILD, HostPlace

OBJECTS = os.path.join(BUILD, "tests", "integ", "integ_objects")
HOSTS = 6
REPLICAS = 3
SIZE = 1 << 20
COUNT = 40


def carried(place, name):
    """Bytes that the host has received and sent so far."""
    link = json.loads(place.farm.run(name, ["ip", "-j", "-s", "link", "show", "eth0"]).stdout)[0]["stats64"]
    return link["rx"]["bytes"], link["tx"]["bytes"]


def slowed(place):
    """Replicas do not get on faster than links, so that none falls behind."""
    for name in place.job_hosts:
        done = place.farm.run(name, ["tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "200mbit",
                                     "burst", "128kb", "latency", "50ms"])
        check(done.returncode == 0, done.stderr)


def each_link_carries_an_object_once():
    """Process 0 is on the first, third and fifth host; the second has the tag."""
    tag = tags.tag_of(1, HOSTS)
    with HostPlace(hosts=HOSTS, here=True) as place:
        slowed(place)
        before = {name: carried(place, name) for name in place.job_hosts}
        job = place.start(BSPRUN, "-np", HOSTS // REPLICAS, "--replicas", REPLICAS, "--copies", 1, *place.host_options(),
                          OBJECTS, "reads", tag, SIZE, COUNT).wait(0)
        check(job.out() == b"%d reads\n" % COUNT, job)
        came, went = ({name: (carried(place, name)[i] - before[name][i]) / (SIZE * COUNT) for name in place.job_hosts}
                      for i in (0, 1))
        figures = f"{job}\nin objects, came: {came}\nwent: {went}"
        # The first one ends the job: those of process 0 have got them, but for what the others had to come.
        check(sum(came[name] for name in place.job_hosts[::2]) > 2, figures)
        check(all(share < 1.5 for share in went.values()), figures)


def each_link_carries_what_is_put_once():
    """The second host has the tag, and those behind it copies."""
    with HostPlace(hosts=HOSTS, here=True) as place:
        before = {name: carried(place, name) for name in place.job_hosts}
        job = place.start(BSPRUN, "-np", HOSTS, "--ckpt", place.path("store"), "--every", "1000s", "--copies", 4,
                          *place.host_options(), OBJECTS, "puts", tags.tag_of(1, HOSTS), SIZE, COUNT).wait(0)
        went = {name: (carried(place, name)[1] - before[name][1]) / (SIZE * COUNT) for name in place.job_hosts}
        figures = f"{job}\nin objects, went: {went}"
        check(all(went[name] > 0.9 for name in place.job_hosts[:4]), figures)
        check(all(share < 1.5 for share in went.values()), figures)


if __name__ == "__main__":
    farms.require("tc")
    main([each_link_carries_an_object_once, each_link_carries_what_is_put_once])
