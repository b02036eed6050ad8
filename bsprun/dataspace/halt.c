/* halt.c - processes with replicas stop where each replica can be saved; see inside.h.
 *
 * What has taken effect of a process is what its foremost replica has made, and the objects are
 * those of the foremost replicas of all.  So no replica begins anything new, until it is known what
 * the last request of each process is that has taken effect, or will, as it was sent; the replicas
 * behind it make the requests up to that one, and get the answers that were given; all stop before
 * the next one.  Request by request that is one of the states in which the job might have been.
 *
 * Only what waits for an object may never take effect: it is withdrawn, and made again.
 */
#include "bsprun/dataspace/inside.h"

static bool is_here(const struct dataspace *space, uint32_t pid)
{
    return service_own(space, pid)->home == space->host;
}

void dataspace_halt(struct dataspace *space)
{
    space->halt = HALT_ASKED;
    for (uint32_t pid = 0; pid < space->nprocs; pid++)
        space->limits[pid] = 0;
    for (uint32_t pid = 0; pid < space->nprocs; pid++)
        if (is_here(space, pid))
            dataspace_withdraw(space, pid);
}

bool dataspace_halted(const struct dataspace *space)
{
    for (uint32_t pid = 0; pid < space->nprocs; pid++)
        if (is_here(space, pid) && service_own(space, pid)->client == CLIENT_WITHDRAWN)
            return false;
    return true;
}

uint64_t dataspace_reached(const struct dataspace *space, uint32_t pid)
{
    const struct process *process = service_own(space, pid);
    uint64_t reached = copies_newest(space->copies, pid);
    bool made =
        is_here(space, pid) && process->client != CLIENT_IDLE && process->client != CLIENT_HELD;
    uint64_t own = made ? process->request.number : process->answered;

    return own > reached ? own : reached;
}

static void look_again(struct dataspace *space, uint32_t pid)
{
    if (!is_here(space, pid) || service_own(space, pid)->client != CLIENT_HELD)
        return;
    if (halt_holds(space, pid))
        halt_withdraw(space, pid);
    else
        client_begin(space, pid);
}

void dataspace_halt_at(struct dataspace *space, const uint64_t *requests)
{
    space->halt = HALT_KNOWN;
    for (uint32_t pid = 0; pid < space->nprocs; pid++)
        space->limits[pid] = requests[pid];
    for (uint32_t pid = 0; pid < space->nprocs && !space->part_lost; pid++)
        look_again(space, pid);
}

void dataspace_halt_over(struct dataspace *space)
{
    space->halt = HALT_NONE;
    for (uint32_t pid = 0; pid < space->nprocs && !space->part_lost; pid++)
        look_again(space, pid);
}
