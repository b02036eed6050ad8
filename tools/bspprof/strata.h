/* strata.h - the supersteps of a profile, gathered into as many steps as a picture can show. Pure.
 *
 * A step of the picture stands for `per` supersteps that follow each other: for one, until there
 * are more than STRATA_STEPS of them, and then for two, four, and so on.  Processes are gathered as
 * well, into at most STRATA_BANDS bands of processes that follow each other.  So the memory that is
 * taken does not grow with the profile. */
#ifndef BSPPROF_STRATA_H
#define BSPPROF_STRATA_H

#include "tools/profile/profile.h"

#define STRATA_STEPS 4096u
#define STRATA_BANDS 32u

/* Times in nanoseconds; h in words of 32 bits, the most of a process, summed over supersteps. */
struct strata_sums {
    uint64_t supersteps;
    uint64_t computing; /* from the end of one superstep until the last process calls bsp_sync */
    uint64_t waiting;   /* the part of it that a process waited, in the mean */
    uint64_t communicating; /* until the last one has returned from it */
    uint64_t h;
    uint64_t bytes; /* out of all processes */
};

struct strata_step {
    struct strata_sums sums;
    uint64_t first;      /* superstep */
    uint64_t start, end; /* end of the superstep before the first; end of the last */
    uint64_t h_most;     /* of a superstep */
    uint64_t costliest;  /* superstep, and what it took */
    uint64_t costliest_took;
    uint32_t statement;                           /* that ended the costliest */
    uint64_t in[STRATA_BANDS], out[STRATA_BANDS]; /* bytes */
};

struct strata {
    uint32_t ranks, bands;
    uint64_t per;              /* supersteps of a step; the last one may have fewer */
    uint32_t count;            /* steps */
    bool spread;               /* waiting is known: there was a line w */
    struct strata_step *steps; /* [STRATA_STEPS], owned */
};

/* False: out of memory.  Takes 3 MiB. */
bool strata_begin(struct strata *strata, uint32_t ranks);
void strata_free(struct strata *strata);

/* The first process of a band; that of the band behind the last is the number of processes. */
uint32_t strata_band(const struct strata *strata, uint32_t band);

/* The h-relation of a superstep, in words, rounded up. */
uint64_t strata_h(const struct traffic *traffic, uint32_t ranks);

/* Adds a superstep of that number; h is that of strata_h. */
void strata_add(struct strata *strata, uint64_t number, const struct profile_superstep *step,
                const struct traffic *traffic, uint64_t h);

/* A mean process waited for so long, before it communicated, in the superstep added last. */
void strata_waited(struct strata *strata, uint64_t waiting);

/* Gathers further, into at most so many steps. */
void strata_shrink(struct strata *strata, uint32_t most);

/* Adds the sums of `part` to `sums`. */
void strata_sum(struct strata_sums *sums, const struct strata_sums *part);

#endif
