/* link_even.c - see link_even.h. */
#include "bsprun/link/link_even.h"

/* A delay is so long a part of a superstep, at least LEAST_NS: once, and in the mean. */
#define ONCE     4
#define MEAN     8
#define LEAST_NS 100000

void link_even_begin(struct link_even *even)
{
    *even = (struct link_even){.after_ns = LINK_EVEN_UNKNOWN,
                               .theirs_ns = LINK_EVEN_UNKNOWN,
                               .apart = LINK_EVEN_FIRST,
                               .calm = LINK_EVEN_CALM - LINK_EVEN_FIRST};
}

/* One that is not late at once again was late by chance; or both had drifted apart, as no host of
 * their columns waits for one of the other.  When each has sent to all for some barriers, the later
 * one comes to them with the earlier one.  While a job begins hosts are late for many reasons,
 * which say nothing about what follows. */
static void lapse(struct link_even *even)
{
    if (even->calm > LINK_EVEN_CALM - even->apart)
        even->calm = LINK_EVEN_CALM - even->apart;
    even->mean_ns = 0;
    if (even->ever && even->apart < LINK_EVEN_CALM)
        even->apart *= 2;
}

static bool exceeds(int64_t late_ns, uint64_t most_ns)
{
    return late_ns > LEAST_NS && (uint64_t)late_ns > most_ns;
}

static void judge(struct link_even *even, uint64_t step_ns)
{
    int64_t late_ns;

    if (even->theirs_ns == LINK_EVEN_UNKNOWN)
        return;
    late_ns = (even->after_ns - even->theirs_ns) / 2;
    even->mean_ns += (late_ns - even->mean_ns) / 8;
    if (exceeds(late_ns, step_ns / ONCE) || exceeds(even->mean_ns, step_ns / MEAN))
        lapse(even);
    else if (even->calm < 2 * LINK_EVEN_CALM)
        even->calm++;
    even->ever |= link_even_is(even);
    if (even->calm == 2 * LINK_EVEN_CALM)
        even->apart = LINK_EVEN_FIRST;
}

void link_arrivals_add(struct link_arrivals *arrivals, uint64_t key, uint64_t now_ns)
{
    unsigned at = (unsigned)(key % LINK_EVEN_ARRIVALS);

    if (arrivals->newest > 0)
        arrivals->step_ns = now_ns - arrivals->ns[arrivals->newest % LINK_EVEN_ARRIVALS];
    arrivals->keys[at] = key;
    arrivals->ns[at] = now_ns;
    arrivals->newest = key;
}

void link_even_came(struct link_even *even, const struct link_arrivals *arrivals, uint64_t now_ns)
{
    if (even->heard_key != arrivals->newest)
        return;
    even->after_ns = (int64_t)(even->heard_ns - now_ns);
    judge(even, arrivals->step_ns);
}

void link_even_told(struct link_even *even, int64_t after_ns)
{
    bool makes_sense = after_ns < INT64_MAX / 4 && after_ns > -INT64_MAX / 4;

    even->theirs_ns = makes_sense ? after_ns : LINK_EVEN_UNKNOWN;
}

void link_even_heard(struct link_even *even, const struct link_arrivals *arrivals, uint64_t key,
                     uint64_t now_ns)
{
    unsigned at = (unsigned)(key % LINK_EVEN_ARRIVALS);

    if (key <= even->heard_key)
        return;
    even->heard_key = key;
    even->heard_ns = now_ns;
    if (arrivals->keys[at] != key) {
        if (key < arrivals->newest) /* it is far behind */
            lapse(even);
        return;
    }
    even->after_ns = (int64_t)(now_ns - arrivals->ns[at]);
    judge(even, arrivals->step_ns);
}

bool link_even_is(const struct link_even *even)
{
    return even->calm >= LINK_EVEN_CALM;
}
