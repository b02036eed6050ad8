/* machine.h - a machine that is described by a SimGrid platform file, and a BSP job on it.
 *
 * A superstep has three parts, one after the other: all processes compute, the last one ends the
 * part; all messages are sent, at the same time; and the barrier, a message of 64 bytes from each
 * process to process 0, and one back to each.
 *
 * Network and processors are as the file says: latencies and bandwidths without what TCP adds to
 * them.  The same file and supersteps give the same times.
 *
 * SimGrid ends the program when it cannot go on: see guard.h. */
#ifndef BSPSIM_MACHINE_H
#define BSPSIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/profile/traffic.h"

#define MACHINE_ERROR 512u
#define MACHINE_DOING 320u

struct machine_request {
    const char *platform; /* a file */
    const char *hosts;    /* "a,b,c": these, in this order; NULL: all, in the order of their names,
                             in which numbers count as numbers */
    uint32_t host_count;  /* so many of them; 0: all */
    uint32_t per_host;    /* processes on each; 0: one per core */
    uint32_t ranks;       /* more than fit begin with the first host again */
};

struct machine_facts {
    uint32_t hosts, hosts_used; /* those that processes may be placed on, and are */
    uint32_t most_on_host;
    bool crowded;    /* a host has more processes than cores */
    bool steady;     /* the file says of nothing that it changes while the job runs */
    double speed;    /* flop/s of a core of the first host */
    char first[128]; /* its name, cut if it is longer */
    double g;        /* seconds per byte: a ring in which each sends and receives 1 MiB */
    double l;        /* seconds of a superstep in which that is 0, barrier included */
};

/* Seconds of a superstep. */
struct machine_parts {
    double computing, communicating, synchronising;
    double
        waiting; /* part of `computing`: what a process waits in it for the slowest, on average */
};

/* What the processes of a superstep do. */
struct machine_work {
    double flops; /* each of them */
    const struct traffic *traffic;
};

enum machine_next {
    MACHINE_GO_ON,
    MACHINE_COMPUTE, /* no messages and no barrier */
    MACHINE_STOP     /* without this work */
};

/* Is called with the facts known so far (no g and l), stores the next work, which must stay until
 * the next call, and in `parts` finds what the work before took; NULL in the first call. */
typedef enum machine_next machine_source(void *context, const struct machine_facts *facts,
                                         const struct machine_parts *parts,
                                         struct machine_work *work);

/* Whether this program has been built with SimGrid; without it machine_run fails. */
bool machine_is_there(void);

/* Runs the job.  While SimGrid does what it may end the program for, `doing` says what that is, and
 * is empty else.  On failure false and `error`.  Once in the life of a process. */
bool machine_run(const struct machine_request *request, machine_source *source, void *context,
                 struct machine_facts *facts, char doing[MACHINE_DOING], char error[MACHINE_ERROR]);

#endif
