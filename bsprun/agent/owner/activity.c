/* activity.c - see activity.h. */
#include "bsprun/agent/owner/activity.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO

static const struct bspz_states_row rows[OWNER_STATE_COUNT] = {
    [OWNER_QUIET] = {"quiet", TO(OWNER_ACTIVE)},
    [OWNER_ACTIVE] = {"active", TO(OWNER_QUIET)},
};

static const struct bspz_states states = {"the owner of a host", OWNER_STATE_COUNT, rows};

void owner_begin(struct owner_activity *activity, const struct owner_rule *rule)
{
    *activity = (struct owner_activity){.rule = *rule};
}

/* The samples of the last OWNER_LOAD_MS, and one before. */
static void keep(struct owner_activity *activity, const struct owner_sample *sample)
{
    uint32_t old = 0;

    while (old + 1 < activity->count &&
           activity->samples[old + 1].now_ms + OWNER_LOAD_MS <= sample->now_ms)
        old++;
    if (activity->count - old == OWNER_SAMPLES)
        old++;
    activity->count -= old;
    memmove(activity->samples, activity->samples + old,
            activity->count * sizeof *activity->samples);
    activity->samples[activity->count].now_ms = sample->now_ms;
    activity->samples[activity->count++].others_ms = sample->others_ms;
}

/* The cores that others have used since then; 0 as long as there is no sample so old. */
static double load(const struct owner_activity *activity, const struct owner_sample *sample)
{
    uint64_t passed_ms = sample->now_ms - activity->samples[0].now_ms;

    return passed_ms < OWNER_LOAD_MS
               ? 0
               : (double)(sample->others_ms - activity->samples[0].others_ms) / (double)passed_ms;
}

static enum owner_sign look_for_sign(const struct owner_activity *activity,
                                     const struct owner_sample *sample, double *amount)
{
    *amount = (double)sample->input_age_ms / 1000;
    if (sample->input_age_ms != OWNER_NEVER && sample->input_age_ms <= activity->rule.input_ms)
        return OWNER_INPUT;
    *amount = load(activity, sample);
    if (*amount > activity->rule.load)
        return OWNER_LOAD;
    return sample->on_battery ? OWNER_BATTERY : OWNER_NO_SIGN;
}

static void move(struct owner_activity *activity, enum owner_state to)
{
    activity->state = (enum owner_state)bspz_states_move(&states, activity->state, to);
}

bool owner_look(struct owner_activity *activity, const struct owner_sample *sample)
{
    enum owner_state before = activity->state;
    enum owner_sign sign;
    double amount;

    keep(activity, sample);
    sign = look_for_sign(activity, sample, &amount);
    if (sign != OWNER_NO_SIGN) {
        activity->sign = sign;
        activity->amount = amount;
        activity->seen_ms = sample->now_ms;
        if (before == OWNER_QUIET)
            move(activity, OWNER_ACTIVE);
    } else if (before == OWNER_ACTIVE &&
               sample->now_ms - activity->seen_ms >= activity->rule.quiet_ms) {
        move(activity, OWNER_QUIET);
    }
    return activity->state != before;
}

enum wire_act owner_act(enum wire_policy policy, enum owner_state state)
{
    static const enum wire_act acts[WIRE_POLICY_COUNT][OWNER_STATE_COUNT] = {
        [WIRE_POLICY_NONE] = {WIRE_ACT_GO_ON, WIRE_ACT_GO_ON},
        [WIRE_POLICY_NICE] = {WIRE_ACT_GO_ON, WIRE_ACT_SLOW},
        [WIRE_POLICY_YIELD] = {WIRE_ACT_GO_ON, WIRE_ACT_STOP},
        [WIRE_POLICY_LEAVE] = {WIRE_ACT_GO_ON, WIRE_ACT_LEAVE},
    };

    return acts[policy][state];
}

void owner_sign_text(const struct owner_activity *activity, char *text, size_t size)
{
    switch (activity->sign) {
    case OWNER_INPUT:
        snprintf(text, size, "input %.0f s ago", activity->amount);
        break;
    case OWNER_LOAD:
        snprintf(text, size, "others use %.2f cores", activity->amount);
        break;
    case OWNER_BATTERY:
        snprintf(text, size, "on battery");
        break;
    default:
        text[0] = '\0';
        break;
    }
}
