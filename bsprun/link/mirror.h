/* mirror.h - the data that ranks of one host publish, as blocks for the board of another; no I/O.
 *
 * A block announces that all ranks of its host have reached a stage of a barrier, and carries the
 * data that ranks of the receiving host may read then: at ARRIVED their lines, new names of source
 * files, their registration calls, and the parts of directory and outboxes for ranks there; at
 * REPLIED the replies; at MATCHED nothing more.  It consists of a head, made here, and data, which
 * are sent from their places and received into the same places of the other board.
 *
 * Sending: mirror_due tells that there is a stage to send; mirror_collect makes the block for each
 * host, mirror_collected advances.  The data of a block stay unchanged until all ranks here have
 * passed the barrier of the next superstep, which every host must reach first, and for that it
 * needs the block.
 *
 * Receiving: mirror_expect checks a head against layout and order and backs the places of the data
 * with memory; when they are filled, mirror_accept checks the chains in them and publishes
 * everything to the ranks, stamps last.  Invalid blocks of a peer give -EPROTO: nothing outside of
 * the places of its own ranks is ever written, and every chain ends.  The ranks check the records
 * in the chains.
 *
 * Where processes have replicas on several hosts (mirror_new_apart), each process is a source of
 * its own, named by its number instead of its host's: what it does at a stage is copied as a
 * content, head and data in one piece, of which parts are sent as blocks to those hosts that lack
 * it (mirror_content.c).  Since other hosts may be any number of supersteps ahead, or behind,
 * contents are applied when mirror_ready says so, and the ranks here pass a stage only when theirs
 * have been copied (mirror_open).
 */
#ifndef BSPRUN_MIRROR_H
#define BSPRUN_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "bsprun/link/place.h"
#include "lib/base/exact.h"
#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

struct mirror;
struct wire_traffic; /* lib/wire/wire.h */

BSPZ_EXACT_BEGIN

/* Numbers are in native byte order: hosts of a job have one architecture. */
struct mirror_head {
    uint32_t magic;
    uint32_t stage; /* enum bspz_stage */
    uint64_t superstep;
    uint64_t head_bytes; /* all of the head, this included */
    uint64_t data_bytes;
    uint32_t lines, names, areas, entries; /* so many follow, in this order, */
    uint64_t ranges;                       /* and so many of these */
    /* The sender's monotonic clock, and the least by which it was ahead of the receiver's when
     * blocks came from there (MIRROR_NO_CLOCK: none did): profiles compare times of all hosts. */
    uint64_t clock_ns;
    int64_t ahead_ns;
};

BSPZ_EXACT_END

#define MIRROR_NO_CLOCK      INT64_MAX
#define MIRROR_MAGIC         0x7a6d3031u
#define MIRROR_HEAD_MAX      (UINT64_C(1) << 30)
#define MIRROR_TRAFFIC_PAIRS 65536u /* of ranks among which messages are looked for: about 5 ms */

struct mirror_block {
    unsigned char *head;
    uint64_t head_bytes, data_bytes;
    struct iovec *data; /* the data, in order */
    uint64_t count;     /* of their pieces */
    void *content;      /* of malloc, or NULL: where the data are when they are on no board */
};

/* To be called when the processes wait in bsp_begin, or in the barrier of a restore: reads their
 * tables, and their hosts from board and slots.  NULL, and *error (-errno): invalid, or no
 * memory. */
struct mirror *mirror_new(int board_fd, int nprocs, int *error);
struct mirror *mirror_new_apart(int board_fd, int nprocs, int *error);
void mirror_free(struct mirror *mirror);

struct bspz_board *mirror_board(const struct mirror *mirror);

/* Whether the host has ranks: without, it gets no blocks and sends none. */
bool mirror_has(const struct mirror *mirror, uint32_t host);

/* Whether all ranks of this host have reached the next stage, which was not collected yet. */
bool mirror_due(const struct mirror *mirror, uint64_t *superstep, enum bspz_stage *stage);
/* All ranks of this host have reached a stage, it was collected, and some other host's has not
 * come: nothing happens here until it does. */
bool mirror_waits(const struct mirror *mirror);
/* Whether the ranks here take a snapshot at the end of that superstep, at whose barrier they are.
 */
