"""What links carry of objects that replicas of a process get: counted in bytes, not in time."""
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
PACE = "200mbit"  # of each link: the replicas do not get on faster than that, and none falls behind


def carried(place, name):
    """Bytes that the host has received and sent so far."""
    link = json.loads(place.farm.run(name, ["ip", "-j", "-s", "link", "show", "eth0"]).stdout)[0]["stats64"]
    return link["rx"]["bytes"], link["tx"]["bytes"]


def each_link_carries_an_object_once():
    """Process 0 is on the first, third and fifth host; the second has the tag."""
    tag = tags.tag_of(1, HOSTS)
    with HostPlace(hosts=HOSTS, here=True) as place:
        for name in place.job_hosts:
            done = place.farm.run(name, ["tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", PACE,
                                         "burst", "128kb", "latency", "50ms"])
            check(done.returncode == 0, done.stderr)
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


if __name__ == "__main__":
    farms.require("tc")
    main([each_link_carries_an_object_once])
