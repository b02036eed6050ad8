/* stops.h - where the processes of a host that have replicas stop at their calls, barrier by
 * barrier: what Processor Zero has said, and what is to be answered.  Pure.
 *
 * Happy path: HALT for the superstep in which the processes of this host are -> the service holds
 * them (service.h) -> HALTED -> HALT_AT: they are told where to stop -> they pass the barrier, and
 * go on.
 *
 * Processes here may still be on their way to an earlier barrier that others have passed.  What is
 * said of later ones is kept until they come there; as they make no request that none has made
 * before, how far they are is said at once.
 *
 * What can fail: no memory.
 */
#ifndef BSPRUN_DATASPACE_STOPS_H
#define BSPRUN_DATASPACE_STOPS_H

#include <stdbool.h>
#include <stdint.h>

struct dataspace;
struct stops;

/* What is known of one of them. */
struct stops_one {
    uint64_t superstep;       /* that ends with it */
    uint64_t round;           /* of the question, or its answer */
    const uint64_t *requests; /* of each process: how far it is, or the last one before it stops */
};

/* Calls back. */
struct stops_calls {
    /* Processes here are to stop in that superstep when they have finished these requests.  They
     * see it before their next ones are withdrawn. */
    void (*stop)(void *context, const struct stops_one *stop);
    /* Whether the process is here, and the superstep in which it is. */
    bool (*where)(void *context, uint32_t pid, uint64_t *superstep);
};

/* calls: as long as the stops.  NULL: no memory. */
struct stops *stops_open(struct dataspace *space, uint32_t nprocs, const struct stops_calls *calls,
                         void *context);
/* Harmless for NULL. */
void stops_close(struct stops *stops);

/* The superstep in which the first process of this host is.  The others have come to the barrier
 * before it as well, and leave it one by one: they make no request of an earlier superstep.  A host
 * without processes is past all, and keeps the newest HALT_AT only. */
uint64_t stops_present(const struct stops *stops);

/* HALT and HALT_AT.  Links are in order, so HALT_AT is that of the newest HALT.  Another Processor
 * Zero says again what a former one has said, also to hosts that had heard it, or were not asked.
 * False: no memory. */
bool stops_ask(struct stops *stops, uint64_t superstep, uint64_t round);
bool stops_set(struct stops *stops, const struct stops_one *at);
/* Processes may have passed barriers: before each request is made.  Repeated calls are harmless. */
void stops_passed(struct stops *stops);
/* The next HALTED that can be said now, which is said then; NULL: none.  Valid until the next of
 * these calls. */
const struct stops_one *stops_answer(struct stops *stops);
/* The newest HALT_AT, for another Processor Zero; NULL: none has come.  That is the only one that
 * another host may lack: Processor Zero asks of no superstep before all have answered of the one
 * before. */
const struct stops_one *stops_newest(const struct stops *stops);
/* Whether the barrier of the newest HALT_AT, in that superstep, is not among the first `decided`:
 * somebody may wait there for processes of this host, whether or not these have come that far. */
bool stops_awaited(const struct stops *stops, uint64_t decided, uint64_t *superstep);

#endif
