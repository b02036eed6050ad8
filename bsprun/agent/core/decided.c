/* decided.c - see decided.h. */
#include "bsprun/agent/core/decided.h"

#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/output_mark.h"

struct agent_decided {
    struct agent_decided *next; /* decided later */
    struct decided decided;
};

static void answer(struct agent *agent, const struct decided *decided)
{
    if (decided->snapshot)
        agent_mark_output(agent, decided->superstep + 1);
    agent->let_out = decided->end;
    agent_answer(agent, decided->superstep, BSPZ_DECIDE_GO, decided->consult);
}

static bool keep(struct agent *agent, const struct decided *decided)
{
    struct agent_decided **last = &agent->decided, *entry;

    while (*last)
        last = &(*last)->next;
    entry = malloc(sizeof *entry);
    if (!entry)
        return false;
    *entry = (struct agent_decided){NULL, *decided};
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
    agent->held_at = superstep + 1;
    return true;
}

bool agent_decided_holds(const struct agent *agent, uint64_t superstep)
{
    return agent->held_at > 0 && agent->held_at == superstep;
}

/* The barrier before the one at which they would be held; NULL: they have passed it. */
static struct decided *find_before(struct agent *agent)
{
    for (struct agent_decided *entry = agent->decided; entry; entry = entry->next)
        if (entry->decided.superstep + 1 == agent->held_at)
            return &entry->decided;
    return NULL;
}

/* It is known now which barrier is decided next.  That of bsp_end always is. */
static void let_on(struct agent *agent, uint64_t consult)
{
    const struct decided decided = {.superstep = agent->held_at, .consult = consult};
    bool waits = agent->consulted == decided.superstep + 1;
    struct decided *before = find_before(agent);

    agent->held_at = 0;
    if (waits && (consult == decided.superstep || agent->end_reported))
        agent->consulted--; /* the next scan reports them */
    else if (waits)
        answer(agent, &decided);
    else if (before)
        before->consult = consult;
    else
        atomic_store(&agent->board->consult_from, consult);
}

bool agent_decided_ask_again(struct agent *agent, uint64_t *superstep)
{
    struct agent_decided **link = &agent->decided;

    if (agent->held_at == 0)
        return false;
    *superstep = agent->held_at - 1;
    while (*link && (*link)->decided.superstep != *superstep)
        link = &(*link)->next;
    struct agent_decided *queued = *link;
    if (!queued)
        return true;
    *link = queued->next;
    free(queued);
    agent->held_at = 0;
    return false;
}

bool agent_decided_unasked(struct agent *agent, uint64_t superstep)
{
    const struct decided decided = {.superstep = superstep,
                                    .consult = atomic_load(&agent->board->consult_from)};

    if (!agent_has_replicas(agent) || agent->end_reported || superstep >= decided.consult)
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
    if (decided->superstep + 1 == agent->consulted) {
        answer(agent, decided);
        return true;
    }
    if (decided->superstep + 1 < agent->consulted)
        return true; /* came late: they have passed it, as another message said */
    return keep(agent, decided);
}

bool agent_decided_take(struct agent *agent, uint64_t superstep)
{
    struct agent_decided *first = agent->decided;

    if (!first || first->decided.superstep != superstep)
        return false;
    agent->decided = first->next;
    answer(agent, &first->decided);
    free(first);
    return true;
}

void agent_decided_forget(struct agent *agent)
{
    agent->held_at = 0;
    while (agent->decided) {
        struct agent_decided *first = agent->decided;

        agent->decided = first->next;
        free(first);
    }
}
