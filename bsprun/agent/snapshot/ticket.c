/* ticket.c - common functions of snapshots: the ranks' records, ownership of the directory,
 * abandoning. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/snapshot/inside.h"

struct bspz_snap *agent_snap_of(const struct agent *agent, int pid)
{
    return bspz_snap_of(agent_board(agent), agent_nprocs(agent), pid);
}

void agent_snap_text(const struct agent *agent, int pid, const char *what, char text[AGENT_WHY])
{
    const struct bspz_snap *snap = agent_snap_of(agent, pid);
    int error = snap->error > 0 ? snap->error : EIO;
    char why[sizeof snap->why], number[32];
    size_t length, tail;

    memcpy(why, snap->why, sizeof why);
    why[sizeof why - 1] = '\0';
    /* Capture code writes numbers, as it has no texts of errors. */
    snprintf(number, sizeof number, "error %d", error);
    length = strlen(why);
    tail = strlen(number);
    if (length >= tail && strcmp(why + length - tail, number) == 0)
        why[length - tail] = '\0';
    snprintf(text, AGENT_WHY, "process %d %s: %s%s", pid, what, why,
             strlen(why) < length || length == 0 ? strerror(error) : "");
}

bool agent_recovers(const struct agent *agent)
{
    return snapshots_of(agent) && snapshots_of(agent)->recover;
}

bool agent_counts_supersteps(const struct agent *agent)
{
    return agent_recovers(agent) && snapshots_of(agent)->rule.kind == POLICY_SUPERSTEPS;
}

bool agent_store_is_shared(const struct agent *agent)
{
    return snapshots_of(agent) && snapshots_of(agent)->shared;
}

bool agent_keeps_order(const struct agent *agent)
{
    return !agent_has_peers(agent) || !snapshots_of(agent)->shared ||
           (agent_nprocs(agent) > 0 && snapshots_of(agent)->writer == agent_host(agent));
}

/* Of one for which nobody waits, and which waits for nobody. */
void agent_note_slowest(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint64_t took_ns = agent_now_ns() - snapshots->ticket.begun_ns;

    if (agent_board(agent)->snap_order.share != BSPZ_SHARE_EQUAL &&
        snapshots->ticket.comparison != COMPARISON_OVERDUE && took_ns > snapshots->slowest_ns)
        snapshots->slowest_ns = took_ns;
}

void agent_abandon(struct agent *agent)
{
    struct ticket *ticket = &snapshots_of(agent)->ticket;

    if (ticket->staging)
        agent_note_slowest(agent);
    if (agent_keeps_order(agent))
        store_snapshot_abandon(ticket->staging);
    else
        store_snapshot_leave(
            ticket->staging); /* it may have been committed, unknown to this agent */
    ticket->staging = NULL;
}

/* The same rule as Processor Zero's. */
static bool failure_stops(const struct agent *agent, enum wire_cause cause)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);
    bool late = agent_committed(agent).term > 0 && agent_committed(agent).superstep > 0;

    return cause != WIRE_CAUSE_RANK_SIGNALLED &&
           (late ? snapshots->stop_on_late_failure : snapshots->stop_on_failure);
}

void agent_say_failure(struct agent *agent, uint64_t superstep, enum wire_cause cause,
                       const char *why)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    char instead[80] = "there is none to roll back to";

    if (snapshots->said_failures & 1u << cause)
        return;
    snapshots->said_failures |= 1u << cause;
    if (agent_committed(agent).term > 0)
        snprintf(instead, sizeof instead, "a restart would continue from superstep %llu",
                 (unsigned long long)agent_committed(agent).superstep);
    agent_notice(agent, "no snapshot after superstep %llu: %s; %s", (unsigned long long)superstep,
                 why, instead);
}

void agent_image_failed(struct agent *agent, int pid, enum wire_cause cause, const char *why)
{
    agent_image_of_failed(agent, snapshots_of(agent)->ticket.name, pid, cause, why);
}

void agent_image_of_failed(struct agent *agent, struct bspz_snapshot_name name, int pid,
                           enum wire_cause cause, const char *why)
{
    struct wire_message message = {.kind = WIRE_IMAGE_FAILED};

    if (cause != WIRE_CAUSE_NOT_RESTORED && !failure_stops(agent, cause))
        agent_say_failure(agent, name.superstep, cause, why);
    message.envelope.superstep = name.superstep;
    message.image_failed.pid = (uint32_t)pid;
    message.image_failed.cause = cause;
    message.image_failed.text = why;
    agent_tell_zero(agent, &message);
}

void agent_snapshots_forget(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    agent_abandon(agent);
    snapshots->ticket = (struct ticket){0};
    agent_set_coming(agent, snapshots->ticket.name);
    making_move(&snapshots->making, MAKING_NONE);
    snapshots->restores = true;
    if (agent_zero(agent))
        snapshots->costs = coord_costs(coord_shell_state(agent_zero(agent)));
}
