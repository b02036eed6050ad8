"""A job begins on many hosts: how the image of process 0 comes to them, and how long it takes."""
import os
import re
import shlex
import shutil
import sys
import tempfile
import time

from farm import Loopback
from jobs import *

LOCAL_RSH = shlex.quote(os.path.join(farms.HERE, "local-rsh"))
MIB = 1 << 20
PATIENCE = 200  # seconds
MANY_SECONDS = 60  # by far: it takes two where nobody else computes
LARGE = 24  # MiB of process 0 that do not compress
PROGRAM = f"""
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned room[{LARGE} << 18];
int main(int argc, char **argv)
{{
    unsigned seed = 1, sum = 0, all = 0;
    size_t words = argc > 1 ? sizeof room / sizeof *room : 0;
    for (size_t i = 0; i < words; i++)
        room[i] = seed = seed * 1664525u + 1013904223u;
    bsp_begin(bsp_nprocs());
    for (size_t i = 0; i < words; i++)
        sum = sum * 31 + room[i];
    for (int pid = 0; pid < bsp_nprocs(); pid++)
        bsp_send(pid, NULL, &sum, sizeof sum);
    bsp_sync();
    for (int pid = 0; pid < bsp_nprocs(); pid++) {{
        bsp_move(&all, sizeof all);
        if (all != sum)
            bsp_abort("another memory than process 0");
    }}
    if (bsp_pid() == 0)
        printf("%d processes\\n", bsp_nprocs());
    bsp_end();
    return 0;
}}
"""


def compiled(farm):
    source, program = farm.write("begin.c", PROGRAM), farm.path("begin")
    done = farms.subprocess.run([os.path.join(BUILD, "bin/bspcc"), "-O2", "-o", program, source],
                                capture_output=True, text=True, check=False)
    check(done.returncode == 0, done)
    return program


def traffic(farm, name):
    done = farm.run(name, ["cat", "/proc/net/dev"])
    return int(re.search(r"eth0:\s*(?:\d+\s+){8}(\d+)", done.stdout)[1])


def begin(farm, program, *words, directory):
    """On all hosts; the temporary files of each are its own."""
    hosts = ",".join(f"{name}:1" for name in farm.names)
    done = farm.run(farm.names[0], [BSPRUN, "--hosts", hosts, "--launcher", farm.rsh, program, *words],
                    timeout=PATIENCE, env={"PATH": farms.SYSTEM_PATH, "HOME": farm.root_home,
                                           "TMPDIR": directory})
    check(done.returncode == 0 and done.stderr == "", done)
    check(done.stdout == f"{len(farm.names)} processes\n", done)


class OwnDirectories:
    """A farm, a program on it, and a directory that is each host's own."""

    def __init__(self, hosts):
        self.directory = tempfile.mkdtemp(prefix="bspzero-starting-")
        try:
            self.farm = Farm(hosts, private=[self.directory])
            self.program = compiled(self.farm)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if hasattr(self, "farm"):
            self.farm.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def the_image_goes_down_a_tree():
    """No host sends it to more than two others, and all have it."""
    hosts = 8
    with OwnDirectories(hosts) as place:
        farm = place.farm
        before = {name: traffic(farm, name) for name in farm.names}
        begin(farm, place.program, "large", directory=place.directory)
        out = {name: (traffic(farm, name) - before[name]) / MIB for name in farm.names}
        check(max(out.values()) < 2.5 * LARGE, out)
        check(sum(out.values()) > (hosts - 1) * LARGE, "it has not travelled", out)


def many_hosts():
    """64 agents are there in a few seconds.  (On the loopback: the kernel's table of neighbours has
    no room for so many hosts that all know each other.)"""
    with Loopback(64) as farm:
        program = compiled(farm)
        hosts = ",".join(f"h{number}:1" for number in range(64))
        start = time.monotonic()
        done = farm.run(farm.names[0], [BSPRUN, "--hosts", hosts, "--launcher", LOCAL_RSH, program],
                        timeout=PATIENCE)
        seconds = time.monotonic() - start
        check(done.returncode == 0 and done.stderr == "", done)
        check(done.stdout == "64 processes\n", done)
        check(seconds < MANY_SECONDS, "it took", seconds)


def few_descriptors():
    """bsprun and the agents need more than they have at first, and may have; the program has what bsprun had."""
    with Loopback(24) as farm:
        program = compiled(farm)
        hosts = ",".join(f"h{number}:1" for number in range(24))
        done = farm.run(farm.names[0], ["prlimit", "--nofile=48:1024", BSPRUN, "--hosts", hosts,
                                        "--launcher", LOCAL_RSH, "sh", "-c", f'[ "$(ulimit -n)" = 48 ] && exec {program}'],
                        timeout=PATIENCE)
        check(done.returncode == 0 and done.stdout == "24 processes\n", done)


if __name__ == "__main__":
    if "many_hosts" not in sys.argv[1:]:
        farms.require()
    main([the_image_goes_down_a_tree, many_hosts, few_descriptors])
