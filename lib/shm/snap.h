/* snap.h - what ranks and their agent say to each other about snapshots; part of the board.
 *
 * A snapshot at a barrier:
 *   agent  writes `order` and each rank's copy_slot, answers the barrier with BSPZ_DECIDE_SNAPSHOT
 *   rank   finishes the superstep; makes a frozen copy (copy_slot >= 0); its image is written by a
 *          copy (order.forked; made by the frozen one if there is one, so that the rank stops for
 *          one fork only) or by the rank itself; `recorded`; rings; waits for `resumed`
 *   writer (or the rank itself) fills in the result; `written`; rings
 *   agent  `resumed`, wakes the ranks; makes the images durable
 * Snapshot 0 is ordered before BSPZ_PHASE_LAYOUT; process 0 takes it then, waits for nothing, and
 * makes the other ranks.
 *
 * Copies of a rank are the agent's children: at once if the rank is one, too, else because their
 * maker's parent has ended.  Each is announced in a bspz_snap_process: MADE by its maker, then HELD
 * by the agent, which has its pidfd by then and may end it at any time; or REFUSED, then it ends by
 * itself.  What goes between these states is one step for all (bspz_word_move), so that a maker that
 * is told of a failure knows whether the copy works all the same: an image has one writer, whoever
 * is killed on the way.
 *
 * A rank that is restored: the agent starts it with BSPZ_ENV_RESTORE, state HELD; it stages its
 * memory, sets `staged`, rings, waits for snap_passed, becomes the process in the image, READY.  A
 * copy that is thawed: state HELD, then its word; it makes its next copy in copy_slot, READY.
 */
#ifndef BSPZ_SHM_SNAP_H
#define BSPZ_SHM_SNAP_H

#include <stdatomic.h>
#include <stdint.h>

#define BSPZ_SNAP_BYTES 1024u
#define BSPZ_SNAP_WHY   512u
#define BSPZ_SNAP_RULES 8192u

/* A process that is to be restored learns what from this variable: "PID:IMAGE PID:SUPERSTEP:TERM:
 * DIGEST:FD,FD,...": its number, the name of the image and the digest in the manifest (hexadecimal),
 * open descriptors of the image and of what it builds on, down to the full one.  BSPZ_ENV_BOARD is
 * there, too. */
#define BSPZ_ENV_RESTORE "BSPZERO_RESTORE"
/* And from this one in which folder there are copies of mapped files that are not where they were, by
 * bspz_binary_name; may be missing. */
#define BSPZ_ENV_BINARIES "BSPZERO_BINARIES"
/* This one is there when the process is made beside the one that was saved, which is on another host:
 * bspz_restore_plan.elsewhere. */
#define BSPZ_ENV_ELSEWHERE "BSPZERO_ELSEWHERE"

/* What is to be done; by the agent. */
struct bspz_snap_order {
    unsigned char job[16];
    uint64_t superstep; /* of the snapshot's name: how many are completed */
    uint32_t term;
    uint32_t forked;         /* 1: a copy of the process writes while it goes on */
    uint64_t created;        /* nanoseconds since 1970 */
    uint64_t base_superstep; /* the newest committed snapshot, */
    uint32_t base_term;      /* 0: there is none, or images shall be full */
    uint32_t rules_bytes;
    uint32_t compress; /* 1: what gets smaller by it is compressed */
    uint32_t lose; /* 1: descriptors that cannot be saved are lost on other hosts, and no reason to
                      refuse */
    char path_start[4096]; /* process i writes its image to path_start i path_end, */
    char path_end[32];     /* a file that does not exist yet */
    char rules[BSPZ_SNAP_RULES]; /* of the user, each with its NUL: see bspz_capture_options */
};

enum bspz_snap_process_state {
    BSPZ_SNAP_NOBODY,
    BSPZ_SNAP_MADE,   /* ospid is written; rings */
    BSPZ_SNAP_HELD,   /* by the agent */
    BSPZ_SNAP_REFUSED, /* by the agent: it shall end */
    BSPZ_SNAP_ENTERED, /* by the copy, which was HELD: it does its work from now on */
    BSPZ_SNAP_WITHDRAWN /* by its maker, unless it has ENTERED: it shall end, and does nothing */
};

struct bspz_snap_process {
    _Atomic int32_t ospid;
    _Atomic uint32_t state; /* enum bspz_snap_process_state, futex */
};

/* Of each rank, BSPZ_SNAP_BYTES apart.  `+ 1`: so that 0 means never. */
struct bspz_snap {
    _Atomic uint64_t recorded; /* superstep of the snapshot + 1: the rank may go on, or has failed */
    uint64_t pause_ns;         /* how long that took */
    uint64_t page_copy_ns; /* how long it takes to change a page that a copy shares; 0: none does */
    uint32_t fell_back;        /* there was no process or memory for a copy: it did without */
    _Atomic uint32_t settled;  /* futex: low bits of superstep + 1: what it shares with the others it
                                  does not change any more; only where there is such memory */
    _Atomic int32_t copy_slot; /* which of the two its next frozen copy becomes, -1: none wanted */

    struct bspz_snap_process writer;
    struct bspz_snap_process copies[2];
    _Atomic uint32_t words[2]; /* what the copies wait on: BSPZ_COPY_*; back to FROZEN by the agent,
                                  before a copy is made there */

    /* The result: of the image, or of a restore that failed. */
    _Atomic uint64_t written; /* superstep of the snapshot + 1, last of all */
    int32_t error;            /* errno value, 0: the image is written, and its bytes are durable */
    uint32_t refused; /* with an error: it is the state of the process that cannot be kept; of a
                         restore: the image is sound, but not what it needs here */
    uint32_t bad_image; /* of a restore that failed by an image: which of the chain, 0: the newest */
    uint32_t generation;      /* 0: a full image; else what it adds to: */
    uint32_t base_term, base_pid;
    uint64_t base_superstep;
    unsigned char base_digest[16];
    unsigned char digest[16];
    uint64_t size;
    uint64_t changed;       /* bytes that differed from the base */
    _Atomic uint32_t staged; /* 1: complete in memory, waits for snap_passed; 2: failed, see why */
    char why[BSPZ_SNAP_WHY]; /* one line, with an error; with staged 1 a warning, or "" */
};

_Static_assert(sizeof(struct bspz_snap) <= BSPZ_SNAP_BYTES, "the record fits its place");

#endif
