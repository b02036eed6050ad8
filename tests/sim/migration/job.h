/* job.h - a bulk-synchronous job on desktop nodes, simulated by SimGrid: the parts of the program
 * and what they share.  main.c has the options, platform.c the nodes, watch.c what is measured and
 * decided, job.c the ranks. */
#ifndef SIM_MIGRATION_JOB_H
#define SIM_MIGRATION_JOB_H

#include <simgrid/host.h>
#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/balance.h"

#define CLUSTERS     10u
#define NODES_EACH   15u
#define NODES        (CLUSTERS * NODES_EACH)
#define RANKS_MOST   128u
#define LEAST        30u /* percent of a node that is available */
#define MOST         99u

/* The lattice: D2Q9, two copies of nine doubles for each of 4096 x 4096 sites, in blocks of whole
 * columns; the halo to the right neighbour is three of nine populations of one column. */
#define SITES        (4096.0 * 4096.0)
#define SITE_FLOPS   250.0
#define SITE_BYTES   (2 * 9 * 8.0)
#define HALO_BYTES   (4096 * 3 * 8.0)

#define MOVE_SECONDS 0.05 /* of a move besides the transfer of the image: stop, restore, go on */

enum mode {
    MODE_OFF,  /* nothing is measured, decided or moved */
    MODE_LOOK, /* measured and decided, but nothing is moved */
    MODE_ON,
};

enum placing {
    PLACE_MIXED, /* nodes in a random order */
    PLACE_BEST,  /* the quickest first */
};

enum owners {
    OWNERS_ALIKE, /* availability of all nodes from LEAST to MOST; agents of all nodes measure it */
    OWNERS_UNKNOWN, /* half of the owners leave little: TAKEN; only nodes with ranks measure it */
    OWNERS_KNOWN,   /* the same, and earlier jobs have measured it */
};
#define TAKEN 60u /* percent of a node that is available at most, whose owner leaves little ... */
#define LEFT  70u /* ... and at least of all others */

struct options {
    uint32_t ranks, supersteps;
    uint64_t seed;
    enum mode mode;
    enum placing placing;
    enum owners owners;
    double speeds;  /* of the quickest cluster by the slowest one */
    uint32_t hold;  /* supersteps for which availability stays as it is */
    uint32_t leave; /* a node with a rank leaves after this superstep; 0: none does */
    struct balance_rule rule;
};

/* A number from 0 to 1 that depends on nothing but the seed and these. */
double chance_of(uint64_t seed, uint64_t one, uint64_t other);

/* ---- platform.c ---- */

struct node {
    sg_host_t host;
    double speed, memory; /* flop/s when all of it is available; bytes */
};

/* Starts SimGrid with the nodes of this job.  Ends the program if it cannot. */
void platform_begin(const char *program, const struct options *options, struct node nodes[NODES]);

/* The percentage of the node that is available in that superstep, counted over restarts. */
uint32_t platform_available(const struct options *options, uint32_t node, uint64_t superstep);
/* The least and the most of it. */
void platform_bounds(const struct options *options, uint32_t node, uint32_t *least, uint32_t *most);
void platform_set_available(const struct node *node, uint32_t percent);

/* ---- watch.c ---- */

struct watch;

struct watch *watch_begin(const struct options *options, const struct node *nodes);
void watch_free(struct watch *watch);

/* What the agents see of a superstep of ranks on these nodes. */
void watch_superstep(struct watch *watch, const uint32_t *homes, uint64_t superstep,
                     double seconds);
void watch_leaving(struct watch *watch, uint32_t node);

/* The production decision for ranks on these nodes. */
const struct balance_answer *watch_decide(struct watch *watch, const uint32_t *homes,
                                          uint64_t superstep);

/* The decided moves took so long. */
void watch_moved(struct watch *watch, double seconds);

/* ---- job.c ---- */

#define MARKS 8u

struct result {
    double seconds;
    double at[MARKS];        /* when so many supersteps were done */
    double deciding, moving; /* seconds for which the job stood still */
    uint32_t moves, looks, restarts;
};

extern const uint32_t job_marks[MARKS];

/* Runs the job to its end. */
struct result job_run(const struct options *options, const struct node *nodes);

#endif
