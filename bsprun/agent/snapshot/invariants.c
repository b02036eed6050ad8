/* invariants.c - what is true of the snapshots of this host before and after every step; see
 * inside.h.
 *
 * A violation is a defect of this program: the agent ends with a message, and the job goes on as
 * after the loss of a host.
 */
#include <assert.h>

#include "bsprun/agent/snapshot/inside.h"

static void check_ticket(const struct ticket *ticket)
{
    bool none = ticket->state == TICKET_NONE;
    bool captured = ticket->state == TICKET_CAPTURED || ticket->state == TICKET_PERSISTED;

    assert(ticket->state < TICKET_STATES);
    assert(none == (ticket->name.term == 0));
    assert(!none || (!ticket->staging && ticket->missing == 0));
    assert(none || ticket->first == (ticket->name.superstep == 0));
    assert(!ticket->first || !ticket_is_recording(ticket->state));
    assert(ticket->missing >= 0);
    assert(!captured || ticket->first || ticket->missing == 0);
}

static void check_making(const struct agent_snapshots *snapshots)
{
    assert(snapshots->making < MAKING_STATES);
    assert(snapshots->making != MAKING_STAGED || snapshots->unstaged <= 0);
    assert(snapshots->bad_count <= BAD_IMAGES_MOST);
    assert(snapshots->rules_bytes <= sizeof snapshots->rules);
}

void agent_snapshots_check(const struct agent *agent)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);

    check_ticket(&snapshots->ticket);
    check_making(snapshots);
}
