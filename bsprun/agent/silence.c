/* silence.c - see silence.h. */
#include "bsprun/agent/silence.h"

#define LOOKS       12u   /* per heartbeat */
#define LEAVE_LEAST 3000u /* ms */

void silence_begin(struct silence *silence, uint32_t bound_ms, uint64_t now_ns)
{
    *silence = (struct silence){.bound_ms = bound_ms, .heard_ns = now_ns};
}

void silence_heard(struct silence *silence, uint64_t now_ns)
{
    silence->heard_ns = now_ns;
    silence->cut_off = false;
}

uint64_t silence_period_ms(const struct silence *silence)
{
    return silence->bound_ms / LOOKS + 1;
}

static uint64_t milliseconds(uint64_t from_ns, uint64_t to_ns)
{
    return (to_ns - from_ns) / 1000000u;
}

static bool was_given_up(const struct silence *silence, uint64_t now_ns, int64_t unheard_ms)
{
    uint64_t most = silence->bound_ms < LEAVE_LEAST ? LEAVE_LEAST : silence->bound_ms;

    return milliseconds(silence->cut_off_ns, now_ns) >= most && unheard_ms >= (int64_t)most;
}

enum silence_step silence_look(struct silence *silence, uint64_t now_ns, int64_t unheard_ms)
{
    if (milliseconds(silence->heard_ns, now_ns) < (uint64_t)silence->bound_ms / 3 * 2) {
        silence->looked = false;
        return SILENCE_WAIT;
    }
    if (!silence->looked) {
        silence->looked = true;
        return SILENCE_LOOK_AGAIN;
    }
    if (!silence->cut_off) {
        silence->cut_off = true;
        silence->cut_off_ns = now_ns;
        return SILENCE_CUT_OFF;
    }
    return was_given_up(silence, now_ns, unheard_ms) ? SILENCE_LEAVE : SILENCE_WAIT;
}
