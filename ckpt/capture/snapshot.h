/* snapshot.h - what is known about this process while it is captured; private to this folder. */
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

struct bspz_memory; /* of the last snapshot's mappings */

/* A mapping, or the part of one that is to be saved. */
struct bspz_piece {
    const struct bspz_map *map;
    uint64_t start;
    uint64_t end;
    uint64_t save_from; /* below it only leftovers: the unused part of a stack */
    uint64_t now_at;    /* where its bytes can be read: start, or a copy made before a fork */
    uint32_t kind;      /* BSPZ_REGION_* */
    bool excluded;      /* by a rule of the user: mapped again, but not saved */
    bool elsewhere;     /* common memory whose contents another piece or process saves */
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
    bool from_memory;        /* the mappings' flags are those of the last time */
    _Atomic uint32_t *stale; /* 1: a copy has found that those are not right any more */
    uint64_t mask;           /* signals blocked before */
    char *why;               /* BSPZ_WHY_SIZE bytes */
};

/* The scratch memory of this process, made upon first use, with an empty snapshot in it.  NULL when
 * there is no memory.  Contents of an earlier one are gone. */
struct bspz_snapshot *bspz_snapshot_begin(const struct bspz_capture_options *options, char *why);
/* After a restore the scratch memory is not there any more. */
void bspz_snapshot_forget(void);
struct bspz_range bspz_snapshot_memory(void);

/* Reads everything and checks that it can be captured; signals must be blocked.  quick: the mappings' flags may be those
 * of an earlier snapshot; the copy that is made then must confirm them.  -EBUSY: refused. */
int bspz_snapshot_read(struct bspz_snapshot *snapshot, bool quick);
int bspz_snapshot_read_maps(struct bspz_snapshot *snapshot, bool quick);
int bspz_snapshot_confirm(struct bspz_snapshot *snapshot);

/* The maps cut into pieces; without what is excluded. */
int bspz_snapshot_cut_maps(struct bspz_snapshot *snapshot);

/* Says of each piece of common memory whether it is saved; and whether all there is will be. */
void bspz_common_mark(struct bspz_snapshot *snapshot);
bool bspz_common_complete(const struct bspz_snapshot *snapshot);

/* Whether other processes have the memory of the piece, too, and it cannot be saved. */
bool bspz_is_common(const struct bspz_snapshot *snapshot, const struct bspz_piece *piece);

/* -EBUSY and `why` when something cannot be captured. */
int bspz_snapshot_check_supported(struct bspz_snapshot *snapshot);
int bspz_snapshot_one_thread(struct bspz_snapshot *snapshot);

/* Whether there is a child, also one that has ended and was not waited for. */
bool bspz_has_children(void);
/* Refuses, by process id and command, when something was started and not waited for. */
int bspz_snapshot_check_children(struct bspz_snapshot *snapshot);

/* Whether the user's rules name this descriptor or path; whether there is a rule of this very text.
 */
bool bspz_rules_name(const struct bspz_capture_options *options, int number, const char *path);
bool bspz_rules_have(const struct bspz_capture_options *options, const char *rule);
bool bspz_is_job_descriptor(const struct bspz_capture_options *options, int number);
/* Whether a descriptor that is neither the job's nor excluded is saved as a lost one. */
bool bspz_is_lost(const struct bspz_capture_options *options, const struct bspz_descriptor *one);

/* Says what failed: "TEXT: error N"; returns the error. */
int bspz_snapshot_fail(struct bspz_snapshot *snapshot, const char *text, long error);

/* Regions that a forked process lacks or shares get a copy of their bytes; drop removes those. */
int bspz_snapshot_copy_lost(struct bspz_snapshot *snapshot);
void bspz_snapshot_drop_copies(struct bspz_snapshot *snapshot);

/* Writes the image of what was read. */
int bspz_snapshot_write(struct bspz_snapshot *snapshot, const struct bspz_image_config *config,
                        struct bspz_image_written *written);

/* In a forked process: writes the image, says that it is finished, and ends. */
void bspz_snapshot_write_and_end(struct bspz_snapshot *snapshot, struct bspz_capture_plan *plan)
    __attribute__((noreturn));
void bspz_snapshot_finish(struct bspz_capture_plan *plan, int error,
                          const struct bspz_image_written *written);
/* In the restored process, with what bspz_switch_stack returned, on its own stack again: 1. */
int bspz_snapshot_arrive(struct bspz_capture_plan *plan, void *restored);

/* Visits the pages of a piece that must be saved, in runs, ascending. */
typedef int bspz_run_function(void *context, uint64_t start, uint64_t end);
int bspz_own_pages(const struct bspz_piece *piece, struct bspz_arena *arena, int pagemap,
                   bspz_run_function *visit, void *context);

/* Pages that change while they are written; see still.c. */
struct bspz_still {
    struct bspz_range area; /* that the kernel writes to at any time */
    void *copy;             /* BSPZ_IMAGE_RECORD_MAX bytes of the arena */
};
int bspz_still_begin(struct bspz_still *still, struct bspz_snapshot *snapshot);
/* The bytes of the pages from start on: where they are, or in a copy that is valid until the next
 * call, of fewer pages perhaps; *end says how far they go. */
const void *bspz_still_bytes(const struct bspz_still *still, const struct bspz_piece *piece,
                             uint64_t start, uint64_t *end);

/* 0 in the caller, 1 in the copy, or a negative errno.  With tid_address the kernel keeps the
 * copy's thread id there.  `writes`: the copy will write an image, and nobody waits: making it
 * takes no time from anybody either. */
int bspz_fork_copy(const struct bspz_snapshot *snapshot, const struct bspz_copy_hooks *hooks,
                   uint64_t tid_address, bool writes);
/* "bspzero-copy" in process lists, without changing the memory that holds the arguments. */
void bspz_show_as_copy(struct bspz_snapshot *snapshot);

#endif
