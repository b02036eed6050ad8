/* mirror_inside.h - what the parts of mirror.h share. */
#ifndef BSPRUN_MIRROR_INSIDE_H
#define BSPRUN_MIRROR_INSIDE_H

#include "bsprun/link/mirror.h"
#include "lib/base/buffer.h"
#include "lib/base/exact.h"
#include "lib/shm/exchange.h"

BSPZ_EXACT_BEGIN

/* ---- What follows struct mirror_head ---- */

/* A rank's line without its stamps. */
struct mirror_line {
    uint32_t flags;
    bspz_position position;
    uint64_t digest;
    uint32_t decision, sync_number;
    uint64_t warning;
    uint64_t sequence;
    struct bspz_trace trace;
};

struct mirror_name {
    uint32_t pid, index;
    char text[BSPZ_NAME_BYTES];
};

/* A registration made before the first block. */
struct mirror_area {
    uint32_t pid, slot;
    uint64_t base;
    uint32_t position, reserved;
};

/* An entry of the directory, and how many chunks its chains have. */
struct mirror_entry {
    uint32_t from, to;
    uint64_t first[BSPZ_KINDS];
    uint32_t chunks[BSPZ_KINDS];
};

/* Data: first the calls of registration of each rank that made some, then the chunks, entry by
 * entry and kind by kind. */
struct mirror_range {
    uint64_t offset, bytes;
};

BSPZ_EXACT_END

/* The parts of a head. */
struct mirror_parts {
    struct mirror_head *head;
    struct mirror_line *lines;
    struct mirror_name *names;
    struct mirror_area *areas;
    struct mirror_entry *entries;
    struct mirror_range *ranges;
};

/* ---- Memory of a rank of another host ---- */

/* An outbox half here: which of its granules, counted through the stretches, are backed. */
struct mirror_half {
    uint64_t *backed;
    uint64_t words;
    uint64_t held; /* bytes backed */
    uint64_t used; /* bytes of the last superstep */
    unsigned calm; /* consecutive times that little of it was used */
};

struct mirror_rank {
    struct mirror_half halves[2];
    uint64_t table; /* bytes of its table that are backed */
};

struct mirror_peer {
    uint32_t host; /* or, where each process is a source of its own, the process */
    int *pids;     /* ascending */
    int count;
    uint64_t next;         /* the superstep whose ARRIVED comes next */
    bool matched, replied; /* those stages of the previous one have arrived */
    /* Its clock: the least by which ours was ahead when a block came, and what is added to its
     * times to make them ours. */
    _Atomic int64_t ahead_ns;
    int64_t offset_ns;
};

struct mirror {
    struct bspz_board *board;
    int board_fd;
    int nprocs;
    bool apart; /* each process is a source of its own */
    uint64_t granule;
    struct mirror_peer own;
    struct mirror_peer *peers;
    uint32_t peer_count;
    const struct mirror_peer **source_of; /* [nprocs] */
    struct mirror_rank *ranks;            /* [nprocs] */
    struct mirror_names {
        uint32_t sent, now; /* of a rank here: number known to others, and after the next block */
    } * names;              /* [nprocs] */
    uint64_t names_noted;   /* superstep + 1 for which `now` was read */
    struct mirror_area *areas; /* what goes with the first block */
    uint32_t area_count;
    uint64_t first; /* the first superstep */
    uint64_t
        complete_ns; /* when the last barrier was; 0: it is not yet, or its time does not count */
    bool incomplete; /* ... and others are still to arrive */
};

/* Flags of a line that replicas may set otherwise. */
#define MIRROR_NOT_COMPARED (BSPZ_HAS_WARNING | BSPZ_HAS_MORE_WARNINGS)

/* False: the counts are inconsistent with the size. */
bool mirror_take_apart(const void *bytes, uint64_t size, struct mirror_parts *parts);

/* A block that is being made: of some processes of this host, for others. */
struct mirror_pile {
    struct bspz_buffer bytes;
    bool failed; /* the first failure is kept */
};

struct mirror_making {
    struct mirror *mirror;
    const int *from, *to;
    int from_count, to_count;
    uint64_t superstep;
    enum bspz_stage stage;
    struct mirror_pile head, ranges, data;
    uint64_t data_bytes;
};

/* Makes the head, whose clocks are for the caller to fill in, and the list of data.  0 or -ENOMEM.
 */
int mirror_make(struct mirror_making *making, struct mirror_block *block);

struct mirror_peer *mirror_peer_of(const struct mirror *mirror, uint32_t host);

/* Another host has arrived at a barrier. */
void mirror_note_arrival(struct mirror *mirror);

/* Backs any bytes of the board with memory. 0 or -errno. */
int mirror_back(const struct mirror *mirror, uint64_t offset, uint64_t bytes);
/* The same in an outbox half, which keeps track of it. */
int mirror_back_range(struct mirror *mirror, const struct mirror_range *range);
/* A slot of a rank's table. */
int mirror_back_area(struct mirror *mirror, int pid, uint32_t slot);
/* To be called before a rank's half is refilled: frees its memory if most of it was unused for a
 * while. */
void mirror_calm(struct mirror *mirror, int pid, uint64_t superstep);
/* Whether the range lies in that half of that rank, in one piece. */
bool mirror_in_half(const struct mirror *mirror, int pid, uint64_t superstep,
                    const struct mirror_range *range);

#endif
