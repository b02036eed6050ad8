/* wanted_moves.h - processes that are to be on certain hosts from the next term on.
 *
 * They are wanted until a term that has them there commits a snapshot: the frozen copies of an
 * earlier one are where the processes were before.
 */
#ifndef BSPRUN_WANTED_MOVES_H
#define BSPRUN_WANTED_MOVES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/wire/wire.h"

/* All zero: none. */
struct wanted_moves {
    struct wire_move *items; /* owned */
    uint32_t count;
    uint32_t asked_in; /* term, of the newest */
};

/* In the term; replaces an earlier one of that process.  False: no memory. */
bool wanted_moves_add(struct wanted_moves *moves, uint32_t term, struct wire_move move);
/* What Processor Zero has decided in the term, of which it is over now: replaces earlier ones of
 * these processes, unless the user has asked for places since the term began.  The user does not
 * know of the decision, and others that are placed together with a process count as much as that
 * process itself.  How many are added. */
uint32_t wanted_moves_decided(struct wanted_moves *moves, uint32_t term,
                              struct wire_move_list decided);
/* The user has asked in the term for all to be placed anew. */
void wanted_moves_place_anew(struct wanted_moves *moves, uint32_t term);
/* Whether that process is to be on another host. */
bool wanted_moves_elsewhere(const struct wanted_moves *moves, struct wire_move move);
/* For ELECT; valid until the next change. */
struct wire_move_list wanted_moves_list(const struct wanted_moves *moves);
/* The term has committed a snapshot. */
void wanted_moves_saved(struct wanted_moves *moves, uint32_t term);
void wanted_moves_free(struct wanted_moves *moves);

#endif
