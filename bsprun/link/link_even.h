/* link_even.h - whether another host with the same processes comes to barriers when this one does;
 * pure.
 *
 * Each of the two notes how long after its own arrival the word of the other one's came, and tells
 * it: the way is in both times, and so the difference is twice by how much the other one is later,
 * whatever their clocks say. */
#ifndef BSPRUN_LINK_EVEN_H
#define BSPRUN_LINK_EVEN_H

#include <stdbool.h>
#include <stdint.h>

#define LINK_EVEN_ARRIVALS 8u  /* of this host that are remembered */
#define LINK_EVEN_CALM     64u /* barriers in time after one that was not, before it is even again */
#define LINK_EVEN_FIRST    8u  /* ... at the beginning */
/* A delay is so long a part of a superstep, at least LINK_EVEN_LEAST_NS: once, and in the mean. */
#define LINK_EVEN_ONCE     4
#define LINK_EVEN_MEAN     8
#define LINK_EVEN_LEAST_NS 100000
#define LINK_EVEN_UNKNOWN  INT64_MAX

/* When this host has come to its last barriers; all zero at first. */
struct link_arrivals {
    uint64_t keys[LINK_EVEN_ARRIVALS], ns[LINK_EVEN_ARRIVALS];
    uint64_t newest, step_ns; /* the last key, and the time from the one before */
};

/* Of the other host. */
struct link_even {
    uint64_t heard_key, heard_ns; /* the newest that it has said that it has come to */
    int64_t after_ns, theirs_ns;  /* how long after its own each has heard of the other's */
    int64_t mean_ns;              /* by which it has been later, over about eight barriers */
    unsigned calm;                /* barriers in time, LINK_EVEN_CALM at most */
    bool ever;                    /* it has been even */
};

static inline void link_even_begin(struct link_even *even)
{
    *even = (struct link_even){.after_ns = LINK_EVEN_UNKNOWN,
                               .theirs_ns = LINK_EVEN_UNKNOWN,
                               .calm = LINK_EVEN_CALM - LINK_EVEN_FIRST};
}

/* While a job begins hosts are late for many reasons, which say nothing about what follows. */
static inline void link_even_lapse(struct link_even *even)
{
    even->calm = even->ever ? 0 : LINK_EVEN_CALM - LINK_EVEN_FIRST;
    if (!even->ever)
        even->mean_ns = 0;
}

static inline bool link_even_exceeds(int64_t late_ns, uint64_t most_ns)
{
    return late_ns > LINK_EVEN_LEAST_NS && (uint64_t)late_ns > most_ns;
}

static inline void link_even_judge(struct link_even *even, uint64_t step_ns)
{
    int64_t late_ns;

    if (even->theirs_ns == LINK_EVEN_UNKNOWN)
        return;
    late_ns = (even->after_ns - even->theirs_ns) / 2;
    even->mean_ns += (late_ns - even->mean_ns) / 8;
    if (link_even_exceeds(late_ns, step_ns / LINK_EVEN_ONCE) ||
        link_even_exceeds(even->mean_ns, step_ns / LINK_EVEN_MEAN))
        link_even_lapse(even);
    else if (even->calm < LINK_EVEN_CALM)
        even->calm++;
    even->ever |= even->calm == LINK_EVEN_CALM;
}

/* This host has come to that barrier. */
static inline void link_arrivals_add(struct link_arrivals *arrivals, uint64_t key, uint64_t now_ns)
{
    unsigned at = (unsigned)(key % LINK_EVEN_ARRIVALS);

    if (arrivals->newest > 0)
        arrivals->step_ns = now_ns - arrivals->ns[arrivals->newest % LINK_EVEN_ARRIVALS];
    arrivals->keys[at] = key;
    arrivals->ns[at] = now_ns;
    arrivals->newest = key;
}

/* To be called after link_arrivals_add: the other one was first. */
static inline void link_even_came(struct link_even *even, const struct link_arrivals *arrivals,
                                  uint64_t now_ns)
{
    if (even->heard_key != arrivals->newest)
        return;
    even->after_ns = (int64_t)(even->heard_ns - now_ns);
    link_even_judge(even, arrivals->step_ns);
}

/* What the other one says of itself: its after_ns. */
static inline void link_even_told(struct link_even *even, int64_t after_ns)
{
    bool makes_sense = after_ns < INT64_MAX / 4 && after_ns > -INT64_MAX / 4;

    even->theirs_ns = makes_sense ? after_ns : LINK_EVEN_UNKNOWN;
}

/* The other one says that it has come to that barrier. */
static inline void link_even_heard(struct link_even *even, const struct link_arrivals *arrivals,
                                   uint64_t key, uint64_t now_ns)
{
    unsigned at = (unsigned)(key % LINK_EVEN_ARRIVALS);

    if (key <= even->heard_key)
        return;
    even->heard_key = key;
    even->heard_ns = now_ns;
    if (arrivals->keys[at] != key) {
        if (key < arrivals->newest) /* it is far behind */
            link_even_lapse(even);
        return;
    }
    even->after_ns = (int64_t)(now_ns - arrivals->ns[at]);
    link_even_judge(even, arrivals->step_ns);
}

static inline bool link_even_is(const struct link_even *even)
{
    return even->calm >= LINK_EVEN_CALM;
}

#endif
