/* known_facts.c - see known.h. */
#include "bsprun/agent/core/known.h"

#include "lib/wire/wire.h"

void known_decided(struct known *known, uint64_t superstep, uint64_t next, bool ended)
{
    if (superstep + 1 <= known->decided)
        return;
    known->decided = superstep + 1;
    known->next = next;
    known->ended = ended;
}

void known_asked(struct known *known, uint64_t superstep)
{
    if (superstep >= known->decided && superstep < known->next)
        known->next = superstep;
}

bool known_lets(uint32_t kind)
{
    return kind == WIRE_ACCOUNT || kind == WIRE_IMAGE_DURABLE || kind == WIRE_IMAGE_FAILED;
}

unsigned known_missed(const struct known *known, const struct wire_taken_over *taken,
                      struct known_barrier missed[KNOWN_MISSED_MOST])
{
    uint64_t next = known->next, newest = taken->decided - 1;
    unsigned count = 0;

    if (taken->decided <= known->decided)
        return 0;
    if (known->runs && next < taken->decided && !(taken->ended && next == newest))
        missed[count++] =
            (struct known_barrier){next, taken->ended ? newest : taken->consult, false};
    if (taken->ended)
        missed[count++] = (struct known_barrier){newest, WIRE_NEVER, true};
    return count;
}

void known_caught_up(struct known *known, const struct wire_taken_over *taken)
{
    if (taken->decided > 0)
        known_decided(known, taken->decided - 1, taken->ended ? WIRE_NEVER : taken->consult,
                      taken->ended);
}
