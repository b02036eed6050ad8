/* members.c - see members.h. */
#include "bsprun/agent/core/members.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/binding.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/process.h"
#include "lib/shm/board.h"

#define DESCRIPTORS_SPARE 128u /* for all but the ranks */

bool agent_is_here(const struct agent *agent, int pid)
{
    return agent_home(agent, pid) == agent_host(agent);
}

/* A pidfd for every rank, its copies and its writer, and a claim on every core. */
static void allow_descriptors(const struct agent *agent)
{
    uint64_t each = agent_has_snapshots(agent) ? 4 : 1;

    process_allow_descriptors(each * (uint64_t)agent_here(agent) +
                              (uint64_t)agent_order(agent)->cores + DESCRIPTORS_SPARE);
}

/* Writes the hosts of ranks to the board, for ranks and for mirroring. */
void agent_write_homes(struct agent *agent)
{
    struct bspz_board *board = agent_board(agent);

    board->host = (int32_t)agent_host(agent);
    board->first_here = agent_first_here(agent);
    board->here = agent_here(agent);
    if (agent_here(agent) < agent_nprocs(agent) || agent_has_replicas(agent))
        board->flags |= BSPZ_BOARD_HOSTS;
    else
        board->flags &= ~BSPZ_BOARD_HOSTS;
    if (agent_has_peers(agent))
        board->flags |= BSPZ_BOARD_LABELS;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        atomic_store(&bspz_rank_of(board, pid)->host, agent_home(agent, pid));
}

void agent_settle(struct agent *agent, const struct wire_numbers *host_of)
{
    bool moved = agent_here(agent) == 0;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        uint32_t home =
            host_of ? agent_cells_home(agent, (uint32_t)host_of->items[pid]) : agent_host(agent);

        moved = agent_set_home(agent, pid, home) || moved;
    }
    agent_count_here(agent);
    agent_write_homes(agent);
    if (!moved)
        return;
    allow_descriptors(agent);
    agent_binding_plan(agent);
}

int agent_members_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of)
{
    int error = agent_map_slots(agent, nprocs);

    if (!error)
        error = agent_roster_size(agent, nprocs);
    if (error)
        return error;
    agent_settle(agent, host_of);
    atomic_store(&agent_board(agent)->nprocs, nprocs);
    return 0;
}

bool agent_everything_gone(const struct agent *agent)
{
    if (agent_root(agent)->state == WATCH_LIVES)
        return false;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_process(agent, pid)->state == WATCH_LIVES)
            return false;
    return true;
}

void agent_member_is(struct agent *agent, int pid)
{
    struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);

    agent_member_move(agent, pid, MEMBER_KNOWN);
    agent_binding_apply(agent, pid);
    atomic_store(&rank->ospid, agent_process(agent, pid)->ospid);
    bspz_word_set(&rank->state, BSPZ_RANK_HELD);
}

void agent_kill_members(struct agent *agent, bool (*spare)(const void *agent, pid_t ospid))
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct watched *process = agent_process(agent, pid);

        if (process->state != WATCH_LIVES || (spare && spare(agent, process->ospid)))
            continue;
        if (pid > 0 && getpgid(process->ospid) == process->ospid)
            kill(-process->ospid, SIGKILL);
        process_signal(process->pidfd, SIGKILL);
    }
}
