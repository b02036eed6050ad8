/* to_zero.c - see to_zero.h. */
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/known.h"

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/process.h"

void agent_tell_zero(struct agent *agent, struct wire_message *message)
{
    *wire_sender(message) = agent_host(agent);
    agent_envelope(agent, &message->envelope);
    if (!agent_known_lets(agent, message))
        return;
    if (agent_zero(agent))
        coord_shell_message(agent_zero(agent), agent_host(agent), message);
    else
        agent_peers_send_to_zero(agent, message);
}

void agent_arrived(struct agent *agent, uint64_t superstep, const struct wire_arrive *arrive)
{
    struct wire_message message = {.kind = WIRE_ARRIVE, .arrive = *arrive};
    static const uint64_t nothing[2];

    message.envelope.superstep = superstep;
    message.arrive.survived = agent_survived(agent);
    message.arrive.output = (struct wire_numbers){nothing, 2};
    agent_tell_zero(agent, &message);
}

void agent_rank_exited(struct agent *agent, int pid, const struct death *death, bool past_end,
                       const char *text)
{
    struct wire_message message = {.kind = WIRE_RANK_EXITED};

    message.rank_exited.pid = (uint32_t)pid;
    message.rank_exited.status = (uint32_t)death->status & 0xff;
    message.rank_exited.signal = (uint32_t)death->signal;
    message.rank_exited.past_end = past_end;
    message.rank_exited.text = text;
    agent_tell_zero(agent, &message);
}

bool agent_zero_decides(const struct agent *agent)
{
    return agent_zero(agent) ? coord_phase(coord_shell_state(agent_zero(agent))) != COORD_FAILED
                             : agent_zero_is_elsewhere(agent);
}
