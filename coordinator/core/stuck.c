/* stuck.c - ends a job whose processes all wait for objects of the dataspace: see quiet.h. */
#include "coordinator/core/state.h"

#include <stdio.h>

/* Each process is named once, by the first living host that has it. */
static bool speaks(const struct coord *state, const struct coord_host *host)
{
    return !coord_has_replicas(state) || coord_first_of_cell(state, host);
}

static void end_stuck(struct coord *state, struct coord_effects *effects)
{
    char text[COORD_TEXT_MAX];
    size_t used = (size_t)snprintf(text, sizeof(text),
                                   "all processes wait, and nothing is on its way to them:");

    for (uint32_t i = 0; i < state->host_count && used < sizeof(text); i++) {
        const char *waits = speaks(state, &state->hosts[i]) ? state->quiet.hosts[i].waits : NULL;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", waits ? waits : "");
    }
    coord_blame(state, WIRE_CAUSE_RANKS_STUCK, COORD_NOBODY, 1, 0, text);
    coord_begin_abort(state, effects);
}

int coord_take_quiet(struct coord *state, struct coord_host *host,
                     const struct wire_message *message, struct coord_effects *effects)
{
    if (message->quiet.round > state->quiet.round)
        return coord_broken(effects, "host %u answers a question that was not asked", host->id);
    if (state->phase != COORD_RUNNING) {
        quiet_restart(&state->quiet); /* the answer is not taken */
        return 0;
    }
    for (uint32_t i = 0; i < state->host_count; i++)
        state->quiet.hosts[i].asked = state->hosts[i].count > 0 && !state->hosts[i].lost;
    switch (quiet_take(&state->quiet, (uint32_t)(host - state->hosts), &message->quiet)) {
    case QUIET_ASK:
        coord_say(state, effects, WIRE_ASK_QUIET)->ask_quiet.round = state->quiet.round;
        break;
    case QUIET_STUCK:
        end_stuck(state, effects);
        break;
    case QUIET_NOTHING:
        break;
    }
    return 0;
}
