/* cores.c - claiming processors; see cores.h. */
#include "bsprun/agent/core/cores.h"

#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CPUS_MAX 8192

/* Whether this thread may run on the processor. */
static bool may_use(const cpu_set_t *allowed, size_t bytes, unsigned cpu)
{
    return CPU_ISSET_S(cpu, bytes, allowed);
}

/* Lists usable processors, first one of every core, then the second ones, ...; returns their
 * number. */
static int list_cpus(int *cpus, int most)
{
    static cpu_set_t allowed[CPUS_MAX / CPU_SETSIZE];
    hwloc_topology_t topology;
    int used = 0;

    if (sched_getaffinity(0, sizeof allowed, allowed) != 0 || hwloc_topology_init(&topology) != 0)
        return 0;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(topology) == 0) {
        bool named = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
        hwloc_obj_type_t type = named ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
        int cores = hwloc_get_nbobjs_by_type(topology, type);
        bool found = true;

        for (int round = 0; found && used < most; round++) {
            found = false;
            for (int i = 0; i < cores && used < most; i++) {
                hwloc_obj_t core = hwloc_get_obj_by_type(topology, type, (unsigned)i);
                int cpu = core && core->cpuset ? hwloc_bitmap_first(core->cpuset) : -1;

                for (int skip = 0; skip < round && cpu >= 0; skip++)
                    cpu = hwloc_bitmap_next(core->cpuset, cpu);
                if (cpu < 0 || cpu >= CPUS_MAX)
                    continue;
                found = true;
                if (may_use(allowed, sizeof allowed, (unsigned)cpu))
                    cpus[used++] = cpu;
            }
        }
    }
    hwloc_topology_destroy(topology);
    return used;
}

/* Claims the processor: returns a socket, or -1 if another job has it. */
static int hold(int cpu)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "bspzero-core-%d", cpu);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int cores_claim(int wanted, struct cores_claim *claim)
{
    static int cpus[CPUS_MAX];
    int usable = list_cpus(cpus, CPUS_MAX);

    memset(claim, 0, sizeof *claim);
    if (wanted < 1 || wanted > usable)
        return 0;
    claim->cpus = calloc((size_t)wanted, sizeof *claim->cpus);
    claim->sockets = calloc((size_t)wanted, sizeof *claim->sockets);
    if (!claim->cpus || !claim->sockets) {
        cores_release(claim);
        return 0;
    }
    for (int i = 0; i < usable && claim->count < wanted; i++) {
        int fd = hold(cpus[i]);

        if (fd < 0)
            continue;
        claim->cpus[claim->count] = cpus[i];
        claim->sockets[claim->count++] = fd;
    }
    if (claim->count < wanted)
        cores_release(claim);
    return claim->count;
}

void cores_release(struct cores_claim *claim)
{
    for (int i = 0; i < claim->count; i++)
        close(claim->sockets[i]);
    free(claim->cpus);
    free(claim->sockets);
    memset(claim, 0, sizeof *claim);
}
