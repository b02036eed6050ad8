/* link_replicas.h - links between hosts whose processes have replicas: what replica_set.h decides
 * and mirror.h copies, as blocks of the connections.  All with the lock held, but for
 * links_replicas_report and links_replicas_report_last.
 *
 * A block begins with a head of its own.  It is either a content, whose mirror_head follows, with
 * its data; or a list of notes; or an account, all of which is in the head. */
#ifndef BSPRUN_LINK_REPLICAS_H
#define BSPRUN_LINK_REPLICAS_H

#include "bsprun/link/link_inside.h"
#include "bsprun/link/replica_set.h"

BSPZ_EXACT_BEGIN

enum { REPLICA_HEAD_CONTENT, REPLICA_HEAD_NOTES, REPLICA_HEAD_ACCOUNT };

/* As long as a mirror_head, with the sizes at the same places. */
struct replica_head {
    uint32_t magic, kind;
    uint64_t pid;        /* of a content or account */
    uint64_t head_bytes; /* all of the head, this and what follows included */
    uint64_t data_bytes;
    uint64_t key; /* of a content or account; of notes: as after_ns in struct link_even */
    struct replica_digest digest;
    uint64_t count; /* of notes; of a content: `twin` of struct replica_copy_facts */
    uint64_t large; /* of a content: 1: as in struct replica_copy_facts */
};

BSPZ_EXACT_END

_Static_assert(sizeof(struct replica_head) == sizeof(struct mirror_head) &&
                   offsetof(struct replica_head, head_bytes) ==
                       offsetof(struct mirror_head, head_bytes),
               "the reader finds the size of either");

#define REPLICA_MAGIC 0x7a723031u

struct link_replicas;

/* Copies the setup, and makes the mirror of the board.  Hosts without a link, and those whose links
 * are broken, count as lost.  0 or -errno. */
int link_replicas_new(struct links *links, int board_fd, int nprocs,
                      const struct links_replicas *setup, struct link_replicas **made,
                      struct mirror **mirror);
/* Links must have been cut before. */
void link_replicas_free(struct links *links);

/* All ranks here have reached the stage: copies what they have published.  0 or -ENOMEM. */
int link_replicas_collect(struct links *links, uint64_t superstep, enum bspz_stage stage);
/* The ranks here may pass the stage, and what has come is applied if it is time. */
void link_replicas_pass(struct links *links, uint64_t superstep, enum bspz_stage stage);

/* As links_know_stop; then links_answer. */
void link_replicas_know_stop(struct links *links, uint64_t superstep, uint64_t round);

/* Adds blocks to those that wait on the link, once all before have been written; false: there are
 * none. */
bool link_replicas_fill(struct link *link);
/* Whether there is something that is not to wait for the next stage; what has been written is
 * forgotten. */
bool link_replicas_is_urgent(struct link *link);
/* The link was cut. */
void link_replicas_lost(struct link *link);

/* A head has come, and is taken over if the result is 0; then its data have.  As mirror_expect and
 * mirror_accept. */
int link_replicas_expect(struct link *link, unsigned char *head, uint64_t bytes,
                         struct mirror_block *block);
int link_replicas_accept(struct link *link, struct mirror_block *block);

/* By the loop, without the lock: calls `mismatch` and `behind`. */
void links_replicas_report(struct links *links);
/* The same, only for what has been seen. */
void links_replicas_report_last(struct links *links);

#endif
