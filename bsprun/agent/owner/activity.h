/* activity.h - whether the owner of a host is active, and what is done for that; pure, times are
 * arguments.
 *
 * The owner is active when there was input within the time of the rule, when others have used more
 * than so many cores on the average of OWNER_LOAD_MS, or when the host runs on its battery, and
 * quiet again when none of that was so for the time of the rule: thus a pause in which somebody
 * thinks does not count as the end.
 */
#ifndef BSPRUN_AGENT_OWNER_ACTIVITY_H
#define BSPRUN_AGENT_OWNER_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/wire.h"

#define OWNER_LOAD_MS UINT64_C(5000)
#define OWNER_SAMPLES 16u /* more than fit into OWNER_LOAD_MS */
#define OWNER_NEVER   UINT64_MAX

struct owner_rule {
    enum wire_policy policy;
    uint64_t input_ms; /* input within this time: active */
    double load;       /* cores of others: more than this: active */
    uint64_t quiet_ms; /* without any sign: quiet */
};

/* What one look at the host has seen. */
struct owner_sample {
    uint64_t now_ms;       /* of a monotonic clock; never less than before */
    uint64_t input_age_ms; /* since the last input; OWNER_NEVER: none is known */
    uint64_t others_ms;    /* processor time of others since some moment; never less than before */
    bool on_battery;
};

enum owner_state { OWNER_QUIET, OWNER_ACTIVE, OWNER_STATE_COUNT };

/* The signs of an active owner. */
enum owner_sign { OWNER_NO_SIGN, OWNER_INPUT, OWNER_LOAD, OWNER_BATTERY };

struct owner_activity {
    struct owner_rule rule;
    enum owner_state state;
    uint64_t seen_ms;     /* active: when there was a sign last */
    enum owner_sign sign; /* ... which, with what it was then */
    double amount;
    uint32_t count; /* samples below, the oldest first */
    struct {
        uint64_t now_ms, others_ms;
    } samples[OWNER_SAMPLES];
};

/* Begins as quiet. */
void owner_begin(struct owner_activity *activity, const struct owner_rule *rule);
/* Takes a look, about one a second.  True: the state has changed. */
bool owner_look(struct owner_activity *activity, const struct owner_sample *sample);
/* What is done with the processes in that state. */
enum wire_act owner_act(enum wire_policy policy, enum owner_state state);
/* The last sign, as "input 3 s ago"; "" before there was one. */
void owner_sign_text(const struct owner_activity *activity, char *text, size_t size);

#endif
