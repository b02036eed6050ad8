/* decided.c - see decided.h. */
#include "bsprun/agent/core/decided.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/output_mark.h"

struct early {
    struct early *next; /* decided later */
    struct decided decided;
};

struct agent_decided {
    uint64_t consulted; /* newest consultation passed on */
    bool end_reported;  /* ... and it was the barrier of bsp_end */
    bool let_out;       /* ... and Processor Zero has answered it */
    bool measures;      /* with the next one Processor Zero wants measurements */
    uint64_t held_at;   /* the barrier at which processes wait until RESUME says whether it is to be
                           decided; 0: none */
    struct early *first; /* barriers that processes here have not come to yet */
};

int agent_decided_open(struct agent *agent)
{
    agent->decided = calloc(1, sizeof *agent->decided);
    return agent->decided ? 0 : -ENOMEM;
}

void agent_decided_free(struct agent *agent)
{
    agent_decided_forget(agent);
    free(agent->decided);
    agent->decided = NULL;
}

uint64_t agent_decided_consulted(const struct agent *agent)
{
    return agent->decided->consulted;
}

void agent_decided_consult(struct agent *agent, uint64_t consulted, bool end)
{
    agent->decided->consulted = consulted;
    agent->decided->end_reported = end;
}

bool agent_decided_end_reported(const struct agent *agent)
{
    return agent->decided->end_reported;
}

void agent_decided_let_out(struct agent *agent, bool end)
{
    agent->decided->let_out = end;
}

bool agent_decided_lets_out(const struct agent *agent)
{
    return agent->decided->let_out;
}

void agent_decided_measure(struct agent *agent, bool measures)
{
    agent->decided->measures = measures;
}

bool agent_decided_measures(const struct agent *agent)
{
    return agent->decided->measures;
}

static void answer(struct agent *agent, const struct decided *decided)
{
    if (decided->snapshot)
        agent_mark_output(agent, decided->superstep + 1);
    agent->decided->let_out = decided->end;
    agent_answer(agent, decided->superstep, BSPZ_DECIDE_GO, decided->consult);
}

static bool keep(struct agent *agent, const struct decided *decided)
{
    struct early **last = &agent->decided->first, *entry;

    while (*last)
        last = &(*last)->next;
    entry = malloc(sizeof *entry);
    if (!entry)
        return false;
    *entry = (struct early){NULL, *decided};
    *last = entry;
    return true;
}

/* ---- Past a snapshot of others ---- */

bool agent_decided_go_ahead(struct agent *agent, uint64_t superstep)
{
    const struct decided decided = {
        .superstep = superstep, .consult = superstep + 1, .snapshot = true};

    if (!agent_decided_add(agent, &decided))
        return false;
    agent->decided->held_at = superstep + 1;
    return true;
}

bool agent_decided_holds(const struct agent *agent, uint64_t superstep)
{
    return agent->decided->held_at > 0 && agent->decided->held_at == superstep;
}

/* The barrier before the one at which they would be held; NULL: they have passed it. */
static struct decided *find_before(struct agent *agent)
{
    for (struct early *entry = agent->decided->first; entry; entry = entry->next)
        if (entry->decided.superstep + 1 == agent->decided->held_at)
            return &entry->decided;
    return NULL;
}

/* It is known now which barrier is decided next.  That of bsp_end always is. */
static void let_on(struct agent *agent, uint64_t consult)
{
    const struct decided decided = {.superstep = agent->decided->held_at, .consult = consult};
    bool waits = agent->decided->consulted == decided.superstep + 1;
    struct decided *before = find_before(agent);

    agent->decided->held_at = 0;
    if (waits && (consult == decided.superstep || agent->decided->end_reported))
        agent->decided->consulted--; /* the next scan reports them */
    else if (waits)
        answer(agent, &decided);
    else if (before)
        before->consult = consult;
    else
        atomic_store(&agent_board(agent)->consult_from, consult);
}

bool agent_decided_ask_again(struct agent *agent, uint64_t *superstep)
{
    struct early **link = &agent->decided->first;

    if (agent->decided->held_at == 0)
        return false;
    *superstep = agent->decided->held_at - 1;
    while (*link && (*link)->decided.superstep != *superstep)
        link = &(*link)->next;
    struct early *queued = *link;
    if (!queued)
        return true;
    *link = queued->next;
    free(queued);
    agent->decided->held_at = 0;
    return false;
}

bool agent_decided_unasked(struct agent *agent, uint64_t superstep)
{
    const struct decided decided = {.superstep = superstep,
                                    .consult = atomic_load(&agent_board(agent)->consult_from)};

    if (!agent_has_replicas(agent) || agent->decided->end_reported || superstep >= decided.consult)
        return false;
    answer(agent, &decided);
    return true;
}

/* ---- What was decided ---- */

bool agent_decided_add(struct agent *agent, const struct decided *decided)
{
    if (agent_decided_holds(agent, decided->superstep + 1)) {
        let_on(agent, decided->consult);
        return true;
    }
    if (decided->superstep + 1 == agent->decided->consulted) {
        answer(agent, decided);
        return true;
    }
    if (decided->superstep + 1 < agent->decided->consulted)
        return true; /* came late: they have passed it, as another message said */
    return keep(agent, decided);
}

bool agent_decided_take(struct agent *agent, uint64_t superstep)
{
    struct early *first = agent->decided->first;

    if (!first || first->decided.superstep != superstep)
        return false;
    agent->decided->first = first->next;
    answer(agent, &first->decided);
    free(first);
    return true;
}

void agent_decided_forget(struct agent *agent)
{
    agent->decided->consulted = agent->decided->held_at = 0;
    agent->decided->end_reported = agent->decided->let_out = false;
    while (agent->decided->first) {
        struct early *first = agent->decided->first;

        agent->decided->first = first->next;
        free(first);
    }
}
