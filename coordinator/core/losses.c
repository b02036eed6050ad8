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

/* ---- The dataspace of processes with replicas ---------------------------------------------- */

static void say_losses(struct coord *state, struct coord_effects *effects)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < state->host_count; i++)
        if (state->hosts[i].lost)
            state->lost[count++] = state->hosts[i].id;
    if (count > 0)
        coord_say(state, effects, WIRE_LOSSES)->losses.hosts =
            (struct wire_numbers){state->lost, count};
}

int coord_take_objects(struct coord *state, struct coord_host *host,
                       const struct wire_message *message, struct coord_effects *effects)
{
    bool news = !state->has_objects, halts = message->objects.calls && !state->halts;

    if (!coord_has_replicas(state))
        return coord_broken(effects, "host %u has no replicas of its processes", host->id);
    state->has_objects = true;
    if (news)
        say_losses(state, effects);
    if (!halts || !state->config.snapshots || !state->config.recover)
        return 0;
    state->halts = true;
    if (state->takeover.any && state->phase == COORD_RUNNING && coord_halt_is_unknown(state)) {
        coord_blame(state, WIRE_CAUSE_HOST_LOST, COORD_NOBODY, 1, 0,
                    "the hosts that knew where processes have stopped were lost");
        coord_fail(state, effects);
    } else if (state->takeover.any) {
        coord_halt_anew(state, effects);
    } else {
        coord_plan_anew(state, effects);
    }
    return 0;
}

/* ---- Losses -------------------------------------------------------------------------------- */

/* Its processes live elsewhere. */
static void go_on_without(struct coord *state, struct coord_host *host,
                          struct coord_effects *effects)
{
    uint64_t round = state->halt.round;

    if (state->has_objects)
        say_losses(state, effects);
    coord_go_on_without(state, host, effects);
    if (state->halt.round == round) /* else they are asked anew, after a barrier */
        coord_halt_again(state, effects);
}

int coord_take_link_lost(struct coord *state, struct coord_host *host,
                         const struct wire_message *message, struct coord_effects *effects)
{
    bool survives = coord_survives(state, host), taking_over = state->phase == COORD_TAKING_OVER;

    (void)message;
    coord_watch(state);
    host->lost = true;
    host->stopped = true;
    quiet_restart(&state->quiet);
    if (survives)
        coord_survive(state, host, effects);
    if (state->phase == COORD_ENDING && state->has_objects)
        say_losses(state, effects); /* who is behind makes requests until its own end */
    if (taking_over)
        coord_take_over(state, effects); /* finds out whether the term goes on */
    else if (!survives && !coord_goes_on_without(state, host))
        coord_end_of_host(state, host, effects);
    else
        go_on_without(state, host, effects);
    return 0;
}
