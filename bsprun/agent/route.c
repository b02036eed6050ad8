/* route.c - see route.h. */
#include "bsprun/agent/route.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/replicas.h"

#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/differs.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/over.h"
#include "bsprun/agent/succession.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/terms.h"
#include "bsprun/link/link.h"

/* It is for the successor of Processor Zero, which this agent does not know yet that it is, but of
 * a snapshot of the former one, which is abandoned. */
static bool is_of_former(const struct agent *agent, const struct wire_message *message)
{
    return (agent_has_replicas(agent) || agent_wants_copies(agent)) &&
           wire_way(message->kind) == WIRE_WAY_TO_ZERO && known_lets(message->kind);
}

void agent_route_message(void *context, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = context;

    if (memcmp(message->envelope.job, agent_job_id(agent), WIRE_JOB_SIZE) != 0 ||
        message->envelope.term != agent_term(agent)) {
        agent_peers_drop(agent, host, "a message of another job or term");
        return;
    }
    if (message->kind == WIRE_RANKS_STOPPED && agent_zero(agent))
        agent_add_to_table(agent, message->ranks_stopped.table);
    enum wire_way way = wire_way(message->kind);
    if (way == WIRE_WAY_TO_ZERO && agent_zero(agent))
        coord_shell_message(agent_zero(agent), host, message);
    else if (message->kind == WIRE_ACCOUNT && message->account.host == host)
        agent_keep_account(agent, message);
    else if (is_of_former(agent, message))
        return;
    else if (way == WIRE_WAY_FROM_ZERO && agent_peers_is_zero(agent, host) && !agent_zero(agent))
        agent_calls(agent)->ordered(agent, message);
    else if (message->kind == WIRE_KEEP)
        agent_replicas_take(agent, host, message);
    else if (message->kind == WIRE_DATA_PUT || message->kind == WIRE_DATA_STORED ||
             message->kind == WIRE_DATA_ASK || message->kind == WIRE_DATA_GRANT ||
             message->kind == WIRE_DATA_WITHDRAW || message->kind == WIRE_DATA_WITHDRAWN ||
             message->kind == WIRE_DATA_DIFFERS || message->kind == WIRE_DATA_CUT ||
             message->kind == WIRE_DATA_LOST || message->kind == WIRE_DATA_COPY ||
             message->kind == WIRE_DATA_COPIED || message->kind == WIRE_DATA_AHEAD ||
             message->kind == WIRE_DATA_CHAIN || message->kind == WIRE_DATA_CHAINED ||
             message->kind == WIRE_DATA_PAST || message->kind == WIRE_DATA_PAST_IS ||
             message->kind == WIRE_DATA_CALL || message->kind == WIRE_DATA_HOW_FAR ||
             message->kind == WIRE_DATA_OFFER || message->kind == WIRE_DATA_TURN ||
             message->kind == WIRE_DATA_REFER || message->kind == WIRE_DATA_FETCH ||
             message->kind == WIRE_DATA_PASS)
        agent_dataspace_message(agent, host, message);
    else if (message->kind == WIRE_GIVE_UP)
        agent_replicas_given_up(agent, message->give_up.text);
    else if (message->kind == WIRE_MEET)
        agent_survive_meet(agent, message);
    else if (message->kind == WIRE_MAIL || message->kind == WIRE_MAIL_READ ||
             message->kind == WIRE_MAIL_MARK)
        agent_mail_message(agent, host, message);
    else if (way == WIRE_WAY_AMONG_AGENTS)
        agent_fetch_message(agent, host, message);
    else
        agent_peers_drop(agent, host, "a message that is not for this agent");
}

void agent_route_lost(void *context, uint32_t host, const char *text)
{
    struct agent *agent = context;

    if (agent_is_finished(agent) || agent_job(agent) == JOB_OVER ||
        (agent_job(agent) == JOB_REWINDING && agent_has_replicas(agent)))
        return;
    if (agent_peers_is_lost(agent, host)) { /* it is known to bsprun, and given up */
        agent_fetch_lost(agent, host);
        return;
    }
    agent_peers_note_lost(agent, host);
    agent_tell_link_lost(agent, host, text, strcmp(text, LINK_TOO_FAR_BEHIND) == 0);
    agent_fetch_lost(agent, host);
    agent_replicas_lost(agent, host);
    /* If the job may go on without it bsprun says who is lost, since this host may be the one that
     * is cut off. */
    if (agent_zero(agent) && !agent_has_replicas(agent) &&
        !coord_can_outlive(coord_shell_state(agent_zero(agent)), host))
        coord_shell_host_lost(agent_zero(agent), host);
    else if (!agent_zero(agent) && agent_peers_is_zero(agent, host) &&
             !agent_awaits_successor(agent))
        agent_zero_is_lost(agent);
}

void agent_route_arrived(void *context, uint64_t superstep)
{
    agent_relay_passed(context, superstep);
}

void agent_zero_is_lost(struct agent *agent)
{
    agent_peers_give_up_zero(agent);
    agent_rewind(agent);
    agent_check_over(agent);
}

void agent_is_cut_off(struct agent *agent)
{
    agent_zero_is_lost(agent);
    if (agent_has_replicas(agent))
        agent_peers_leave(agent, "its processes have ended");
}
