/* decided.c - see decided.h. */
#include "bsprun/agent/core/decided.h"

#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/barrier.h"

struct agent_decided {
    struct agent_decided *next; /* decided later */
    struct decided decided;
};

static void answer(struct agent *agent, const struct decided *decided)
{
    agent->let_out = decided->end;
    if (decided->holds)
        agent->held = decided->superstep + 1;
    agent_answer(agent, decided->superstep, decided->holds ? BSPZ_DECIDE_HOLD : BSPZ_DECIDE_GO,
                 decided->consult);
}

bool agent_decided_add(struct agent *agent, const struct decided *decided)
{
    struct agent_decided **last = &agent->decided, *entry;

    if (decided->superstep + 1 == agent->consulted) {
        answer(agent, decided);
        return true;
    }
    if (decided->superstep + 1 < agent->consulted)
        return true; /* came late: they have passed it, as another message said */
    while (*last)
        last = &(*last)->next;
    entry = malloc(sizeof *entry);
    if (!entry)
        return false;
    *entry = (struct agent_decided){NULL, *decided};
    *last = entry;
    return true;
}

bool agent_decided_resume(struct agent *agent, uint64_t superstep, uint64_t consult)
{
    struct decided decided = {.superstep = superstep, .consult = consult};

    if (agent->held != superstep + 1) {
        agent_decided_drop_held(agent);
        return agent_decided_add(agent, &decided);
    }
    agent->held = 0;
    agent_resume(agent, superstep, consult);
    return true;
}

void agent_decided_drop_held(struct agent *agent)
{
    struct agent_decided **at = &agent->decided;

    while (*at) {
        struct agent_decided *entry = *at;

        if (!entry->decided.holds) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        free(entry);
    }
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
    agent->held = 0;
    while (agent->decided) {
        struct agent_decided *first = agent->decided;

        agent->decided = first->next;
        free(first);
    }
}
