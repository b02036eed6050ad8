/* run.h - what the commands that show profiles know of a run: everything that a picture or a table
 * of it needs, gathered while the profile is read once.  The memory grows with the statements only.
 *
 * What can fail: the file, see tools/profile/profile.h; memory. */
#ifndef BSPPROF_RUN_H
#define BSPPROF_RUN_H

#include "tools/bspprof/strata.h"

#define RUN_TOP   200u  /* supersteps that are kept one by one, of each order */
#define RUN_MARKS 2000u /* snapshots and restores that are kept; further ones are counted */

/* A superstep by itself; times as in strata_sums. */
struct run_superstep {
    uint64_t number, start, computing, waiting, communicating, h, bytes;
    uint32_t statement;
};

/* The greatest so many by one order; a heap with the smallest of them first. */
struct run_top {
    struct run_superstep items[RUN_TOP];
    uint32_t count;
};

struct run_statement {
    struct strata_sums sums;
    uint64_t longest; /* of its supersteps */
};

struct run_section {
    uint64_t from, to; /* nanoseconds: only supersteps that end after and begin before these */
};

struct run {
    const char *name; /* of the file */
    struct profile_file file;
    struct run_section section;
    struct strata strata;
    struct strata_sums all;
    struct traffic *ranks;            /* [ranks] bytes of each process, owned */
    struct run_top costliest, uneven; /* by time; by waiting */
    struct run_statement *statements; /* [file.profile.statement_count], owned */
    size_t statement_room;
    struct profile_mark marks[RUN_MARKS];
    uint64_t mark_count; /* also those that were not kept */
    struct run_superstep newest;
};

/* Told of each superstep that is in the section.  False ends the reading, with `error` filled. */
typedef bool run_told(void *context, const struct run_superstep *superstep,
                      char error[PROFILE_ERROR]);

/* Told of each call stack. */
typedef bool run_told_stack(void *context, const struct profile_stack *stack,
                            char error[PROFILE_ERROR]);

struct run_calls {
    run_told *superstep; /* each may be NULL */
    run_told_stack *stack;
    void *context;
};

/* Reads the profile.  On failure false and `error`.  Free it in any case. */
bool run_read(const char *name, struct run_section section, const struct run_calls *calls,
              struct run *run, char error[PROFILE_ERROR]);
void run_free(struct run *run);

/* Puts the items of both orders together, each once, by their numbers, into `items` (room for 2 *
 * RUN_TOP); returns how many. */
uint32_t run_single(const struct run *run, struct run_superstep *items);

#endif
