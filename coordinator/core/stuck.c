/* stuck.c - ends a job whose processes all wait for objects of the dataspace: see quiet.h. */
#include "coordinator/core/state.h"

#include <stdio.h>
#include <string.h>

#define MORE_BYTES 24u /* of the line that says how many processes are not named */

/* Each process is named once, by the first living host that has it.  NULL: the host names none. */
static const char *lines_of(const struct coord *state, uint32_t host)
{
    const struct quiet_host *quiet = &state->quiet.hosts[host];

    if (!quiet->asked ||
        (coord_has_replicas(state) && !coord_first_of_cell(state, &state->hosts[host])))
        return NULL;
    return quiet->waits;
}

/* Adds whole lines, each after a newline, while they end before `end`; returns how many. */
static uint32_t add_lines(const char *lines, char *text, size_t *used, size_t end)
{
    uint32_t count = 0;

    for (;;) {
        const char *next = lines[0] ? strchr(lines + 1, '\n') : NULL;
        size_t bytes = next ? (size_t)(next - lines) : strlen(lines);

        if (bytes == 0 || *used + bytes >= end)
            return count;
        memcpy(text + *used, lines, bytes);
        *used += bytes;
        text[*used] = '\0';
        lines += bytes;
        count++;
    }
}

/* The hosts have the same room each, and what those before them have left of theirs. */
static void add_all(const struct coord *state, char *text, size_t used, size_t size)
{
    uint32_t speakers = 0, named = 0;

    for (uint32_t i = 0; i < state->host_count; i++)
        speakers += lines_of(state, i) != NULL;
    for (uint32_t i = 0; i < state->host_count; i++) {
        const char *lines = lines_of(state, i);

        if (lines)
            named += add_lines(lines, text, &used, used + (size - MORE_BYTES - used) / speakers--);
    }
    if (named < state->processes)
        snprintf(text + used, size - used, "\n  and %u more", state->processes - named);
}

static void end_stuck(struct coord *state, struct coord_effects *effects)
{
    char text[COORD_TEXT_MAX];
    size_t used = (size_t)snprintf(text, sizeof(text),
                                   "all processes wait, and nothing is on its way to them:");

    add_all(state, text, used, sizeof(text));
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
