/* output_mark.c - see output_mark.h. */
#include "bsprun/agent/core/output_mark.h"

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/to_bsprun.h"

void agent_mark_output(struct agent *agent, uint64_t supersteps)
{
    struct wire_message message = {.kind = WIRE_MARK};

    agent_relay_pass_on(agent);
    message.envelope.superstep = supersteps;
    message.mark.input = agent_input_position(agent);
    agent_send(agent, &message);
}
