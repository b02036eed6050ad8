/* losses.c - hosts that are lost: what becomes of the term.
 *
 * Where another host has replicas of their processes, nothing; else, and as long as there is no
 * more than the beginning of a term, it is over.
 */
#include "coordinator/core/state.h"

/* What the lost host had runs on in replicas. */
static bool goes_on_without(const struct coord *state)
{
    return (IN(state->phase) & (IN(COORD_RUNNING) | IN(COORD_HELD_BACK) | IN(COORD_CAPTURING) |
                                IN(COORD_SAVING) | IN(COORD_CLOSING))) &&
           coord_is_covered(state);
}

int coord_take_link_lost(struct coord *state, struct coord_host *host,
                         const struct wire_message *message, struct coord_effects *effects)
{
    (void)message;
    coord_watch(state);
    host->lost = true;
    host->stopped = true;
    if (goes_on_without(state))
        coord_go_on_without(state, host, effects);
    else
        coord_end_of_host(state, host, effects);
    return 0;
}
