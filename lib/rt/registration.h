/* registration.h - slots: the k-th push of every process names one area per process.
 *
 * A slot number is the same on all ranks because all issue the same sequence of pushes and pops;
 * sequence.c checks that at each barrier.  Every rank keeps its own areas in a table in shared
 * memory (so that a peer can copy directly) and finds the slot of an address through a private hash
 * table.  A popped address is never dereferenced.
 */
#ifndef BSPZ_RT_REGISTRATION_H
#define BSPZ_RT_REGISTRATION_H

#include "lib/rt/rt.h"
#include "lib/shm/exchange.h"

#pragma GCC visibility push(hidden)

enum bspz_slot_state {
    BSPZ_SLOT_FREE,
    BSPZ_SLOT_PUSHED, /* this superstep: usable from the next */
    BSPZ_SLOT_LIVE,
    BSPZ_SLOT_POPPED,    /* this superstep: usable until its end */
    BSPZ_SLOT_CANCELLED, /* pushed and popped in this superstep */
};

struct bspz_sequence {
    struct bspz_operation *operations;
    size_t count, room;
    uint64_t digest;
    bool null_pop;
};
extern struct bspz_sequence bspz_sequence;

extern struct bspz_area *bspz_areas; /* this rank's table */

struct bspz_lookup_cache {
    const void *base;
    uint32_t slot;
};
extern struct bspz_lookup_cache bspz_last_lookup;

void bspz_registration_begin(void);

struct bspz_area *bspz_areas_of(int pid);

/* The newest slot registered under `base` that is in effect; ends the job with a message if there
 * is none. */
uint32_t bspz_lookup_slow(const void *base, const char *function, int line, const char *file);

static inline uint32_t bspz_lookup(const void *base, const char *function, int line,
                                   const char *file)
{
    if (bspz_likely(base == bspz_last_lookup.base && base))
        return bspz_last_lookup.slot;
    return bspz_lookup_slow(base, function, line, file);
}

/* Ends the job unless this process registered at least `bytes` bytes under `base`, if only in this
 * superstep. */
void bspz_check_own_area(const void *base, uint64_t bytes, const char *function, int line,
                         const char *file);

/* Adds one call to the sequence. */
struct bspz_operation *bspz_sequence_add(enum bspz_operation_kind kind, uint32_t slot,
                                         int64_t value, bspz_position position,
                                         const char *function, int line, const char *file);

/* After all ranks' sequences were found equal: pushes and pops take effect, in program order. */
void bspz_registration_apply(void);

/* sequence.c: copies the superstep's pushes, pops and tag sizes, of which there is at least one, to
 * where the others can compare them; returns BSPZ_HAS_* flags for this rank's line. */
uint32_t bspz_sequence_seal(uint64_t superstep, int line, const char *file);
/* sequence.c: compares this superstep's sequences of all ranks (only called when a digest differs
 * or a rank popped NULL); resolves NULL pops; ends the job when they cannot be matched. */
void bspz_sequence_match(uint64_t superstep, int line, const char *file);

/* Ends the job: an access of rank `caller` leaves the area that `owner` registered. */
BSPZ_COLD BSPZ_NORETURN void bspz_fail_bounds(const char *function, int caller,
                                              bspz_position position, int owner,
                                              const struct bspz_area *area, uint64_t offset,
                                              uint64_t bytes);

/* BSP_COMPAT=oxford: a negative offset is valid if it reaches another area of the owner. */
BSPZ_COLD bool bspz_reaches_other_area(int owner, const struct bspz_area *area, uint64_t offset,
                                       uint64_t bytes);

/* Whether [offset, offset + bytes) lies inside the area.  `bytes` up to 2^63 - 1. */
static inline bool bspz_fits(int owner, const struct bspz_area *area, uint64_t offset,
                             uint64_t bytes)
{
    return bspz_likely(bytes <= area->bytes && offset <= area->bytes - bytes) ||
           bspz_reaches_other_area(owner, area, offset, bytes);
}

#pragma GCC visibility pop

#endif
