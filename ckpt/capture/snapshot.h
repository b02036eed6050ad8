/* snapshot.h - the state of this process while it is captured; private to this directory. */
#ifndef CKPT_CAPTURE_SNAPSHOT_H
#define CKPT_CAPTURE_SNAPSHOT_H

#include "ckpt/capture/arena.h"
#include "ckpt/capture/attributes.h"
#include "ckpt/capture/capture.h"
#include "ckpt/capture/descriptors.h"
#include "ckpt/capture/maps.h"
#include "ckpt/capture/pending.h"
#include "ckpt/capture/thread.h"

#define BSPZ_PAGE          4096u
#define BSPZ_FORK_STACK    (64u << 10)
#define BSPZ_MEMORY_BYTES  (2u << 20)

#define BSPZ_APART_VERSION 1u /* of the image's list of struct bspz_range */

struct bspz_memory;  /* of the last snapshot's mappings */
struct bspz_tracker; /* of the kernel's record of pages written to: see track.c */

/* A mapping, or the part of one that is to be saved. */
struct bspz_piece {
    const struct bspz_map *map;
    uint64_t start;
    uint64_t end;
    uint64_t save_from; /* below it lies the unused part of a stack */
    uint64_t now_at;    /* where its bytes can be read: start, or a copy made before a fork */
    uint32_t kind;      /* BSPZ_REGION_* */
    bool excluded;      /* by a rule of the user: its contents are not saved */
    bool elsewhere;     /* common memory whose contents another piece or process saves */
    const uint64_t
        *written;    /* a bit for each page: not known to be as in the base; NULL: none is */
    uint64_t unused; /* keeps the size a multiple of 16 */
};

struct bspz_snapshot {
    const struct bspz_capture_options *options;
    struct bspz_arena arena;
    struct bspz_thread thread;
    struct bspz_attributes attributes;
    long dumpable; /* as bspz_dumpable_begin found it */
    struct bspz_maps maps;
    struct bspz_descriptors descriptors;
    struct bspz_pendings pendings;
    struct bspz_piece *piece; /* ascending */
    uint32_t piece_count;
    void *writer_scratch;
    void *stack_top;
    void *fork_stack_top; /* two stacks of BSPZ_FORK_STACK bytes */
    struct bspz_memory *memory;
    struct bspz_tracker *tracker;
    bool from_memory;        /* the mappings' flags are those of an earlier snapshot */
    _Atomic uint32_t *stale; /* what a copy has found of those: see maps_cache.c */
    uint64_t mask;           /* signals that were blocked before */
    char *why;               /* BSPZ_WHY_SIZE bytes */
};

/* Returns an empty snapshot in the scratch memory of this process, which is made upon first use;
 * NULL: no memory.  Contents of an earlier snapshot are lost. */
struct bspz_snapshot *bspz_snapshot_begin(const struct bspz_capture_options *options, char *why);
/* To be called after a restore, when the scratch memory no longer exists. */
void bspz_snapshot_forget(void);
struct bspz_range bspz_snapshot_memory(void);

/* Reads everything and checks that it can be captured; signals must be blocked.  quick: the
 * mappings' flags may be those of an earlier snapshot; the copy that is made then must confirm
 * them.  -EBUSY: refused. */
int bspz_snapshot_read(struct bspz_snapshot *snapshot, bool quick);
int bspz_snapshot_read_maps(struct bspz_snapshot *snapshot, bool quick);
int bspz_snapshot_confirm(struct bspz_snapshot *snapshot);
/* In the process itself, which has written its image: whether the flags are as they were taken to
 * be.  -EAGAIN: they are not, and the next snapshot reads them. */
int bspz_snapshot_verify(struct bspz_snapshot *snapshot);

/* Cuts the mappings into pieces, without excluded ranges. */
int bspz_snapshot_cut_maps(struct bspz_snapshot *snapshot);

/* Determines which pieces of common memory are saved, and whether all of it is. */
void bspz_common_mark(struct bspz_snapshot *snapshot);
bool bspz_common_complete(const struct bspz_snapshot *snapshot);

/* Whether the piece is memory shared with other processes that cannot be saved. */
bool bspz_is_common(const struct bspz_snapshot *snapshot, const struct bspz_piece *piece);

/* -EBUSY and `why`: something cannot be captured. */
int bspz_snapshot_check_supported(struct bspz_snapshot *snapshot);
int bspz_snapshot_one_thread(struct bspz_snapshot *snapshot);

/* Whether there is a child, also one that has ended and was not waited for. */
bool bspz_has_children(void);
/* Refuses a snapshot, naming process id and command, when there is a child. */
int bspz_snapshot_check_children(struct bspz_snapshot *snapshot);

