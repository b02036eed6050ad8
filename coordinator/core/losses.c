/* losses.c - hosts that are lost: what becomes of the term.
 *
 * Where another host has replicas of their processes, nothing, as soon as there is snapshot 0, of
 * which they are made; where their processes can be restarted alone elsewhere, they are
 * (survive.c); else, and while they are made of a later one, it is over.
 */
#include "coordinator/core/state.h"

bool coord_goes_on_without(const struct coord *state, const struct coord_host *host)
{
    bool placed = state->phase == COORD_PLACING && state->committed.term == state->config.term;

    return (placed ||
            IN(state->phase) & (IN(COORD_RUNNING) | IN(COORD_HELD_BACK) | IN(COORD_CAPTURING) |
                                IN(COORD_SAVING) | IN(COORD_CLOSING) | IN(COORD_TAKING_OVER))) &&
           coord_is_covered(state, host);
}

int coord_take_bears(struct coord *state, struct coord_host *host,
                     const struct wire_message *message, struct coord_effects *effects)
{
    bool before = coord_bears_loss(state, host);

    host->bears = message->bears.bears;
    if (message->bears.burdened && state->config.survives)
        coord_want_snapshot(state, effects);
    if (coord_bears_loss(state, host) == before)
        return 0;
    struct wire_bearable *bearable = &coord_say(state, effects, WIRE_BEARABLE)->bearable;
    bearable->of = host->id;
    bearable->bears = !before;
    return 0;
}

int coord_take_link_lost(struct coord *state, struct coord_host *host,
                         const struct wire_message *message, struct coord_effects *effects)
{
    bool survives = coord_survives(state, host);

    (void)message;
    coord_watch(state);
    host->lost = true;
    host->stopped = true;
    quiet_restart(&state->quiet);
    if (survives)
        coord_survive(state, host, effects);
    if (state->phase == COORD_TAKING_OVER && !coord_has_replicas(state))
        coord_take_over(state, effects);
    else if (!survives && !coord_goes_on_without(state, host))
        coord_end_of_host(state, host, effects);
    else if (state->phase == COORD_TAKING_OVER)
        coord_take_over(state, effects);
    else
        coord_go_on_without(state, host, effects);
    return 0;
}
