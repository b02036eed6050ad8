/* losses.c - hosts that are lost; see inside.h and copies.h. */
#include "bsprun/dataspace/inside.h"

static void forget(struct dataspace *space, uint32_t host)
{
    space->others[host].lost = true;
    copying_forget(space, host);
    passing_forget(space, host);
    for (uint32_t seat = 0; seat < space->nprocs * space->most; seat++)
        if (space->processes[seat].home == host)
            guest_forget(space, &space->processes[seat]);
}

void losses_learn(struct dataspace *space)
{
    bool any = false;

    for (uint32_t i = 0; i < space->hosts; i++)
        if (copies_is_lost(space->copies, i) && !space->others[i].lost) {
            forget(space, i);
            any = true;
        }
    if (any) {
        chain_losses(space);
        copying_unchain(space);
    }
    if (any && space->replicas && !space->part_lost)
        behind_lost(space);
    for (uint32_t pid = 0; any && pid < space->nprocs && !space->part_lost; pid++) {
        const struct process *process = service_own(space, pid);

        if (process->home != space->host)
            continue;
        if (process->missing > 0)
            lives_ask_past(space, pid);
        else
            client_losses(space, pid);
    }
}

static void lose_host(struct dataspace *space, uint32_t host)
{
    if (host == space->host || host >= space->hosts || space->part_lost ||
        copies_is_lost(space->copies, host))
        return;
    copies_lost(space->copies, host);
    losses_learn(space);
}

void dataspace_lost(struct dataspace *space, uint32_t host)
{
    service_check(space);
    lose_host(space, host);
    service_check(space);
}
