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

#define LINK_EVEN_ARRIVALS 8u /* of this host that are remembered */
/* Barriers in time before it is even: at first and after one that was not; when it is late again
 * and again. */
#define LINK_EVEN_FIRST    8u
#define LINK_EVEN_CALM     64u
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
    unsigned calm;                /* barriers in time, 2 LINK_EVEN_CALM at most */
    unsigned apart;               /* of them before it is even again, when it is late next */
    bool ever;                    /* it has been even */
};

void link_even_begin(struct link_even *even);

/* This host has come to that barrier. */
void link_arrivals_add(struct link_arrivals *arrivals, uint64_t key, uint64_t now_ns);

/* To be called after link_arrivals_add: the other one was first. */
void link_even_came(struct link_even *even, const struct link_arrivals *arrivals, uint64_t now_ns);
/* What the other one says of itself: its after_ns. */
void link_even_told(struct link_even *even, int64_t after_ns);
/* The other one says that it has come to that barrier. */
void link_even_heard(struct link_even *even, const struct link_arrivals *arrivals, uint64_t key,
                     uint64_t now_ns);

/* Whether it comes to barriers when this host does; from the beginning: not. */
bool link_even_is(const struct link_even *even);

#endif
