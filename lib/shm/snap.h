/* snap.h - how ranks and their agent communicate about snapshots; part of the board.
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
 * Copies of a rank are the agent's children: directly if the rank is one, too, else by reparenting
 * when their maker has ended.  Each is announced in a bspz_snap_process: MADE by its maker, then
 * HELD by the agent, which has its pidfd by then and may end it at any time; or REFUSED, then it
 * exits.  These transitions are atomic (bspz_word_move), so that a maker that learns of a failure
 * knows whether the copy works nevertheless: an image has one writer, whichever process is killed.
 *
 * After the last snapshot of a term no rank goes on.  One that is to go on here in the next term
 * announces itself as its copy (order.stays), before it has `recorded`, and is thawed as one; if
 * the snapshot fails, its word says DISCARD, and it goes on.
 *
 * A rank that is restored: the agent starts it with BSPZ_ENV_RESTORE, state HELD; it stages its
 * memory, sets `staged`, rings, waits for snap_passed, becomes the process in the image, READY.  A
 * copy that is thawed: state HELD, then its word; it makes its next copy in copy_slot, READY.
 */
#ifndef BSPZ_SHM_SNAP_H
#define BSPZ_SHM_SNAP_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/base/snapshot.h"

#define BSPZ_SNAP_BYTES    1024u
#define BSPZ_SNAP_WHY      512u
#define BSPZ_SNAP_RULES    8192u

/* A process that is to be restored gets its task from this variable: "PID:IMAGE PID:SUPERSTEP:TERM:
 * DIGEST:FD,FD,...": its number, the name of the image and the digest in the manifest
 * (hexadecimal), open descriptors of the image and its bases, down to the full one.  BSPZ_ENV_BOARD
 * is set, too. */
#define BSPZ_ENV_RESTORE   "BSPZERO_RESTORE"
/* A directory with copies of missing mapped files, named by bspz_binary_name; optional. */
#define BSPZ_ENV_BINARIES  "BSPZERO_BINARIES"
/* Set when the process is made beside the saved one, which is on another host:
 * bspz_restore_plan.elsewhere. */
#define BSPZ_ENV_ELSEWHERE "BSPZERO_ELSEWHERE"

/* The order for a snapshot; by the agent. */
struct bspz_snap_order {
    unsigned char job[16];
    struct bspz_snapshot_name name;
    struct bspz_snapshot_name base; /* the newest committed one; term 0: none, or full images */
    uint64_t created;               /* nanoseconds since 1970 */
    uint32_t forked;                /* 1: a copy of the process writes while it goes on */
    uint32_t rules_bytes;
    uint32_t share;    /* enum bspz_writer_share */
    uint32_t compress; /* 1: compress what gets smaller */
    uint32_t own;      /* 1: an image of one rank alone, which is no part of a snapshot and for this
                          agent only: into the open file path_start, without pid and path_end */
    uint32_t objects;  /* 1: the host has objects of the dataspace, which its first rank keeps */
    uint32_t stays;    /* 1: the rank itself takes the place of its frozen copy, if it can */
    uint32_t lose; /* 1: descriptors that cannot be saved do not refuse the snapshot, but are lost
                      on other hosts */
    char path_start[4096];       /* process i writes its image to path_start i path_end, */
    char path_end[32];           /* a file that does not exist yet */
    char rules[BSPZ_SNAP_RULES]; /* of the user, each with its NUL: see bspz_capture_options */
};

enum bspz_snap_process_state {
    BSPZ_SNAP_NOBODY,
    BSPZ_SNAP_MADE,     /* ospid is written; rings */
    BSPZ_SNAP_HELD,     /* by the agent */
    BSPZ_SNAP_REFUSED,  /* by the agent: the copy must exit */
    BSPZ_SNAP_ENTERED,  /* by the copy, which was HELD: it works from now on */
    BSPZ_SNAP_WITHDRAWN /* by its maker, unless it has ENTERED: the copy must exit and do nothing */
};

struct bspz_snap_process {
    _Atomic int32_t ospid;
    _Atomic uint32_t state; /* enum bspz_snap_process_state, futex */
};

/* The record of a rank, BSPZ_SNAP_BYTES apart.  `+ 1`: so that 0 means never. */
struct bspz_snap {
    _Atomic uint64_t
        recorded;             /* superstep of the snapshot + 1: the rank may go on, or has failed */
    uint64_t pause_ns;        /* duration of the pause */
    uint64_t page_copy_ns;    /* time of a copy-on-write fault; 0: no copy shares pages */
    uint32_t fell_back;       /* there was no process or memory for a copy */
    _Atomic uint32_t settled; /* futex: low bits of superstep + 1: the rank no longer changes memory
                                 shared with others; only if there is such memory */
    _Atomic int32_t copy_slot; /* index of its next frozen copy, -1: none wanted */

    struct bspz_snap_process writer;
    struct bspz_snap_process copies[2];
    _Atomic uint32_t words[2]; /* the copies wait on these: BSPZ_COPY_*; reset to FROZEN by the
                                  agent before a copy is made */

    /* The result of the image, or of a failed restore. */
    _Atomic uint64_t written; /* superstep of the snapshot + 1; written last */
    int32_t error;            /* errno value; 0: the image is written and its bytes are durable */
    uint32_t refused; /* with an error: the state of the process cannot be saved; of a restore: the
                         image is intact, but this host does not fit it */
    uint32_t
        bad_image; /* of a restore that failed by an image: its index in the chain, 0: the newest */
    struct bspz_image_facts facts;
    _Atomic uint32_t staged; /* 1: complete in memory, waits for snap_passed; 2: failed, see why */
    char why[BSPZ_SNAP_WHY]; /* one line, with an error; with staged 1 a warning, or "" */
};

_Static_assert(sizeof(struct bspz_snap) <= BSPZ_SNAP_BYTES, "the record fits its place");

#endif
