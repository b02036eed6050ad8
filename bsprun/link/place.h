/* place.h - where what two replicas of a process have communicated differs first. */
#ifndef BSPRUN_LINK_PLACE_H
#define BSPRUN_LINK_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/shm/board.h"

enum link_place_what {
    LINK_PLACE_NONE,  /* it is not known */
    LINK_PLACE_CHAIN, /* of records */
    LINK_PLACE_CALL,  /* a registration, its end, or a size of tags */
    LINK_PLACE_AREA,  /* a registration before the first superstep */
    LINK_PLACE_SYNC   /* how and where the superstep ends */
};

struct link_place {
    uint32_t what; /* enum link_place_what */
    uint32_t kind; /* enum bspz_kind of the chain, or enum bspz_operation_kind of the call */
    uint32_t to;   /* destination of the chain */
    uint64_t at;   /* the byte in the chain; of a call or area: which of the superstep, from 0 */
    /* CHAIN: whether the record there could be read; what follows is its, as the first of the two
     * replicas has it unless that has none.  0 where there is no such thing. */
    bool known;
    uint32_t slot;          /* of the area */
    uint64_t offset, bytes; /* of the call in the record; of a message its payload; of a tag size,
                             * or a registration (LINK_PLACE_NO_SIZE: not known) its size */
    uint64_t tag_bytes;     /* of a message */
    bspz_position position; /* of the call */
};

#define LINK_PLACE_NO_SIZE UINT64_MAX

/* "puts for process 2, at byte 24 (slot 1, offset 8, 16 bytes, at heat.c:40)".  The names of source
 * files are those of that process, as far as the board has them. */
void link_place_text(const struct bspz_board *board, int nprocs, int pid,
                     const struct link_place *place, char *text, size_t size);

#endif