/* Whether the user's rules name this descriptor or path; whether there is a rule of this very text.
 */
bool bspz_rules_name(const struct bspz_capture_options *options, int number, const char *path);
bool bspz_rules_have(const struct bspz_capture_options *options, const char *rule);
bool bspz_is_job_descriptor(const struct bspz_capture_options *options, int number);
/* Whether a descriptor that is neither the job's nor excluded is saved as a lost one. */
bool bspz_is_lost(const struct bspz_capture_options *options, const struct bspz_descriptor *one);

/* Writes "TEXT: error N" into `why`; returns the error. */
int bspz_snapshot_fail(struct bspz_snapshot *snapshot, const char *text, long error);

/* Copies the bytes of regions that a forked process lacks or shares; drop frees the copies. */
int bspz_snapshot_copy_lost(struct bspz_snapshot *snapshot);
void bspz_snapshot_drop_copies(struct bspz_snapshot *snapshot);

/* Writes the image of what was read. */
int bspz_snapshot_write(struct bspz_snapshot *snapshot, const struct bspz_image_config *config,
                        struct bspz_image_written *written);

/* In a forked process: writes the image, calls `finished`, and exits. */
void bspz_snapshot_write_and_end(struct bspz_snapshot *snapshot, struct bspz_capture_plan *plan)
    __attribute__((noreturn));
void bspz_snapshot_finish(struct bspz_capture_plan *plan, int error,
                          const struct bspz_image_written *written);
/* To be called in the restored process with the result of bspz_switch_stack, on the program's
 * stack.  Returns 1. */
int bspz_snapshot_arrive(struct bspz_capture_plan *plan, void *restored);

/* Whether the piece's mapping reads as zero where nothing is saved. */
bool bspz_reads_as_zero(const struct bspz_piece *piece);
/* Visits the pages of a piece that must be saved, in runs, ascending; with_zeros: also pages of
 * zeros where the mapping reads as zero, which need not be saved: they are not read to be found. */
typedef int bspz_run_function(void *context, uint64_t start, uint64_t end);
int bspz_own_pages(const struct bspz_piece *piece, struct bspz_arena *arena, int pagemap,
                   bool with_zeros, bspz_run_function *visit, void *context);

/* For pages that change while they are written; see still.c. */
struct bspz_still {
    struct bspz_range area; /* to which the kernel writes at any time */
    void *copy;             /* BSPZ_IMAGE_RECORD_MAX bytes of the arena */
};
int bspz_still_begin(struct bspz_still *still, struct bspz_snapshot *snapshot);
/* The bytes of the pages from `start` on: in place, or in a copy that is valid until the next call
 * and may have fewer pages; *end is their end. */
const void *bspz_still_bytes(const struct bspz_still *still, const struct bspz_piece *piece,
                             uint64_t start, uint64_t *end);

/* Which pages have been written to, by the kernel's record; see track.c.  begin: before descriptors
 * are listed, forgets a record that is another process's; hide: takes its descriptor off the list.
 */
void bspz_track_begin(struct bspz_snapshot *snapshot);
void bspz_track_hide(struct bspz_snapshot *snapshot);
/* Whether the mappings that are watched for writes are so by this process's own record. */
bool bspz_track_is_own(const struct bspz_snapshot *snapshot);
/* Sets `written` of the pieces for an image with this base, and begins to record for the next.  To
 * be called in the process that is saved, the last thing before its pages are read or a copy is
 * made: what is written between may be missing in the image. */
void bspz_track(struct bspz_snapshot *snapshot, const struct bspz_image_config *config);
/* Whether the page at `start` is as in the base; *end is reduced to where the answer differs. */
bool bspz_track_unwritten(const struct bspz_piece *piece, uint64_t start, uint64_t *end);

/* What a copy is made for. */
enum bspz_fork_use {
    BSPZ_FORK_AWAITED,     /* the process waits until the copy is made */
    BSPZ_FORK_IDLE_WRITER, /* it writes an image of BSPZ_SHARE_IDLE: made at the lowest priority */
    BSPZ_FORK_WRITER,      /* it writes an image: made at the priority of the process */
};

/* 0 in the caller, 1 in the copy, or a negative errno.  With tid_address the kernel keeps the
 * copy's thread id there. */
int bspz_fork_copy(const struct bspz_snapshot *snapshot, const struct bspz_copy_hooks *hooks,
                   uint64_t tid_address, enum bspz_fork_use use);
/* Makes process lists show "bspzero-copy", without changing the memory that holds the arguments. */
void bspz_show_as_copy(struct bspz_snapshot *snapshot);

#endif
