/* pattern.h - who sends what to whom, the same for every peer, and the check that it arrived.
 *
 * Words and messages: each process has h of them and spreads them evenly over all others: run k of
 * process s goes to process (s+1+k) mod p.  So each process sends and receives h: a full
 * h-relation.  Word i of a run lands at place[i] of the receiver's array; different sources have
 * different runs there, so nothing collides.  Blocks: one to the right neighbour.
 */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

struct pattern {
    int pid;
    int nprocs;
    long words;     /* h */
    int64_t *place; /* where word i lands, counted in words */
};

/* The process that gets run k of process pid. */
static inline int pattern_target(const struct pattern *pattern, int k)
{
    return (pattern->pid + 1 + k) % pattern->nprocs;
}

/* The process whose run k comes to process pid. */
static inline int pattern_source(const struct pattern *pattern, int k)
{
    return (pattern->pid + 2 * pattern->nprocs - 1 - k) % pattern->nprocs;
}

/* How many runs there are, and where run k begins. */
static inline int pattern_runs(const struct pattern *pattern)
{
    return pattern->nprocs > 1 ? pattern->nprocs - 1 : 1;
}

static inline long pattern_begin(const struct pattern *pattern, int k)
{
    return pattern->words * k / pattern_runs(pattern);
}

/* Fills place[0..words): each run in order, or shuffled within itself, alike on every process. */
void pattern_place(struct pattern *pattern, bool scattered);

/* The value of word i of process pid. */
static inline int64_t pattern_value(int pid, long i)
{
    return ((int64_t)pid << 48) + i + 1;
}

/* Whether the array holds what the others sent by this pattern. */
bool pattern_arrived(const struct pattern *pattern, const int64_t *array);

/* Fills nwords words with the values of process pid, and tells whether they are there. */
void pattern_fill_block(int64_t *block, long nwords, int pid);
bool pattern_block_is(const int64_t *block, long nwords, int pid);

#endif
