/* roster.c - see roster.h. */
#include "bsprun/agent/core/roster.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/watch.h"
#include "lib/base/states.h"

struct agent_roster {
    int nprocs;
    struct member *members; /* nprocs entries, as of the next */
    uint32_t *homes;
    int here, first_here;
    int ready, ended; /* how many of those here have reached that state */
    struct watched root;
};

#define TO BSPZ_STATES_TO

static const struct bspz_states_row rows[MEMBER_STATE_COUNT] = {
    [MEMBER_UNKNOWN] = {"unknown", TO(MEMBER_KNOWN)},
    [MEMBER_KNOWN] = {"known", TO(MEMBER_REPORTED)},
    [MEMBER_REPORTED] = {"reported", 0},
};

static const struct bspz_states states = {"a process of the job", MEMBER_STATE_COUNT, rows};

int agent_roster_open(struct agent *agent)
{
    agent->roster = calloc(1, sizeof *agent->roster);
    if (!agent->roster)
        return -ENOMEM;
    agent->roster->root.pidfd = -1;
    return 0;
}

void agent_roster_free(struct agent *agent)
{
    free(agent->roster->members);
    free(agent->roster->homes);
    free(agent->roster);
    agent->roster = NULL;
}

int agent_roster_size(struct agent *agent, int nprocs)
{
    struct member *members = calloc((size_t)nprocs, sizeof *members);
    uint32_t *homes = calloc((size_t)nprocs, sizeof *homes);

    if (!members || !homes) {
        free(members);
        free(homes);
        return -ENOMEM;
    }
    for (int pid = 0; pid < nprocs; pid++)
        members[pid].process.pidfd = -1;
    agent->roster->members = members;
    agent->roster->homes = homes;
    agent->roster->nprocs = nprocs;
    return 0;
}

int agent_nprocs(const struct agent *agent)
{
    return agent->roster ? agent->roster->nprocs : 0; /* NULL: the agent could not begin */
}

int agent_here(const struct agent *agent)
{
    return agent->roster->here;
}

int agent_first_here(const struct agent *agent)
{
    return agent->roster->first_here;
}

uint32_t agent_home(const struct agent *agent, int pid)
{
    return agent->roster->homes[pid];
}

const uint32_t *agent_homes(const struct agent *agent)
{
    return agent->roster->homes;
}

bool agent_set_home(struct agent *agent, int pid, uint32_t home)
{
    bool moved = agent->roster->homes[pid] != home;

    agent->roster->homes[pid] = home;
    return moved;
}

void agent_count_here(struct agent *agent)
{
    struct agent_roster *roster = agent->roster;

    roster->here = 0;
    for (int pid = roster->nprocs - 1; pid >= 0; pid--)
        if (roster->homes[pid] == agent_host(agent)) {
            roster->first_here = pid;
            roster->here++;
        }
}

const struct member *agent_member(const struct agent *agent, int pid)
{
    return &agent->roster->members[pid];
}

struct watched *agent_process(const struct agent *agent, int pid)
{
    return &agent->roster->members[pid].process;
}

struct watched *agent_root(const struct agent *agent)
{
    return &agent->roster->root;
}

void agent_member_anew(struct agent *agent, int pid, enum bspz_rank_state seen)
{
    agent->roster->members[pid] = (struct member){.process.pidfd = -1, .seen = seen};
}

void agent_member_move(struct agent *agent, int pid, enum member_state to)
{
    enum member_state *state = &agent->roster->members[pid].state;

    *state = (enum member_state)bspz_states_move(&states, *state, to);
}

void agent_member_seen(struct agent *agent, int pid, enum bspz_rank_state seen)
{
    agent->roster->members[pid].seen = seen;
}

bool agent_count_ready(struct agent *agent)
{
    return ++agent->roster->ready == agent->roster->here;
}

bool agent_count_ended(struct agent *agent)
{
    return ++agent->roster->ended == agent->roster->here;
}

void agent_roster_clear(struct agent *agent)
{
    struct agent_roster *roster = agent->roster;

    for (int pid = 0; pid < roster->nprocs; pid++)
        agent_member_anew(agent, pid, BSPZ_RANK_EMPTY);
    roster->root = (struct watched){.pidfd = -1};
    roster->ready = roster->ended = 0;
}

void agent_member_received(struct agent *agent, int pid)
{
    agent->roster->members[pid] = (struct member){.process.pidfd = -1};
    agent->roster->here++;
}
