/* gets.h - h gets of 8 bytes from all processes in turn, the own one too, the same for every peer.
 *
 * Each process has words[] of h values; get i asks one for its word i.  What comes lies in the
 * order
 *
 *   rows          all gets from one process, then those from the next; one behind the other
 *   interleaved   from another process each time; those of a process together, so that each get
 * goes elsewhere than behind the one before shuffled      from another process each time, to places
 * all over the memory
 */
#ifndef BENCH_GETS_H
#define BENCH_GETS_H

#include <stdbool.h>
#include <stdint.h>

enum gets_kind { GETS_ROWS, GETS_INTERLEAVED, GETS_SHUFFLED, GETS_KINDS };

struct get {
    int32_t owner;
    int64_t to; /* where its word i goes; i is the number of the get */
};

extern const char *const gets_lines[GETS_KINDS];

/* Fills gets[0..count). */
void gets_make(struct get *gets, long count, enum gets_kind kind, int nprocs);

/* Whether array has what these gets bring, where process q has pattern_value(q, i) in words[i]. */
bool gets_arrived(const struct get *gets, long count, const int64_t *array);

#endif