bool mirror_captures(const struct mirror *mirror, uint64_t superstep);
/* Collects the block for `host`. 0, or -ENOMEM. */
int mirror_collect(struct mirror *mirror, uint32_t host, uint64_t superstep, enum bspz_stage stage,
                   struct mirror_block *block);
/* For all hosts. */
void mirror_collected(struct mirror *mirror, uint64_t superstep, enum bspz_stage stage);

/* Makes *block, whose data are the places to fill, of a head that came from `host`.  The head is
 * taken over (malloc) if the result is 0.  -EPROTO, or what the memory says (-ENOSPC, -ENOMEM). */
int mirror_expect(struct mirror *mirror, uint32_t host, unsigned char *head, uint64_t bytes,
                  struct mirror_block *block);
/* The data are all there.  0, or -EPROTO, or -ENOSPC, -ENOMEM. */
int mirror_accept(struct mirror *mirror, uint32_t host, const struct mirror_block *block);

/* What each rank of this host, all of which have arrived at the barrier that ends the superstep and
 * wait there, sends in it to those WIRE_TRAFFIC_EACH others, on any host, to which it sends most;
 * what they have got from it in the superstep before is included.  `pairs` has room for
 * mirror_traffic_most.  Returns their number; 0 also where ranks of this host by ranks of the job
 * are more than MIRROR_TRAFFIC_PAIRS. */
uint32_t mirror_traffic(const struct mirror *mirror, uint64_t superstep,
                        struct wire_traffic *pairs);
uint32_t mirror_traffic_most(const struct mirror *mirror);

void mirror_block_free(struct mirror_block *block);

/* ---- Contents, where processes are sources of their own ------------------------------------- */

/* All that the digest is made of, in the form of a content, which nobody applies: sizes of areas
 * stand where a content has their addresses. */
struct mirror_made {
    uint64_t most; /* with more bytes than that there is none */
    void *bytes;   /* of malloc; NULL: none, or no memory for it */
    uint64_t size;
};

/* The digest of all that a process of this host does at this stage which is the same in all of its
 * replicas: not times, nor addresses, nor decisions about barriers.  made: NULL, or what it is made
 * of is wanted.  0 or -ENOMEM. */
int mirror_digest(struct mirror *mirror, int pid, uint64_t superstep, enum bspz_stage stage,
                  uint64_t digest[2], struct mirror_made *made);
/* Copies it, as far as it concerns these `count` processes.  The bytes are of malloc.  0 or
 * -ENOMEM. */
int mirror_copy(struct mirror *mirror, int pid, uint64_t superstep, enum bspz_stage stage,
                const int *to, int count, void **bytes, uint64_t *size);
/* Makes a block of what of it is for those processes for which to[pid] is true: a head with
 * `before` bytes of zeros in front of it, which head_bytes does not count, and data that stay in
 * the content.  0 or -ENOMEM. */
int mirror_part(const void *bytes, const bool *to, uint64_t before, struct mirror_block *block);
/* Whether bytes of a peer have the form of a head with so many bytes of data behind it. */
bool mirror_is_head(const void *bytes, uint64_t head_bytes, uint64_t data_bytes);

/* All ranks here have reached the stage, and everything of it was copied: they may pass it. */
void mirror_open(struct mirror *mirror, uint64_t superstep, enum bspz_stage stage);
/* Whether the ranks of this host have come so far that the content may be applied. */
bool mirror_ready(const struct mirror *mirror, int pid, uint64_t superstep, enum bspz_stage stage);
/* Whether they have all passed the end of that superstep. */
bool mirror_is_past(const struct mirror *mirror, uint64_t superstep);
/* Whether a process of this host, which has arrived at that end, is at a safe point there
 * (lib/rt/safe_point.h). */
bool mirror_is_at_call(const struct mirror *mirror, int pid, uint64_t superstep);
/* Applies it.  As mirror_expect and mirror_accept. */
int mirror_apply(struct mirror *mirror, int pid, void *bytes, uint64_t size);
/* Adds this to the times in it. */
void mirror_shift(void *bytes, int64_t offset_ns);
/* Where two contents that came from different replicas differ first, or two of struct mirror_made
 * (`made`), whatever their bytes are.  False: nowhere, as far as that is compared. */
bool mirror_locate(const void *one, uint64_t one_size, const void *two, uint64_t two_size,
                   bool made, struct link_place *place);

#endif
