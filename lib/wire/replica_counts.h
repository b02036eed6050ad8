/* replica_counts.h - how many replicas each process has.  Pure. */
#ifndef WIRE_REPLICA_COUNTS_H
#define WIRE_REPLICA_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/wire.h"

#define REPLICA_RUNS_MAX WIRE_REPLICA_RUNS_MAX
#define REPLICA_WHY      240u                     /* bytes of a message, and of a text */
#define REPLICA_TEXT     (REPLICA_RUNS_MAX * 24u) /* of replica_counts_text, at most */

/* The processes from a pid up to that of the next run, the first one of which begins with pid 0. */
struct replica_run {
    uint32_t first, replicas;
};

struct replica_counts {
    uint32_t count; /* of runs; 0: each process has one replica */
    uint32_t named; /* 1 more than the highest pid of a list; 0: it is one number for all */
    struct replica_run runs[REPLICA_RUNS_MAX];
};

/* Reads "2", for all processes, or "0=3,1-7=2", by which those that are not named have one.  False
 * with a message: what is wrong with which part, and what to give. */
bool replica_counts_parse(struct replica_counts *counts, const char *text, char why[REPLICA_WHY]);
/* The same in its shortest form: "2", "0=3,1-7=2".  Returns `text`. */
const char *replica_counts_text(const struct replica_counts *counts, char text[REPLICA_TEXT]);

/* The same number for all. */
struct replica_counts replica_counts_all(uint32_t replicas);
uint32_t replica_counts_of(const struct replica_counts *counts, uint32_t pid);
/* The greatest of the first so many processes, UINT32_MAX: of all that there can be. */
uint32_t replica_counts_most(const struct replica_counts *counts, uint32_t processes);
/* The fewest hosts for so many processes: those with as many replicas share theirs. */
uint32_t replica_counts_hosts(const struct replica_counts *counts, uint32_t processes);
bool replica_counts_same(const struct replica_counts *a, const struct replica_counts *b);

/* In messages: each run as its first pid and its number; empty: one of each. */
struct wire_numbers replica_counts_list(const struct replica_counts *counts,
                                        uint64_t numbers[2 * REPLICA_RUNS_MAX]);
/* False: no such list can be. */
bool replica_counts_take(struct replica_counts *counts, const struct wire_numbers *list);

#endif
