"""What links carry of objects that replicas of a process get: counted in bytes, not in time."""
import json
import os

from jobs import *
from jobs import BUILD, HostPlace

OBJECTS = os.path.join(BUILD, "tests", "integ", "integ_objects")
HOSTS = 6
REPLICAS = 3
SIZE = 1 << 20
COUNT = 40


def owner(tag, hosts):
    """The host that owns the tag, as dataspace_owner has it."""
    digest = 0xcbf29ce484222325
    for byte in tag.encode():
        digest = (digest ^ byte) * 0x100000001b3 % 2**64
    digest ^= digest >> 32
    return digest * 0x9e3779b97f4a7c15 % 2**64 % hosts


def carried(place, name):
    """Bytes that the host has received and sent so far."""
    link = json.loads(place.farm.run(name, ["ip", "-j", "-s", "link", "show", "eth0"]).stdout)[0]["stats64"]
    return link["rx"]["bytes"], link["tx"]["bytes"]


def each_link_carries_an_object_once():
    """Process 0 is on the first, third and fifth host; the second has the tag."""
    tag = next(f"tag{i}" for i in range(1000) if owner(f"tag{i}", HOSTS) == 1)
    with HostPlace(hosts=HOSTS, here=True) as place:
        before = {name: carried(place, name) for name in place.job_hosts}
        job = place.start(BSPRUN, "-np", HOSTS // REPLICAS, "--replicas", REPLICAS, "--copies", 1, *place.host_options(),
                          OBJECTS, "reads", tag, SIZE, COUNT).wait(0)
        check(job.out() == b"%d reads\n" % COUNT, job)
        came, went = ({name: (carried(place, name)[i] - before[name][i]) / (SIZE * COUNT) for name in place.job_hosts}
                      for i in (0, 1))
        figures = f"{job}\nin objects, came: {came}\nwent: {went}"
        # Those of process 0 have got them, but for what the last ones had to come.
        check(all(came[name] > 0.8 for name in place.job_hosts[::2]), figures)
        check(all(share < 1.5 for share in went.values()), figures)


if __name__ == "__main__":
    farms.require()
    main([each_link_carries_an_object_once])
