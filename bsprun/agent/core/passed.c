/* passed.c - see passed.h. */
#include "bsprun/agent/core/passed.h"

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/to_bsprun.h"

static void say_passed(struct agent *agent, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_PASSED};

    message.envelope.superstep = agent_here(agent) > 0 ? superstep : WIRE_NEVER;
    message.passed.host = agent_host(agent);
    agent_send(agent, &message);
}

void agent_answer_passed(struct agent *agent)
{
    if (agent->asked_passed == 0 || !agent_relay_passed(agent, agent->asked_passed - 1))
        return;
    say_passed(agent, agent->asked_passed - 1);
    agent->asked_passed = 0;
}

void agent_forget_passed(struct agent *agent)
{
    agent->asked_passed = 0;
}

void agent_say_idle(struct agent *agent)
{
    if (agent_here(agent) == 0)
        say_passed(agent, WIRE_NEVER);
}

void agent_ask_passed(struct agent *agent, uint64_t superstep)
{
    if (agent->asked_passed < superstep + 1)
        agent->asked_passed = superstep + 1;
    agent_answer_passed(agent);
}
