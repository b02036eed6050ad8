/* capture.h - freezing one process, and thawing it on this or another host.
 *
 * A process with one thread is a set of mappings, a set of descriptors and a few hundred bytes that
 * the kernel keeps for it.  bspz_capture_write puts all of that into an image (ckpt/format) with
 * system calls only, from a stack of its own, so that writing does not change what is written.
 * bspz_restore_main, in a fresh process of the same program, puts it back; the call of
 * bspz_capture_write then returns a second time.
 *
 * Functions return 0 or a negative errno value unless they say otherwise, and then `why`, one line
 * without newline, gives the reason.  Nothing here allocates from libc.
 */
#ifndef CKPT_CAPTURE_CAPTURE_H
#define CKPT_CAPTURE_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/capture/attributes.h"
#include "ckpt/format/image.h"

/* libbsp_version of images: incremented when programs of the two versions cannot be restored from
 * each other's images, or not under each other's bsprun. 1: bspzero 0.1. */
#define BSPZ_LIBRARY_VERSION 3u

#define BSPZ_WHY_SIZE        512
#define BSPZ_RULE_CHILD      "child"
#define BSPZ_HANDOVER_MAX    65536
#define BSPZ_JOB_DESCRIPTORS 48

struct bspz_range {
    uint64_t start; /* multiples of the page size */
    uint64_t end;
};

/* Anonymous shared memory, by the kernel's numbers of it. */
struct bspz_common {
    uint64_t device; /* as in /proc/self/maps: major << 32 | minor */
    uint64_t inode;
};

/* What does not belong to the state of the process. */
struct bspz_capture_options {
    const struct bspz_range *excluded; /* address ranges: the job's shared memory and the like */
    uint32_t excluded_count;
    const int *job_descriptors; /* replaced by the restoring process's own */
    uint32_t job_count;
    const char *const *rules; /* the user's: "fd:N", "path:GLOB" (* and ?, * passes slashes),
                                 "child": children not waited for are lost */
    uint32_t rule_count;
    const struct bspz_attributes *initial; /* with which programs start on this host; NULL: unknown,
                                            no attribute is kept or refused */
    const uint64_t *bound; /* the processors that the caller has bound this process to,
                              BSPZ_AFFINITY_WORDS words; NULL: none */
    bool untracked; /* the kernel does not record which pages are written to: all are compared */
    bool lose_descriptors; /* descriptors that cannot be saved do not refuse the snapshot: they give
                              EIO in the restored process */
    /* Memory that other processes map, too, from bspz_common_list: refused. */
    const struct bspz_common *common;
    uint32_t common_count;
    /* This process saves the contents of the memory that bspz_common_take moved: all that is listed
     * here, else the snapshot is refused. */
    bool keeps_common;
    const struct bspz_range *kept;
    uint32_t kept_count;
};

/* 0: a snapshot is possible now. -EBUSY: the process cannot be captured because of something it has
 * (more than one thread, children, other privileges, POSIX timers, file locks, a socket, pipe or
 * deleted file, memory shared with others ...).  Cost: a fraction of a millisecond, and 20 ns per
 * page in memory. */
int bspz_capture_check(const struct bspz_capture_options *options, char why[BSPZ_WHY_SIZE]);

/* Lists the memory that this process has mapped shared, anonymous or of /dev/zero, and that
 * `options` does not exclude: processes forked from it share this memory.  Stores the first `room`
 * entries and returns the number of all, or a negative errno.  Cost: as reading /proc/self/maps. */
int bspz_common_list(const struct bspz_capture_options *options, struct bspz_common *list,
                     uint32_t room, char why[BSPZ_WHY_SIZE]);

/* Moves that memory into the memfd at the descriptor, which is BSPZ_COMMON_BYTES long, empty, and
 * was made with the name BSPZ_COMMON_NAME.  Addresses and contents of the mappings stay as they
 * are.  `kept` receives the parts of the file that are in use, for the options.  Returns their
 * number or a negative errno: -EBUSY: nothing has been changed, since a thread or a child of this
 * process may use the memory, or there is no room.  Any other: only a part has been moved, and the
 * process must not go on.  Cost: reading /proc/self/smaps, a copy of what is in memory. */
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
    /* In the intermediate: announces the copy's process id; returns when the copy is being watched.
     * An error (errno value) ends the copy and is the result of the call that wanted it. */
    int (*announce)(void *context, int32_t ospid);
    /* In the copy, first of all: waits for its new parent and asks to be killed when that dies.  An
     * error ends the copy.  All hooks run with all signals blocked. */
    int (*enter)(void *context);
    /* In the process that makes a frozen copy: the word in shared memory that the copy will wait
     * on, initially BSPZ_COPY_FROZEN; NULL: no copy is wanted. */
    _Atomic uint32_t *(*word)(void *context);
    /* Before each copy.  True (only if `may`): the parent of this process watches copies, and the
     * copy becomes its child.  Then announce is called in this process and must not wait, enter
     * waits until the copy is watched, and only the watcher learns of a failure.  NULL: never. */
    bool (*beside)(void *context, bool may);
    /* In the process that wants the copy, when the intermediate was killed or announce failed: true
     * when the copy, should it exist, will do nothing.  False: it has returned from enter, and the
     * call succeeds after all.  NULL: nothing can fail after announce. */
    bool (*withdraw)(void *context);
};

/* ---- Images -----------------------------------------------------------------------------------*/

