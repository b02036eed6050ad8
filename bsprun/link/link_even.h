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
#define LINK_EVEN_PART     8   /* a delay is such a part of a superstep, */
#define LINK_EVEN_LEAST_NS 100000 /* at least */
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
    unsigned calm;                /* barriers in time, LINK_EVEN_CALM at most */
};

static inline void link_even_begin(struct link_even *even)
{
    *even = (struct link_even){.after_ns = LINK_EVEN_UNKNOWN,
                               .theirs_ns = LINK_EVEN_UNKNOWN,
                               .calm = LINK_EVEN_CALM - LINK_EVEN_FIRST};
}

static inline void link_even_judge(struct link_even *even, uint64_t step_ns)
{
    int64_t most = (int64_t)(step_ns / LINK_EVEN_PART);

    if (even->theirs_ns == LINK_EVEN_UNKNOWN)
        return;
    if (most < LINK_EVEN_LEAST_NS)
        most = LINK_EVEN_LEAST_NS;
    if ((even->after_ns - even->theirs_ns) / 2 > most)
        even->calm = 0;
    else if (even->calm < LINK_EVEN_CALM)
        even->calm++;
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
        even->calm = key < arrivals->newest ? 0 : even->calm; /* it is far behind */
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
