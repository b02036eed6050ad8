/* decided.c - see decided.h. */
#include "bsprun/agent/core/decided.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/output_mark.h"

struct agent_decided {
    struct gate *gate;
    bool let_out;  /* Processor Zero has answered the newest consultation, of the barrier of bsp_end
                    */
    bool measures; /* with the next one Processor Zero wants measurements */
};

static void on_answer(void *context, const struct decided *decided)
{
    struct agent *agent = context;

    if (decided->snapshot)
        agent_mark_output(agent, decided->superstep + 1);
    agent->decided->let_out = decided->end;
    agent_answer(agent, decided->superstep, BSPZ_DECIDE_GO, decided->consult);
}

static void on_consult(void *context, uint64_t from)
{
    const struct agent *agent = context;

    atomic_store(&agent_board(agent)->consult_from, from);
}

static uint64_t on_consults(void *context)
{
    const struct agent *agent = context;

    return atomic_load(&agent_board(agent)->consult_from);
}

int agent_decided_open(struct agent *agent)
{
    static const struct gate_calls calls = {
        .answer = on_answer, .consult = on_consult, .consults = on_consults};

    agent->decided = calloc(1, sizeof *agent->decided);
    if (!agent->decided)
        return -ENOMEM;
    agent->decided->gate = gate_open(&calls, agent);
    return agent->decided->gate ? 0 : -ENOMEM;
}

void agent_decided_free(struct agent *agent)
{
    gate_close(agent->decided->gate);
    free(agent->decided);
    agent->decided = NULL;
}

uint64_t agent_decided_consulted(const struct agent *agent)
{
    return gate_consulted(agent->decided->gate);
}

void agent_decided_consult(struct agent *agent, uint64_t consulted, enum wire_barrier barrier)
{
    gate_consult(agent->decided->gate, consulted, barrier);
}

bool agent_decided_end_reported(const struct agent *agent)
{
    return gate_end_reported(agent->decided->gate);
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

/* ---- Barriers ---- */

bool agent_decided_go_ahead(struct agent *agent, uint64_t superstep)
{
    return gate_go_ahead(agent->decided->gate, superstep);
}

bool agent_decided_holds(const struct agent *agent, uint64_t superstep)
{
    return gate_holds(agent->decided->gate, superstep);
}

bool agent_decided_ask_again(struct agent *agent, uint64_t *superstep)
{
    return gate_ask_again(agent->decided->gate, superstep);
}

bool agent_decided_unasked(struct agent *agent, uint64_t superstep)
{
    return agent_has_replicas(agent) && gate_unasked(agent->decided->gate, superstep);
}

bool agent_decided_add(struct agent *agent, const struct decided *decided)
{
    return gate_add(agent->decided->gate, decided);
}

bool agent_decided_take(struct agent *agent, uint64_t superstep)
{
    return gate_take(agent->decided->gate, superstep);
}

void agent_decided_forget(struct agent *agent)
{
    gate_forget(agent->decided->gate);
    agent->decided->let_out = false;
}
