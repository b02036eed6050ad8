/* dataspace_alone.c - the dataspace of processes that are restarted alone, here or from a host that
 * is lost; see dataspace_inside.h. */
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/dataspace_inside.h"
#include "bsprun/agent/replica_objects.h"
#include "bsprun/dataspace/service.h"
#include "lib/shm/board.h"

void agent_dataspace_restarted(struct agent *agent, int pid)
{
    struct bspz_request *request = &bspz_rank_of(agent_board(agent), pid)->request;

    objects_lock(agent);
    /* What it has just posted may not have been handled. */
    if (objects_space(agent))
        dataspace_restarted(objects_space(agent), (uint32_t)pid);
    if (request->behind < request->number)
        request->behind = request->number;
    atomic_store(&request->state, BSPZ_REQUEST_NONE);
    objects_unlock(agent);
}

void agent_dataspace_cut(struct agent *agent, int pid, uint64_t number)
{
    if (!objects_space(agent))
        return;
    objects_lock(agent);
    dataspace_cut(objects_space(agent), (uint32_t)pid, number);
    objects_unlock(agent);
}

bool agent_dataspace_is_burdened(struct agent *agent)
{
    uint32_t pid;
    bool burdened;

    if (!objects_space(agent))
        return false;
    objects_lock(agent);
    burdened = dataspace_burdened(objects_space(agent), objects_log_most(agent), &pid);
    objects_unlock(agent);
    return burdened;
}

struct choice {
    const struct agent *agent;
    bool (*may)(const struct agent *agent, int pid);
};

static bool may_be(void *context, uint32_t pid)
{
    const struct choice *choice = context;

    return choice->may(choice->agent, (int)pid);
}

int agent_dataspace_burden(struct agent *agent, bool (*may)(const struct agent *agent, int pid))
{
    struct choice choice = {agent, may};
    uint32_t pid;

    if (!objects_space(agent))
        return -1;
    objects_lock(agent);
    pid = dataspace_burden(objects_space(agent), objects_log_most(agent), may_be, &choice);
    objects_unlock(agent);
    return pid < (uint32_t)agent_nprocs(agent) ? (int)pid : -1;
}

bool agent_dataspace_bears_loss(struct agent *agent)
{
    bool bears;

    if (!agent_has_peers(agent) || agent_objects_copies(agent) < 2)
        return false;
    objects_lock(agent);
    bears = !objects_space(agent) || dataspace_bears_loss(objects_space(agent));
    objects_unlock(agent);
    return bears;
}

void agent_dataspace_moved(struct agent *agent, int pid, uint32_t host)
{
    struct bspz_request *request = &bspz_rank_of(agent_board(agent), pid)->request;

    if (!objects_space(agent))
        return; /* there was no memory for it */
    objects_lock(agent);
    if (host == agent_host(agent)) {
        request->finished = request->number = 0;
        request->behind = UINT64_MAX; /* until on_past */
        atomic_store(&request->state, BSPZ_REQUEST_NONE);
    }
    dataspace_moved(objects_space(agent), (uint32_t)pid, host);
    objects_unlock(agent);
}
