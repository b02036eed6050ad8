/* link_replicas_inside.h - what the parts of link_replicas.h share. */
#ifndef BSPRUN_LINK_REPLICAS_INSIDE_H
#define BSPRUN_LINK_REPLICAS_INSIDE_H

#include "bsprun/link/link_even.h"
#include "bsprun/link/link_replicas.h"

#define LINK_NO_HOME UINT32_MAX

struct replica_clock {
    int64_t ahead_ns; /* the least by which ours was ahead; MIRROR_NO_CLOCK */
};

/* What the loop is to be told. */
struct replica_report {
    struct replica_report *next;
    bool is_behind;
    struct links_mismatch mismatch;
    uint32_t host; /* behind */
    uint64_t superstep;
    int error; /* -errno: the host is this one, and not too far behind */
};

struct link_replicas {
    struct links *links;
    struct replica_set *set;
    uint32_t home_count, own, nprocs;
    uint32_t *hosts; /* [home_count] */
    struct replica_clock *clocks;
    struct link_even *evens; /* [home_count] of those with the same processes */
    struct link_arrivals arrivals;
    bool *lives;   /* [home_count][nprocs] */
    int **needers; /* [nprocs] of a process here: for which processes its contents are copied */
    int *needer_counts;
    struct replica_report *reports, **tail;
    struct replica_awaited {
        bool any, arrived;
        uint64_t key; /* of the arrival at the end of the superstep */
    } awaited;        /* the agent waits to be sure of a snapshot */
    struct replica_stop {
        bool any;
        uint64_t superstep, round;
    } stop; /* the newest of which this host has heard */
    /* The stage that the ranks here have reached and may not pass yet. */
    bool waits;
    uint64_t superstep;
    enum bspz_stage stage;
    /* link_turn.c */
    uint64_t turn_ns;     /* as in the setup */
    int turn_fd;          /* a timer; -1: none */
    uint64_t turn_due_ns; /* when it expires; 0: it is not set */
};

/* [nprocs]: which processes live there. */
static inline bool *link_replicas_on(const struct link_replicas *replicas, uint32_t home)
{
    return replicas->lives + (size_t)home * replicas->nprocs;
}

#endif