struct bspz_capture_plan {
    struct bspz_capture_options options;
    /* Of the header, job, superstep, term, pid, nprocs, created and libbsp_version are the
     * caller's. The write function may run in a forked process and must make do with 64 KiB of
     * stack. */
    struct bspz_image_config image;
    /* NULL: the process itself writes.  Else a forked copy writes. */
    const struct bspz_copy_hooks *forked;
    /* Called in the writer when it has finished; a forked writer exits afterwards.  May be NULL. */
    void (*finished)(void *context, int error, const struct bspz_image_written *written,
                     const char *why);
    void *finished_context;
    bool just_frozen; /* an `exact` copy has just been made: mappings have the flags they had */
    bool guess;       /* the process that writes by itself takes the flags of mappings from the
                         snapshot before, and looks whether they were right when it has written:
                         -EAGAIN, without `finished`, if not, and the next call will not guess */
    int file;         /* ... and has the disk begin with what was written to this one meanwhile */
    enum bspz_writer_share share; /* of a forked writer */
    const uint64_t *cores;        /* of a forked writer, as for sched_setaffinity; NULL: all */
    size_t cores_bytes;

    char why[BSPZ_WHY_SIZE];
    /* In a restored process: the data passed to bspz_restore_main, at most `handover_room`
     * bytes. */
    void *handover;
    size_t handover_room;
    size_t handover_size;
    int job_descriptors[BSPZ_JOB_DESCRIPTORS]; /* the restoring process's own */
    uint32_t job_count;
    struct bspz_attributes attributes; /* in a restored process: those it had */
};

/* 0: the image is written, or the forked writer is at it. 1: this is the restored process; handover
 * and job descriptors in the plan are set. -EBUSY: refused, see bspz_capture_check.  All data are
 * recorded when the call returns.  The caller sees to it that nothing shared with others (file
 * offsets) changes before all processes have recorded. */
int bspz_capture_write(struct bspz_capture_plan *plan);

/* The caller completes the attributes of a restored process when everything else is in place: by
 * bspz_attributes_finish and, after binding it to a processor, bspz_attributes_put_affinity.  The
 * latter in a thawed copy, too. */

/* ---- Frozen copies ----------------------------------------------------------------------------*/

enum { BSPZ_COPY_FROZEN, BSPZ_COPY_THAW, BSPZ_COPY_DISCARD };

struct bspz_freeze_plan {
    struct bspz_capture_options options;
    struct bspz_copy_hooks hooks;
    /* If not NULL, the copy has this image written by a copy of its own before it waits, so that
     * the process is delayed by one fork only.  `forked` must be set; `options` are those above. */
    struct bspz_capture_plan *image;
    /* The flags of mappings are read, not guessed and confirmed by the copy: for a process that
     * will write an image at once, `just_frozen`. */
    bool exact;
    char why[BSPZ_WHY_SIZE];
    bool replaced; /* in a thawed copy: it has made a new frozen copy of itself */
    struct bspz_attributes attributes; /* in a thawed copy: those of the process */
};

/* Makes a copy that waits on its word. 0 in the caller. 1 in the copy when it has been thawed: it
 * is the process as it was, with its file offsets, flags, lengths and timers restored, and has made
 * its own replacement where the hook returned a word.  The original must have ended before. 2 in a
 * process restored from the image, as bspz_capture_write returns 1 there.  When no copy is wanted
 * or possible, no image is written either. */
int bspz_copy_freeze(struct bspz_freeze_plan *plan);

/* ---- Restoring --------------------------------------------------------------------------------*/

struct bspz_restore_plan {
    const struct bspz_image_source *chain; /* newest first, down to the full image */
    uint32_t chain_count;
    struct bspz_image_expected expected; /* program and processor are checked in any case */
    /* Called when everything is in memory and checked, and nothing outside has been touched.
     * Returns when all processes of the job have come this far; an error (errno value) abandons the
     * restore. */
    int (*staged)(void *context);
    /* Opens the file of a descriptor: returns the new descriptor, -1 to have it opened by its path,
     * or a negative errno below -1.  May be NULL. */
    int (*open_file)(void *context, const struct bspz_image_descriptor *descriptor,
                     const char *path);
    /* For a process that is restored ahead: called when everything is in memory as of the chain.
     * Waits, and returns how many newer images `chain` has now, newest first, whose oldest has the
     * newest of before as its base; `expected` and `chain_count` tell of them.  Then called again.
     * 0: no more come, and the process goes on as of the last.  A negative errno abandons the
     * restore. NULL: the chain is all there is. */
    int (*more)(void *context);
    void *context;
    const char *binaries; /* a directory with copies, named by bspz_binary_name, of mapped files
                             that are missing at their paths; NULL: none */
    bool keep_lengths;    /* do not truncate files */
    bool elsewhere;    /* possibly on another host, beside the saved process: files that may differ
                          give EIO, a missing directory becomes /; `note` says so */
    bool other_kernel; /* for tests: treat the kernel as different from the image's */
    const int *job_descriptors; /* stay open; 0 to 2 at their numbers, others are moved */
    uint32_t job_count;
    int common;           /* descriptor of the memfd of bspz_common_take; 0: not available */
    const void *handover; /* for the restored process */
    size_t handover_size;
    char why[BSPZ_WHY_SIZE];
    bool image_at_fault;  /* with an error: the image is damaged or another one; else this machine,
                             its files or programs lack what the process needs */
    uint32_t image_index; /* index in the chain of the image at fault, 0 if not known */
    char note[BSPZ_WHY_SIZE]; /* when `staged` is called: a warning for the user, or empty */
};

/* Becomes the process in the image.  To be called before main, from a constructor.  Returns only
 * upon an error, nothing outside this process has been touched then.  Once only. */
int bspz_restore_main(struct bspz_restore_plan *plan);

/* A source that reads from a descriptor (context: the number). */
int bspz_restore_source(struct bspz_image_source *source, int fd);

#endif
