/* quiet.c - see quiet.h. */
#include "coordinator/core/quiet.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO
static const struct bspz_states_row rows[QUIET_STATE_COUNT] = {
    [QUIET_UNKNOWN] = {"unknown", TO(QUIET_FIRST)},
    [QUIET_FIRST] = {"first", TO(QUIET_SECOND) | TO(QUIET_UNKNOWN)},
    [QUIET_SECOND] = {"second", TO(QUIET_UNKNOWN)},
};
static const struct bspz_states states = {"the search for waiting processes", QUIET_STATE_COUNT,
                                          rows};

static void move(struct quiet *quiet, enum quiet_state to)
{
    quiet->state = (enum quiet_state)bspz_states_move(&states, quiet->state, to);
}

bool quiet_begin(struct quiet *quiet, uint32_t host_count)
{
    *quiet =
        (struct quiet){.host_count = host_count, .hosts = calloc(host_count, sizeof *quiet->hosts)};
    return quiet->hosts != NULL;
}

void quiet_end(struct quiet *quiet)
{
    for (uint32_t i = 0; quiet->hosts && i < quiet->host_count; i++)
        free(quiet->hosts[i].waits);
    free(quiet->hosts);
    quiet->hosts = NULL;
}

void quiet_restart(struct quiet *quiet)
{
    if (quiet->state != QUIET_UNKNOWN)
        move(quiet, QUIET_UNKNOWN);
}

static enum quiet_act ask(struct quiet *quiet, enum quiet_state stage)
{
    move(quiet, stage);
    quiet->round++;
    quiet->missing = 0;
    for (uint32_t i = 0; i < quiet->host_count; i++) {
        quiet->hosts[i].answered = false;
        quiet->missing += quiet->hosts[i].asked;
    }
    return QUIET_ASK;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether nothing is on its way, as far as the answers of this round tell. */
static bool adds_up(const struct quiet *quiet)
{
    uint64_t sent = 0, received = 0, arrived = WIRE_NEVER, held = WIRE_NEVER;

    for (uint32_t i = 0; i < quiet->host_count; i++) {
        const struct quiet_host *host = &quiet->hosts[i];

        if (!host->asked)
            continue;
        sent += host->sent;
        received += host->received;
        arrived = least(arrived, host->arrived);
        held = least(held, host->held);
    }
    return sent == received && (held == WIRE_NEVER || arrived <= held);
}

/* All have answered that their processes wait. */
static enum quiet_act conclude(struct quiet *quiet)
{
    bool stuck = quiet->state == QUIET_SECOND && adds_up(quiet);

    if (quiet->state == QUIET_FIRST && adds_up(quiet))
        return ask(quiet, QUIET_SECOND);
    move(quiet, QUIET_UNKNOWN);
    return stuck ? QUIET_STUCK : QUIET_NOTHING;
}

static enum quiet_act take_answer(struct quiet *quiet, struct quiet_host *host,
                                  const struct wire_quiet *answer)
{
    bool changed = quiet->state == QUIET_SECOND &&
                   (answer->sent != host->sent || answer->received != host->received);

    if (!answer->quiet || changed) {
        move(quiet, QUIET_UNKNOWN);
        return QUIET_NOTHING;
    }
    free(host->waits);
    host->answered = true;
    host->sent = answer->sent;
    host->received = answer->received;
    host->arrived = answer->arrived;
    host->held = answer->held;
    host->waits = strdup(answer->waits);
    return --quiet->missing == 0 ? conclude(quiet) : QUIET_NOTHING;
}

enum quiet_act quiet_take(struct quiet *quiet, uint32_t host, const struct wire_quiet *message)
{
    struct quiet_host *from = &quiet->hosts[host];

    if (!from->asked)
        return QUIET_NOTHING;
    if (message->round == 0)
        return quiet->state == QUIET_UNKNOWN ? ask(quiet, QUIET_FIRST) : QUIET_NOTHING;
    if (message->round != quiet->round || quiet->state == QUIET_UNKNOWN || from->answered)
        return QUIET_NOTHING;
    return take_answer(quiet, from, message);
}
