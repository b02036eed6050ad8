/* patience.c - with replicas: how long hosts that are to capture their processes are waited for.
 *
 * A host may be slow, or its processes are stopped, which nobody can know.  The limit is two
 * heartbeats, as a host that is lost is known to be after one and a half; but twice what snapshots
 * have taken so far, by the estimate also in earlier terms, as processes that write their images by
 * themselves take long.  It doubles each time a host was not ready, and is what it was when all
 * are.
 */
#include "coordinator/core/state.h"

#define HEARTBEATS   2.0
#define UNWATCHED_MS 20000u /* without a heartbeat */
#define MOST_MS      3600000u

/* Twice so many seconds, or at least so much. */
static uint64_t twice_ms(double seconds, uint64_t least_ms)
{
    double ms = 2e3 * seconds;

    return ms > MOST_MS ? MOST_MS : ms > (double)least_ms ? (uint64_t)ms : least_ms;
}

void coord_patience_begin(struct coord *state)
{
    struct coord_patience *patience = &state->patience;
    double notice = state->config.notice;

    patience->least_ms =
        notice > 0 ? 1 + (uint64_t)(HEARTBEATS * 1e3 * notice) : (uint64_t)UNWATCHED_MS;
    if (state->estimate.snapshot.count > 0)
        patience->least_ms = twice_ms(state->estimate.snapshot.mean, patience->least_ms);
    patience->present_ms = patience->least_ms;
}

/* The last images of a term are written before the processes are captured. */
static uint64_t limit_ms(const struct coord *state)
{
    bool last = state->wish == COORD_WISH_MOVE_NOW && state->estimate.delay.count > 0;
    uint64_t ms = state->patience.present_ms;

    return last ? twice_ms(state->estimate.delay.mean, ms) : ms;
}

void coord_await_captures(struct coord *state, struct coord_effects *effects)
{
    state->patience.since_ns = state->now_ns;
    if (!coord_has_replicas(state))
        return;
    if (state->patience.limited)
        coord_set_timer(state, effects, COORD_TIMER_CAPTURE, limit_ms(state));
    else
        coord_add_effect(state, effects, COORD_EFFECT_CANCEL_TIMER)->timer = COORD_TIMER_CAPTURE;
}

/* A job that is to stop with these images has a limit of its own. */
void coord_begin_captures(struct coord *state, struct coord_effects *effects)
{
    state->patience.limited = state->wish != COORD_WISH_STOP || state->takeover.resumes;
    coord_await_captures(state, effects);
}

void coord_patience_note(struct coord *state)
{
    struct coord_patience *patience = &state->patience;
    uint64_t took_ns = state->now_ns - patience->since_ns;

    if (took_ns > patience->longest_ns)
        patience->longest_ns = took_ns;
}

void coord_patience_over(struct coord *state, bool all)
{
    struct coord_patience *patience = &state->patience;

    if (all)
        patience->present_ms = twice_ms((double)patience->longest_ns / 1e9, patience->least_ms);
    else if (patience->present_ms < MOST_MS)
        patience->present_ms *= 2;
}
