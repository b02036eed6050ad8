/* cores.c - claims processors and binds to them; see cores.h. */
#include "bsprun/agent/core/cores.h"

#include <errno.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bsprun/agent/core/affinity.h"

#define CPUS_MAX   8192
#define TEXT_CORES 400 /* of the objects that a rank is bound to */

/* ---- Claims ---- */

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

/* Claims these, and keeps no others; what another job has is added to `claimed`.  Whether all could
 * be claimed. */
static bool hold_these(struct cores_claim *claim, hwloc_const_bitmap_t these,
                       hwloc_bitmap_t claimed)
{
    bool all = true;

    for (int cpu = 0; cpu < claim->processors; cpu++) {
        int *fd = &claim->sockets[cpu];
        bool wanted = hwloc_bitmap_isset(these, (unsigned)cpu);

        if (wanted && *fd < 0 && (*fd = hold(cpu)) < 0) {
            hwloc_bitmap_set(claimed, (unsigned)cpu);
            all = false;
        } else if (!wanted && *fd >= 0) {
            close(*fd);
            *fd = -1;
        }
    }
    return all;
}

/* Each round either ends or finds a processor that another job has. */
static bool claim_sets(struct cores_claim *claim, struct affinity_request *request,
                       hwloc_bitmap_t claimed, hwloc_bitmap_t these)
{
    do {
        if (!affinity_choose(claim->topology, request, claim->sets))
            return false;
        hwloc_bitmap_zero(these);
        for (int rank = 0; rank < request->ranks; rank++)
            hwloc_bitmap_or(these, these, claim->sets[rank]);
    } while (!hold_these(claim, these, claimed));
    return true;
}

static void forget(struct cores_claim *claim)
{
    if (claim->topology)
        hwloc_topology_destroy(claim->topology);
    hwloc_bitmap_free(claim->seen);
    claim->topology = NULL;
    claim->seen = NULL;
}

static bool load(struct cores_claim *claim)
{
    if (hwloc_topology_init(&claim->topology) != 0) {
        claim->topology = NULL;
        return false;
    }
    hwloc_topology_set_io_types_filter(claim->topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    return hwloc_topology_load(claim->topology) == 0;
}

static bool read_allowed(const struct cores_claim *claim, hwloc_bitmap_t allowed)
{
    return claim->topology && hwloc_linux_get_tid_cpubind(claim->topology, 0, allowed) == 0;
}

/* Looks at the machine, which takes milliseconds, if it may be another one than before.  False:
 * there is nothing to be bound to. */
static bool look(struct cores_claim *claim, hwloc_bitmap_t allowed)
{
    bool known = claim->seen && read_allowed(claim, allowed) &&
                 hwloc_bitmap_isequal(claim->seen, allowed);

    if (!known) {
        forget(claim);
        if (load(claim) && read_allowed(claim, allowed))
            claim->seen = hwloc_bitmap_dup(allowed);
    }
    return claim->seen && hwloc_bitmap_last(allowed) >= 0;
}

/* False: no memory. */
static bool make_room(struct cores_claim *claim, int processors)
{
    claim->sockets = calloc((size_t)processors, sizeof *claim->sockets);
    if (!claim->sockets)
        return false;
    claim->processors = processors;
    for (int cpu = 0; cpu < processors; cpu++)
        claim->sockets[cpu] = -1;
    for (int rank = 0; rank < claim->count; rank++)
        if (!(claim->sets[rank] = hwloc_bitmap_alloc()))
            return false;
    return true;
}

int cores_claim(int wanted, enum wire_bind bind, enum wire_map map, struct cores_claim *claim)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc(), claimed = hwloc_bitmap_alloc(),
                   these = hwloc_bitmap_alloc();
    struct affinity_request request = {allowed, claimed, wanted, bind, map};

    cores_release(claim);
    if (wanted > 0)
        claim->sets = calloc((size_t)wanted, sizeof *claim->sets);
    claim->count = claim->sets ? wanted : 0;
    if (!claim->sets || !allowed || !claimed || !these || !look(claim, allowed) ||
        hwloc_bitmap_weight(allowed) < wanted ||
        !make_room(claim, hwloc_bitmap_last(allowed) + 1) ||
        !claim_sets(claim, &request, claimed, these))
        cores_release(claim);
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(claimed);
    hwloc_bitmap_free(these);
    return claim->count;
}

void cores_release(struct cores_claim *claim)
{
    for (int cpu = 0; cpu < claim->processors; cpu++)
        if (claim->sockets[cpu] >= 0)
            close(claim->sockets[cpu]);
    for (int rank = 0; rank < claim->count; rank++)
        hwloc_bitmap_free(claim->sets[rank]);
    free(claim->sockets);
    free(claim->sets);
    *claim = (struct cores_claim){.topology = claim->topology, .seen = claim->seen};
}

void cores_free(struct cores_claim *claim)
{
    cores_release(claim);
    forget(claim);
}

/* ---- Binding ---- */

int cores_bind(const struct cores_claim *claim, int rank, pid_t os_pid)
{
    return hwloc_linux_set_tid_cpubind(claim->topology, os_pid, claim->sets[rank]) == 0 ? 0
                                                                                        : -errno;
}

int cores_unbind(pid_t os_pid)
{
    cpu_set_t own[CPUS_MAX / CPU_SETSIZE];

    return sched_getaffinity(0, sizeof own, own) == 0 &&
                   sched_setaffinity(os_pid, sizeof own, own) == 0
               ? 0
               : -errno;
}

int cores_try(const struct cores_claim *claim)
{
    cpu_set_t own[CPUS_MAX / CPU_SETSIZE];
    int error;

    if (sched_getaffinity(0, sizeof own, own) != 0)
        return -errno;
    error = cores_bind(claim, 0, 0);
    if (!error && sched_setaffinity(0, sizeof own, own) != 0)
        error = -errno;
    return error;
}

int cores_first(const struct cores_claim *claim, int rank)
{
    return hwloc_bitmap_first(claim->sets[rank]);
}

void cores_describe(const struct cores_claim *claim, int rank, char *text, size_t size)
{
    char cores[TEXT_CORES], processors[TEXT_CORES];

    affinity_describe(claim->topology, claim->sets[rank], cores, sizeof cores);
    hwloc_bitmap_list_snprintf(processors, sizeof processors, claim->sets[rank]);
    snprintf(text, size, "%s, processor%s %s", cores,
             hwloc_bitmap_weight(claim->sets[rank]) == 1 ? "" : "s", processors);
}

void cores_allowed(char *text, size_t size)
{
    cpu_set_t own[CPUS_MAX / CPU_SETSIZE];
    hwloc_bitmap_t set = hwloc_bitmap_alloc();

    text[0] = '\0';
    if (set && sched_getaffinity(0, sizeof own, own) == 0) {
        for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
            if (CPU_ISSET_S(cpu, sizeof own, own))
                hwloc_bitmap_set(set, cpu);
        hwloc_bitmap_list_snprintf(text, size, set);
    }
    hwloc_bitmap_free(set);
}
