/* capture.h - freezing one process, and thawing it here or elsewhere.
 *
 * A process with one thread is a set of mappings, a set of descriptors and a few hundred bytes that
 * the kernel keeps for it.  bspz_capture_write puts all of that into an image (ckpt/format) with
 * system calls only, from a stack of its own, so that writing does not change what is written.
 * bspz_restore_main, in a fresh process of the same program, puts it back; the call of
 * bspz_capture_write then returns a second time.
 *
 * Functions return 0 or a negative errno value unless they say otherwise, and then `why`, one line
 * without newline, says what was in the way.  Nothing here allocates from libc.
 */
#ifndef CKPT_CAPTURE_CAPTURE_H
#define CKPT_CAPTURE_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/capture/attributes.h"
#include "ckpt/format/image.h"

/* libbsp_version of images: changes when a program of one version cannot go on from what the other
 * has written, or not under its bsprun.  1: bspzero 0.1. */
#define BSPZ_LIBRARY_VERSION 2u

#define BSPZ_WHY_SIZE        512
#define BSPZ_RULE_CHILD      "child"
#define BSPZ_HANDOVER_MAX    65536
#define BSPZ_JOB_DESCRIPTORS 48

struct bspz_range {
    uint64_t start; /* multiples of the page size */
    uint64_t end;
};

/* Memory mapped shared, of no file that has a name, as the kernel numbers it. */
struct bspz_common {
    uint64_t device; /* as /proc/self/maps has it: major << 32 | minor */
    uint64_t inode;
};

/* What is no part of the process's state. */
struct bspz_capture_options {
    const struct bspz_range *excluded; /* address ranges: the job's shared memory and the like */
    uint32_t excluded_count;
    const int *job_descriptors; /* attached again by whoever restores */
    uint32_t job_count;
    const char *const *rules; /* the user's: "fd:N", "path:GLOB" (* and ?, * passes slashes),
                                 "child": what has been started and not waited for is lost */
    uint32_t rule_count;
    const struct bspz_attributes *given; /* what programs begin with here; NULL: unknown, then no
                                            attribute is kept or refused */
    uint32_t bound; /* 1 + the processor that the caller has bound this process to; 0: none */
    bool lose_descriptors; /* those that cannot be saved are no reason to refuse: whoever is restored
                              gets EIO from them */
    /* Memory that other processes map, too: from bspz_common_list.  Refused. */
    const struct bspz_common *common;
    uint32_t common_count;
    /* Of the memory that was moved by bspz_common_take this process saves the contents: all that is
     * listed here, else refused. */
    bool keeps_common;
    const struct bspz_range *kept;
    uint32_t kept_count;
};

/* 0: a snapshot is possible now.  -EBUSY: the process has something that cannot be captured (more
 * than one thread, children, other privileges, POSIX timers, file locks, a socket, pipe or deleted file, memory shared with
 * others ...).  Cost: a fraction of a millisecond, and 20 ns per page in memory. */
int bspz_capture_check(const struct bspz_capture_options *options, char why[BSPZ_WHY_SIZE]);

/* Lists the memory that this process has mapped shared, anonymous or of /dev/zero, and that
 * `options` does not exclude: what it shares with processes that are made of it.  The first `room`
 * go to the list.  How many there are, or a negative errno.  Cost: as reading /proc/self/maps. */
int bspz_common_list(const struct bspz_capture_options *options, struct bspz_common *list,
                     uint32_t room, char why[BSPZ_WHY_SIZE]);

/* The same memory is from now on that of the file in memory at the descriptor, which is
 * BSPZ_COMMON_BYTES long, empty, and has been made with the name BSPZ_COMMON_NAME.  Mappings and
 * contents stay as they are.  In `kept` which parts of the file are in use now, for the options.  How
 * many, or a negative errno: -EBUSY: nothing has been changed, since a thread or a child of this
 * process may use the memory, or there is no room.  Another one: only a part has been moved, and
 * the process must not go on.  Cost: reading /proc/self/smaps, a copy of what is in memory. */
#define BSPZ_COMMON_NAME  "bspzero-common"
#define BSPZ_COMMON_BYTES (UINT64_C(1) << 42)
int bspz_common_take(const struct bspz_capture_options *options, int fd, struct bspz_range *kept,
                     uint32_t room, char why[BSPZ_WHY_SIZE]);

/* ---- Copies of this process -------------------------------------------------------------------
 *
 * A copy is a grandchild whose parent has ended, or a sibling, so that the program never notices
 * it: its parent is the nearest subreaper, or that of this process. */
struct bspz_copy_hooks {
    void *context;
    /* In the intermediate: the copy's process id; returns when somebody watches the copy.  An
     * error (errno value) ends the copy and is the result of the call that wanted it. */
    int (*announce)(void *context, int32_t ospid);
    /* In the copy, first of all: waits for its new parent and asks for its own end with it.  An
     * error ends the copy.  All hooks run with all signals blocked. */
    int (*enter)(void *context);
    /* For a frozen copy that is to be made, in the process that makes it: the word in shared memory
     * that it will wait on, BSPZ_COPY_FROZEN at first; NULL: no copy is wanted. */
    _Atomic uint32_t *(*word)(void *context);
    /* Before each copy; `may` and the parent of this process is who watches copies: the copy will
     * be that one's child, too.  Then announce is called in this process and must not wait, enter
     * waits to be watched, and only who watches learns when that fails.  NULL: never. */
    bool (*beside)(void *context, bool may);
    /* In the process that wants the copy, when the intermediate was killed or announce failed: whether
     * the copy, should there be one, does nothing any more.  False: it has returned from enter, and
     * the call succeeds after all.  NULL: announce is the last thing that can go wrong. */
    bool (*withdraw)(void *context);
};

