/* members.c - see members.h. */
#include "bsprun/agent/core/members.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/binding.h"
#include "bsprun/agent/core/cells.h"
#include "lib/base/states.h"

#define DESCRIPTORS_SPARE 128u /* for all but the ranks */

#define TO                BSPZ_STATES_TO

static const struct bspz_states_row rows[MEMBER_STATE_COUNT] = {
    [MEMBER_UNKNOWN] = {"unknown", TO(MEMBER_KNOWN)},
    [MEMBER_KNOWN] = {"known", TO(MEMBER_REPORTED)},
    [MEMBER_REPORTED] = {"reported", 0},
};

static const struct bspz_states states = {"a process of the job", MEMBER_STATE_COUNT, rows};

void agent_member_move(struct agent *agent, int pid, enum member_state to)
{
    enum member_state *state = &agent->members[pid].state;

    *state = (enum member_state)bspz_states_move(&states, *state, to);
}

bool agent_is_here(const struct agent *agent, int pid)
{
    return agent->home[pid] == agent->host;
}

/* Raises the limit of descriptors: a pidfd for every rank, its copies and its writer, and a claim
 * on every core. */
static void allow_descriptors(const struct agent *agent)
{
    rlim_t each = agent_has_snapshots(agent) ? 4 : 1;
    rlim_t needed = each * (rlim_t)agent->here + (rlim_t)agent->order.cores + DESCRIPTORS_SPARE;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Writes the hosts of ranks to the board, for ranks and for mirroring. */
void agent_write_homes(struct agent *agent)
{
    struct bspz_board *board = agent->board;

    board->host = (int32_t)agent->host;
    board->first_here = agent->first_here;
    board->here = agent->here;
    if (agent->here < agent->nprocs || agent_has_replicas(agent))
        board->flags |= BSPZ_BOARD_HOSTS;
    else
        board->flags &= ~BSPZ_BOARD_HOSTS;
    if (agent_has_peers(agent))
        board->flags |= BSPZ_BOARD_LABELS;
    for (int pid = 0; pid < agent->nprocs; pid++)
        atomic_store(&bspz_rank_of(board, pid)->host, agent->home[pid]);
}

void agent_settle(struct agent *agent, const struct wire_numbers *host_of)
{
    bool moved = agent->here == 0;

    for (int pid = 0; pid < agent->nprocs; pid++) {
        uint32_t home =
            host_of ? agent_cells_home(agent, (uint32_t)host_of->items[pid]) : agent->host;

        moved = moved || agent->home[pid] != home;
        agent->home[pid] = home;
    }
    agent->here = 0;
    for (int pid = agent->nprocs - 1; pid >= 0; pid--)
        if (agent_is_here(agent, pid)) {
            agent->first_here = pid;
            agent->here++;
        }
    agent_write_homes(agent);
    if (!moved)
        return;
    allow_descriptors(agent);
    agent_binding_plan(agent);
}

int agent_members_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of)
{
    struct member *members = calloc((size_t)nprocs, sizeof *members);
    uint32_t *home = calloc((size_t)nprocs, sizeof *home);
    struct bspz_board *board =
        members && home ? bspz_board_map_agent(agent->board_fd, nprocs) : NULL;
    int error;

    if (!board) {
        error = members && home ? -errno : -ENOMEM;
        free(members);
        free(home);
        return error;
    }
    for (int pid = 0; pid < nprocs; pid++)
        members[pid].process.pidfd = -1;
    agent->members = members;
    agent->home = home;
    agent->board = board;
    agent->nprocs = nprocs;
    agent_settle(agent, host_of);
    atomic_store(&board->nprocs, nprocs);
    return 0;
}

bool agent_everything_gone(const struct agent *agent)
{
    if (agent->root.state == WATCH_LIVES)
        return false;
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent->members[pid].process.state == WATCH_LIVES)
            return false;
    return true;
}

void agent_member_is(struct agent *agent, int pid)
{
    struct bspz_rank *rank = bspz_rank_of(agent->board, pid);

    agent_member_move(agent, pid, MEMBER_KNOWN);
    agent_binding_apply(agent, pid);
    atomic_store(&rank->ospid, agent->members[pid].process.ospid);
    bspz_word_set(&rank->state, BSPZ_RANK_HELD);
}

void agent_kill_members(struct agent *agent, bool (*spare)(const void *agent, pid_t ospid))
{
    for (int pid = 0; pid < agent->nprocs; pid++) {
        const struct watched *process = &agent->members[pid].process;

        if (process->state != WATCH_LIVES || (spare && spare(agent, process->ospid)))
            continue;
        if (pid > 0 && getpgid(process->ospid) == process->ospid)
            kill(-process->ospid, SIGKILL);
        process_signal(process->pidfd, SIGKILL);
    }
}
