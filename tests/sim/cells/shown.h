/* shown.h - bsprun's part in the made-up world of cells: what it shows of the output of all
 * replicas.
 *
 * The real order.h and first_output.h.  What must hold: of each process each line is shown once, in
 * order, supersteps one after the other; and what has come is not kept back although it could be
 * shown.
 */
#ifndef SIM_SHOWN_H
#define SIM_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

struct timeline;

/* timeline: to fail by. */
void shown_begin(struct timeline *timeline, uint32_t hosts, uint32_t term);
void shown_end(void);

/* Whether a process writes a line in that superstep. */
bool shown_writes(uint32_t pid, uint64_t superstep);

/* ---- What bsprun hears ---- */
void shown_replica(uint32_t host, uint32_t lead);
void shown_line(uint32_t host, uint32_t pid, uint64_t superstep);
void shown_mark(uint32_t host, uint64_t snapshot);
void shown_passed(uint32_t host, uint64_t superstep);
void shown_idle(uint32_t host);
void shown_lost(uint32_t host);

/* Whether bsprun asks all hosts to say when they have passed a superstep. */
bool shown_asks(uint64_t *superstep);

/* Nothing more comes.  whole: the job has ended well, in that superstep. */
void shown_check(uint32_t processes, uint64_t last, bool whole);
/* Lines shown by now, in this and all worlds before. */
uint64_t shown_count(void);

#endif