/* ---- Images -----------------------------------------------------------------------------------*/

struct bspz_capture_plan {
    struct bspz_capture_options options;
    /* Of the header, job, superstep, term, pid, nprocs, created and libbsp_version are the
     * caller's. The write function may run in a forked process and must make do with 64 KiB of
     * stack. */
    struct bspz_image_config image;
    /* NULL: the process itself writes, and waits meanwhile.  Else a forked copy writes. */
    const struct bspz_copy_hooks *forked;
    /* In the writer, when it has finished; a forked one ends afterwards.  May be NULL. */
    void (*finished)(void *context, int error, const struct bspz_image_written *written,
                     const char *why);
    void *finished_context;
    const uint64_t *cores; /* that a forked writer may use, as for sched_setaffinity; NULL: all */
    size_t cores_bytes;

    char why[BSPZ_WHY_SIZE];
    /* In a restored process: what bspz_restore_main was given, at most `handover_room` bytes. */
    void *handover;
    size_t handover_room;
    size_t handover_size;
    int job_descriptors[BSPZ_JOB_DESCRIPTORS]; /* where the restoring process's own are now */
    uint32_t job_count;
    struct bspz_attributes attributes; /* in a restored process: what it had */
};

/* 0: the image is written, or the forked writer is at it.  1: this is the restored process;
 * handover and job descriptors in the plan are set.  -EBUSY: refused, see bspz_capture_check.  All
 * data are recorded when the call returns; what must not change before everybody has recorded (file
 * offsets shared with others) is the caller's to keep. */
int bspz_capture_write(struct bspz_capture_plan *plan);

/* In a restored process, when everything of the caller is in its place, its attributes are completed:
 * bspz_attributes_finish, and, when it has been bound to a processor again,
 * bspz_attributes_put_affinity.  The latter in a thawed copy, too. */

/* ---- Frozen copies ----------------------------------------------------------------------------*/

enum { BSPZ_COPY_FROZEN, BSPZ_COPY_THAW, BSPZ_COPY_DISCARD };

struct bspz_freeze_plan {
    struct bspz_capture_options options;
    struct bspz_copy_hooks hooks;
    /* If not NULL, the copy has this image written by a copy of its own, before it waits: so that
     * the process is stopped by one copy only.  `forked` must be set; `options` are those above. */
    struct bspz_capture_plan *image;
    char why[BSPZ_WHY_SIZE];
    bool replaced; /* in a thawed copy: it has made another frozen copy of itself */
    struct bspz_attributes attributes; /* in a thawed copy: what the process had */
};

/* Makes a copy that waits on its word.  0 in the caller.  1 in the copy when it has been thawed: it
 * is the process as it was, with its file offsets, flags, lengths and timers put back, and has made
 * its own replacement where the hook gave it a word.  The original must have ended before.  2 in a
 * process restored from the image, as bspz_capture_write returns 1 there.  No copy is wanted or
 * possible: there is no image either. */
int bspz_copy_freeze(struct bspz_freeze_plan *plan);

/* ---- Restoring --------------------------------------------------------------------------------*/

struct bspz_restore_plan {
    const struct bspz_image_source *chain; /* newest first, down to the full image */
    uint32_t chain_count;
    struct bspz_image_expected expected; /* program and processor are checked in any case */
    /* Everything is in memory and checked, nothing is touched yet.  Returns when all processes of
     * the job have got so far; an error (errno value) gives the restore up. */
    int (*staged)(void *context);
    /* Opens what a descriptor was: the new descriptor, -1 to have it opened by its path, or a
     * negative errno below -1.  May be NULL. */
    int (*open_file)(void *context, const struct bspz_image_descriptor *descriptor,
                     const char *path);
    void *context;
    const char *binaries; /* a folder with copies, by bspz_binary_name, of mapped files that are not
                             where they were; NULL: none */
    bool keep_lengths;          /* do not truncate files */
    bool elsewhere; /* perhaps on another host, beside the process that was saved: files that may not
                       be the same give EIO, a directory that is missing becomes /; `note` says so */
    bool other_kernel;          /* treat the kernel as another one than the image's: for tests */
    const int *job_descriptors; /* stay open; 0 to 2 where they are, others out of the way */
    uint32_t job_count;
    int common; /* descriptor of the file of bspz_common_take, 0: this process cannot have it */
    const void *handover; /* for the restored process */
    size_t handover_size;
    char why[BSPZ_WHY_SIZE];
    bool image_at_fault; /* with an error: it is damaged or another one; else this machine, its
                            files or its programs are not what the process needs */
    uint32_t image_index; /* and which of the chain it is, as far as that is known; else 0 */
    char note[BSPZ_WHY_SIZE]; /* when `staged` is called: what the user should know, or nothing */
};

/* Becomes the process in the image.  To be called before main, from a constructor.  Returns only
 * upon an error, and then nothing outside of this process has been touched. */
int bspz_restore_main(struct bspz_restore_plan *plan);

/* A source that reads from a descriptor (context: the number). */
int bspz_restore_source(struct bspz_image_source *source, int fd);

#endif
