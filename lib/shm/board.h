/* board.h - the shared memory of one host: how ranks and their node agent communicate.
 *
 * One memfd per host and job.  Its first page is the board itself (struct bspz_board); after it
 * come, per rank, a slot (struct bspz_rank), file names, a record of snapshots, registration tables
 * and outboxes.  Agent and ranks map the part up to the records; only ranks map the rest.
 *
 *   offset 0              struct bspz_board            BSPZ_BOARD_BYTES
 *   BSPZ_BOARD_BYTES      struct bspz_rank [p]         BSPZ_RANK_BYTES each
 *   bspz_names_offset(p)  file names [p]               BSPZ_NAMES_BYTES each
 *   bspz_snaps_offset(p)  struct bspz_snap [p]         BSPZ_SNAP_BYTES each
 *   layout.tables         registration tables [p]      BSPZ_TABLE_BYTES each
 *   layout.directory      entries [p to][2][p from]    layout.entry_bytes each
 *   layout.stretch[k]     k-th stretch of halves [2][p] bspz_stretch_bytes(k) each
 *   layout.blocks         hashes of pages [p][2]       layout.blocks_bytes each, with snapshots
 *   layout.windows        windows of the dataspace [p] BSPZ_WINDOW_BYTES each
 *   layout.mail           rings of messages (mail.h), of a program that communicates by MPI
 *
 * With many ranks the costs are page tables and first touches, not bytes.  So data that all ranks
 * read of all others lie close together: slots, directory, and the first stretches of the outbox
 * halves, which are short; later stretches are longer, so that large data are in few pieces.
 *
 * Rules.  Every word has one writer unless its comment says otherwise.  Ranks never block on the
 * agent except where a comment says so; the agent never blocks on a rank.  The agent only writes
 * *requests* (stop, consult_from): pid 0 reads the decision about a barrier once and publishes it
 * with its arrival, so that all ranks see the same.
 *
 * Several hosts.  Every host has a board for all p ranks, with the layout that pid 0 made.  The
 * agent copies what a rank of another host publishes (its line, file names, registration calls, and
 * the entries and chunks for ranks of this host) to that rank's place on this board, at the same
 * offsets, and its stamp last: the board mirrors that rank.  So ranks read as if all were on this
 * host, and the barrier is complete when all stamps are stored.  A slot's `host` says where its
 * rank lives; only ranks of this host have a process, a counter or a copy here.  An agent writes
 * data of superstep s only into the half of that parity, which is no longer read: the sender has
 * passed barrier s-1, so all ranks here have arrived there.
 */
#ifndef BSPZ_SHM_BOARD_H
#define BSPZ_SHM_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/shm/snap.h"

#define BSPZ_BOARD_MAGIC   0x64726f42307a7362ull /* "bsz0Bord" */
#define BSPZ_BOARD_VERSION 20u
#define BSPZ_BOARD_BYTES   65536u
#define BSPZ_RANK_BYTES    1024u
#define BSPZ_NAMES_BYTES   65536u
#define BSPZ_NAME_BYTES    256u /* one file name, NUL-terminated */
#define BSPZ_NAME_COUNT    (BSPZ_NAMES_BYTES / BSPZ_NAME_BYTES)
#define BSPZ_TABLE_BYTES   (UINT64_C(32) << 20)
#define BSPZ_BLOCKS_MOST   (UINT64_C(256) << 20) /* for processes of 60 GiB */
#define BSPZ_BLOCKS_LEAST  (UINT64_C(32) << 20)
#define BSPZ_MAX_PROCS     4096
#define BSPZ_LINE          128 /* two cache lines, as the hardware prefetches pairs */

/* A process the agent starts finds the board through this variable:
 * "<descriptor>:<agent's process id>:<agent's descriptor>:<token>".  libbsp removes it from the
 * environment when it is loaded, so that programs started by the program are jobs of their own. */
#define BSPZ_ENV_BOARD     "BSPZERO_BOARD"

/* The phase of the job (board->phase, a futex word).  IDLE -> BEGIN by pid 0, the rest by the
 * agent. */
enum bspz_phase {
    BSPZ_PHASE_IDLE,   /* no rank has registered */
    BSPZ_PHASE_BEGIN,  /* pid 0 is in bsp_begin, has written `wanted` and rung */
    BSPZ_PHASE_LAYOUT, /* nprocs is decided: pid 0 lays out the memory and makes the clones */
    BSPZ_PHASE_RUN,    /* every rank is READY and the coordinator has released bsp_begin */
};

/* The state of a rank (rank->state, a futex word). */
enum bspz_rank_state {
    BSPZ_RANK_EMPTY,   /* no process yet */
    BSPZ_RANK_FORKED,  /* ospid is written: the agent must take a pidfd; by the cloner */
    BSPZ_RANK_HELD,    /* the agent holds the pidfd; by the agent */
    BSPZ_RANK_READY,   /* set up, waits in bsp_begin for PHASE_RUN; by the rank, like all below */
    BSPZ_RANK_RUNNING, /* between bsp_begin and bsp_end */
    BSPZ_RANK_ENDED,   /* past the barrier of bsp_end: its death is no longer a fault */
    BSPZ_RANK_EXITED,  /* called exit() in the SPMD part, exit_status is written; a fault */
    BSPZ_RANK_ABORTED, /* called bsp_abort, text already printed */
    BSPZ_RANK_FAILED,  /* misused the library, message already printed */
};

/* Why everything must stop (board->stop). 0 = go on.  Written by the agent (BSPZ_STOP_*), read by
 * waiting ranks, which then leave with stop_status. */
enum bspz_stop {
    BSPZ_STOP_NONE,
    BSPZ_STOP_ABORT,  /* leave through exit(stop_status), flushing stdio */
    BSPZ_STOP_SIGNAL, /* die of signal stop_status, as by the user's Ctrl-C */
};

/* The agent sends this signal to ranks that have not noticed board->stop.  A program that handles
 * it itself is killed; one that resets it does not notice. */
#define BSPZ_LEAVE_SIGNAL SIGURG

/* The decision about a barrier (in the first rank's line, or by the coordinator). */
enum bspz_decision {
    BSPZ_DECIDE_GO,
    BSPZ_DECIDE_CONSULT,  /* only in a line: wait for board->answered */
    BSPZ_DECIDE_ABORT,    /* leave: the coordinator ends the job here */
    BSPZ_DECIDE_SNAPSHOT, /* when the superstep is complete, see snap.h */
};

/* Collective operations, which contain supersteps. */
#define BSPZ_COLLECTIVES(X)                                                                        \
    X(bsp_bcast)                                                                                   \
    X(bsp_gather)                                                                                  \
    X(bsp_scatter)                                                                                 \
    X(bsp_fold)                                                                                    \
    X(bsp_scan)                                                                                    \
    X(bsp_sort)                                                                                    \
    X(bsp_sumI)                                                                                    \
    X(bsp_sumI_prefix)                                                                             \
    X(bsp_sumR)                                                                                    \
    X(bsp_sumR_prefix) X(bsp_sumD) X(bsp_sumD_prefix) X(bsp_productI) X(bsp_productI_prefix)       \
        X(bsp_productR) X(bsp_productR_prefix) X(bsp_productD) X(bsp_productD_prefix) X(bsp_minI)  \
            X(bsp_minI_prefix) X(bsp_minR) X(bsp_minR_prefix) X(bsp_minD) X(bsp_minD_prefix)       \
                X(bsp_maxI) X(bsp_maxI_prefix) X(bsp_maxR) X(bsp_maxR_prefix) X(bsp_maxD)          \
                    X(bsp_maxD_prefix) X(bsp_any) X(bsp_any_prefix) X(bsp_all) X(bsp_all_prefix)   \
                        X(bsp_constantI) X(bsp_sortI) X(bsp_sortR) X(bsp_sortD) X(bsp_sortC)       \
                            X(bspreduce) X(bspbroadcast)

/* The calls of mpi.h that a rank may be in for long, or be wrong in. */
#define BSPZ_MPI_CALLS(X)                                                                          \
    X(Init)                                                                                        \
    X(Finalize)                                                                                    \
    X(Comm_size)                                                                                   \
    X(Comm_rank)                                                                                   \
    X(Send)                                                                                        \
    X(Ssend)                                                                                       \
    X(Recv)                                                                                        \
    X(Sendrecv)                                                                                    \
    X(Isend)                                                                                       \
    X(Irecv)                                                                                       \
    X(Wait)                                                                                        \
    X(Waitall)                                                                                     \
    X(Test)                                                                                        \
    X(Probe)                                                                                       \
    X(Iprobe)                                                                                      \
    X(Get_count)                                                                                   \
    X(Barrier)                                                                                     \
    X(Bcast)                                                                                       \
    X(Reduce)                                                                                      \
    X(Allreduce)                                                                                   \
    X(Gather)                                                                                      \
    X(Gatherv)                                                                                     \
    X(Scatter)                                                                                     \
    X(Scatterv)                                                                                    \
    X(Allgather)                                                                                   \
    X(Alltoall)                                                                                    \
    X(Type_contiguous) X(Type_commit) X(Type_free) X(Get_processor_name) X(Abort)

/* The last call of a rank. */
enum bspz_call {
    BSPZ_CALL_NONE,
    BSPZ_CALL_INIT,
    BSPZ_CALL_BEGIN,
    BSPZ_CALL_END,
    BSPZ_CALL_ABORT,
    BSPZ_CALL_SYNC,
    BSPZ_CALL_PUSH_REG,
    BSPZ_CALL_POP_REG,
    BSPZ_CALL_PUT,
    BSPZ_CALL_GET,
    BSPZ_CALL_HPPUT,
    BSPZ_CALL_HPGET,
    BSPZ_CALL_SET_TAGSIZE,
    BSPZ_CALL_SEND,
    BSPZ_CALL_QSIZE,
    BSPZ_CALL_GET_TAG,
    BSPZ_CALL_MOVE,
    BSPZ_CALL_HPMOVE,
    BSPZ_CALL_EXIT,
    BSPZ_CALL_VOLPEX_PUT,
    BSPZ_CALL_VOLPEX_GET,
    BSPZ_CALL_VOLPEX_READ,
#define BSPZ_MPI_(name) BSPZ_CALL_MPI_##name,
    BSPZ_MPI_CALLS(BSPZ_MPI_)
#undef BSPZ_MPI_
#define BSPZ_IN_(name) BSPZ_IN_##name,
    BSPZ_COLLECTIVES(BSPZ_IN_)
#undef BSPZ_IN_
    /* The last, so that the others have the numbers that libraries in old programs know. */
    BSPZ_CALL_VOLPEX_INIT,
    BSPZ_CALL_VOLPEX_FINALIZE,
    BSPZ_CALL_COUNT
};

/* A source position in 32 bits: index of the file name of that rank << 24 | line. */
typedef uint32_t bspz_position;
#define BSPZ_POSITION(file, line) ((bspz_position)((uint32_t)(file) << 24 | ((line)&0xffffffu)))

/* One superstep of one rank, for the profiles of -prof and -stat.  Published when the rank leaves
 * the superstep's bsp_sync, in its line of the next superstep; read by pid 0 when all have arrived
 * there.  Communication with itself does not count; times are of the monotonic clock. */
struct bspz_trace {
    _Atomic uint64_t stamp;                 /* superstep + 1; written last */
    uint64_t began_ns, entered_ns, left_ns; /* its computation, then its bsp_sync */
    uint64_t calls_out, calls_in; /* puts, gets and messages, by the direction of their data */
    uint64_t bytes_out, bytes_in;
};

/* What a rank publishes when it arrives at a barrier.  Two per rank, by parity of the superstep, so
 * that a fast rank cannot overwrite what a slow one has not read yet.  stamp is written last. */
struct bspz_line {
    _Atomic uint64_t stamp; /* superstep + 1 once the rank has arrived */
    uint32_t flags;         /* BSPZ_HAS_* */
    bspz_position position;
    uint64_t digest;   /* of the push, pop and tag size calls of the superstep */
    uint32_t decision; /* enum bspz_decision; valid in the host's first rank's line */
    uint32_t sync_number;
    uint64_t warning;         /* valid with BSPZ_HAS_WARNING, see lib/rt/warn.c */
    uint64_t sequence;        /* offset of those calls, valid with BSPZ_HAS_SEQUENCE */
    _Atomic uint64_t matched; /* superstep + 1: has read the others' registrations */
    _Atomic uint64_t replied; /* superstep + 1: has served the gets from this rank */
    struct bspz_trace trace;  /* of the previous superstep, while profiled */
} __attribute__((aligned(BSPZ_LINE)));

#define BSPZ_HAS_PUT           1u /* the outbox has a put */
#define BSPZ_HAS_GET           2u /* ... a get request */
#define BSPZ_HAS_MESSAGE       4u /* ... a message */
#define BSPZ_HAS_SEQUENCE      8u /* pushes, pops or tag sizes were issued */
#define BSPZ_HAS_NULL_POP      16u
#define BSPZ_HAS_END           32u /* the barrier of bsp_end, not of bsp_sync */
#define BSPZ_HAS_EXIT          64u /* ... that stands for an exit without bsp_end (BSP_COMPAT=oxford) */
#define BSPZ_HAS_WARNING       128u
#define BSPZ_HAS_MORE_WARNINGS 256u
#define BSPZ_HAS_CALL          512u /* a safe point (lib/rt/safe_point.h), not bsp_sync */
/* The bits from here on: enum bspz_call of the collective operation of the barrier, or 0. */
#define BSPZ_COLLECTIVE_SHIFT  16
#define BSPZ_COLLECTIVE_MASK   0xff0000u
_Static_assert(BSPZ_CALL_COUNT <= 256, "a call fits the flags");

/* Totals since bsp_begin, for --report and --progress; written by the rank in bsp_sync. */
struct bspz_counters {
    uint64_t supersteps;
    uint64_t compute_ns, communicate_ns, wait_ns; /* while the slot's timed_ns is not 0 */
    uint64_t bytes_put, bytes_got, bytes_sent;    /* payload issued by this rank */
    uint64_t bytes_received;
    uint64_t work_ns; /* processor time between barriers; 0 unless BSPZ_BOARD_MEASURES */
    uint64_t h_max;   /* largest max(bytes out, bytes in) of a superstep */
    uint64_t peak_memory_bytes;
};

/* What a rank does, as times are counted. */
enum bspz_activity { BSPZ_COMPUTES, BSPZ_COMMUNICATES, BSPZ_WAITS, BSPZ_PAUSES };

#define BSPZ_DOING_SHIFT   2
#define BSPZ_DOING_CHANGES UINT64_MAX
#define BSPZ_TIMED_ALWAYS  1u /* all its life */

/* ---- The dataspace -------------------------------------------------------------------------
 *
 * A rank has one request at a time and waits for its end.  It writes the request, the tag and, for
 * a put, the first piece of the object to its window, sets POSTED and rings; the agent sets
 * ANSWERED. An object larger than a window goes in pieces, each of which is POSTED and ANSWERED.
 * Only the rank and the agent of its host map the window, at its first request.
 */
enum bspz_request_state {
    BSPZ_REQUEST_NONE,      /* or answered, and the answer is taken; by the rank */
    BSPZ_REQUEST_POSTED,    /* by the rank */
    BSPZ_REQUEST_ANSWERED,  /* by the agent */
    BSPZ_REQUEST_WITHDRAWN, /* by the agent: a safe point is wanted; the rank posts it again */
};

/* KEEP, at a snapshot, is for all objects of the host, as in lib/base/kept.h: `size` is how many
 * bytes the rank has had, and the agent's answer how many there are, or UINT64_MAX: no memory. */
enum bspz_request_kind {
    BSPZ_REQUEST_PUT,
    BSPZ_REQUEST_GET,
    BSPZ_REQUEST_READ,
    BSPZ_REQUEST_KEEP,
    /* Not to the dataspace, but about the rank's rings, see mail.h: it is about to use them; or, at a
     * snapshot, it wants to know when all has come that others have sent before. */
    BSPZ_REQUEST_MAIL,
    BSPZ_REQUEST_MAIL_SETTLED
};

#define BSPZ_TAG_MOST     4096 /* bytes of a tag */
#define BSPZ_WINDOW_BYTES (UINT64_C(1) << 20)
/* The tag is at the beginning of a window, the piece after it. */
#define BSPZ_PIECE_MOST   (BSPZ_WINDOW_BYTES - BSPZ_TAG_MOST)

/* Whether the rank puts back what was in a snapshot. */
enum bspz_puts_back {
    BSPZ_PUTS_NOTHING_BACK,
    BSPZ_PUTS_BACK,
    BSPZ_PUTS_BACK_ALONE /* ... and may be restarted alone later */
};

struct bspz_request {
    _Atomic uint32_t state; /* enum bspz_request_state, a futex word */
    uint32_t kind;          /* enum bspz_request_kind */
    uint32_t tag_size;
    uint32_t piece; /* bytes in the window; of a get or read by the agent */
    uint32_t safe;  /* 1: it may be withdrawn while it waits */
    uint32_t alone; /* 1: the rank may be restarted alone (enum bspz_own), from volpex_init on */
    uint32_t puts_back; /* enum bspz_puts_back */
    uint32_t at_calls;  /* not 0: if the program is saved it is at its calls, and ends with this one
                           (enum bspz_call) */
    /* Of the object.  Of a get or read the rank writes how many bytes it has room for, and the
     * agent how many it delivers. */
    uint64_t size;
    /* In a program whose ranks may be restarted alone: the number of the request, else 0, and that of
     * the last one that is over. */
    uint64_t number, finished;
    /* By the agent: the number of the last one that the rank made before it was lost; until it is
     * over again, or waits, the rank catches up. */
    _Atomic uint64_t behind;
    /* With replicas, by the agent: in the superstep of that number, from 1, the rank stops when the
     * request of the number `behind` is over. */
    _Atomic uint64_t halts_in;
} __attribute__((aligned(BSPZ_LINE)));

/* An image of a rank alone, without the others (lib/rt/safe_point.h). */
enum bspz_own {
    BSPZ_OWN_NONE,    /* by the agent: nothing is wanted, or the rank may go on */
    BSPZ_OWN_WANTED,  /* by the agent, with an order in snap_order: at the next call */
    BSPZ_OWN_BEGUN,   /* by the rank, which reads the order */
    BSPZ_OWN_RECORDED /* by the rank, which waits: it has written its image, or has it written */
};
/* A rank that fails, and a debugger. */
enum bspz_plea { BSPZ_PLEA_NONE, BSPZ_PLEA_ASKS, BSPZ_PLEA_TAKEN, BSPZ_PLEA_GO };

struct bspz_rank {
    struct bspz_line line[2];
    /* Published last in bsp_sync: the number of supersteps whose communication has been applied
     * here.  Direct copies into or from this rank wait for it. */
    _Atomic uint64_t applied __attribute__((aligned(BSPZ_LINE)));

    /* Last BSPlib call: (uint64_t)call << 32 | position; superstep beside it. */
    _Atomic uint64_t where __attribute__((aligned(BSPZ_LINE)));
    _Atomic uint64_t superstep;

    _Atomic uint32_t state __attribute__((aligned(BSPZ_LINE))); /* enum bspz_rank_state, futex */
    _Atomic int32_t ospid;
    _Atomic int32_t exit_status; /* with EXITED, and ENDED: 0 after bsp_end, else as in exit() */
    _Atomic int32_t core;        /* first processor of those that the agent has bound it to, -1:
                                    not bound; by the agent before HELD */
    _Atomic uint32_t in_barrier; /* 1 while waiting in bsp_sync or bsp_end */
    uint32_t yield_pause;        /* barriers to go without yielding, see barrier.c */
    _Atomic uint32_t host;       /* number of its host; by the agent before LAYOUT */
    _Atomic uint32_t file_count; /* file names in use */
    _Atomic uint32_t slot_count; /* entries of the registration table ever used */
    _Atomic uint32_t unread;     /* 1: dies of SIGPIPE as stdout has no reader; bare runs only */
    /* Not 0: the rank counts the time of its activities from this moment of the monotonic clock on
     * (lib/rt/times.h).  BSPZ_TIMED_ALWAYS by the rank; else by the agent, with compare and
     * exchange, at any moment. */
    uint64_t timed_ns;
    /* While it counts: enum bspz_activity and, from bit BSPZ_DOING_SHIFT on, when that began; 0:
     * nothing yet; BSPZ_DOING_CHANGES: the counters are being changed. */
    _Atomic uint64_t doing;
    _Atomic uint32_t plea; /* enum bspz_plea, futex; the agent writes TAKEN and GO */
    /* Futex; by the agent when the rank is to stop at a safe point, and by ranks that have
     * something for it: see lib/rt/safe_point.h. */
    _Atomic uint32_t nudge;
    _Atomic uint32_t own; /* enum bspz_own, futex */
    /* 1: this process is restarted alone, and takes its place among the others; by the agent. */
    _Atomic uint32_t again;
    struct bspz_counters counters __attribute__((aligned(BSPZ_LINE)));
    struct bspz_request request;
    /* 1 while the rank sleeps, on `nudge`, until its rings change (mail.h), unless somebody has
     * woken it. */
    _Atomic uint32_t dozing __attribute__((aligned(BSPZ_LINE)));
};

/* board->flags */
#define BSPZ_BOARD_TIMING      1u /* ranks keep the *_ns counters */
#define BSPZ_BOARD_BARE        2u /* no bsprun: pid 0 is the user's own process */
#define BSPZ_BOARD_SNAPSHOTS                                                                       \
    16u /* with snapshots; the barrier of bsp_end is decided by the coordinator */
#define BSPZ_BOARD_ATTACH    256u /* a rank that fails waits for a debugger first */
#define BSPZ_BOARD_LABELS    128u /* output is labelled: ranks arrive when theirs has been read */
#define BSPZ_BOARD_MEASURES  64u  /* ranks keep work_ns; with BSPZ_BOARD_TIMING */
#define BSPZ_BOARD_HOSTS     32u  /* ranks live on other hosts, too: see "Several hosts" above */
#define BSPZ_BOARD_CALLS     4096u /* the job recovers: calls may be safe points (lib/rt/safe_point.h) */
#define BSPZ_BOARD_ALONE     8192u /* ... and a rank that is lost may be restarted alone */
/* Why the ranks of this term go on from a snapshot, by the agent before they are made; neither of
 * these: after a failure. */
#define BSPZ_BOARD_RESTARTED 512u  /* the user has started the job again */
#define BSPZ_BOARD_MOVED     1024u /* processes move to other hosts */
/* Processes have replicas: barriers have a gate, and all communication goes through outboxes, since
 * hosts need it that are not waited for.  By the agent before RUN. */
#define BSPZ_BOARD_REPLICAS  2048u
#define BSPZ_BOARD_REFUSED   8u /* set by a libbsp of another version, which has printed an error */

#define BSPZ_SPOKEN          0x80000000u /* in board->speaker */

#define BSPZ_TOKEN           40

#define BSPZ_INITIAL_WORDS   512

#define BSPZ_ENTRY_BYTES     40
#define BSPZ_STRETCHES       4

struct bspz_layout {
    uint64_t tables;      /* offset of the registration tables */
    uint64_t directory;   /* offset of the entries that say what is in the outboxes */
    uint64_t entry_bytes; /* from one entry to the next */
    uint64_t stretch[BSPZ_STRETCHES];
    uint64_t blocks; /* offset, 0 without snapshots */
    uint64_t blocks_bytes;
    uint64_t windows;    /* offset */
    uint64_t mail;       /* offset, 0 unless the program communicates by MPI */
    uint64_t ring_bytes; /* of one ring */
    uint64_t half_bytes; /* address space of the last stretch of a half; committed on use */
    uint64_t total;      /* size of the memfd */
};

/* A descriptor that the program inherits. */
#define BSPZ_OUTSIDE_MAX 24
struct bspz_outside {
    int32_t fd;
    uint32_t unused;
    uint64_t device, inode; /* of the open file */
};

struct bspz_board {
    uint64_t magic;
    uint32_t version;
    uint32_t flags;         /* at the same offset in all versions */
    char token[BSPZ_TOKEN]; /* job id: hexadecimal, NUL-terminated; by the creator */
    uint32_t term;
    int32_t limit;             /* -np or BSP_PROCS; 0 = none */
    int32_t slots;             /* of all hosts of the job; on a single host its usable cores */
    int32_t agent_pid;         /* os process id; by the agent */
    _Atomic uint32_t attached; /* 1 once a program with libbsp has attached */
    _Atomic uint32_t orphaned; /* 1 once a rank has reported that the agent is dead */

    /* When output is relayed to a terminal: process 0 starts with a pseudo terminal of its own as
     * stdout [0] and stderr [1], and from bsp_begin to bsp_end all processes write to these
     * inherited descriptors, which keep their order.  By the agent; 0 = none. */
    int32_t relay_fd[2];
    uint64_t relay_terminal[2]; /* st_rdev of the pseudo terminal */

    /* With snapshots: a socket that process 0 inherits, to pass on in bsp_begin the open files that
     * all processes share (ckpt/capture/share.h); 0 = none.  By the agent. */
    int32_t share_fd;

    /* With snapshots: a memfd for the program's own shared memory of all processes of the host;
     * processes that the agent starts inherit it, and close it when they have mapped it. 0 = none.
     * By the agent. */
    int32_t common_fd;

    /* Descriptors from before the start of bsprun, which are not part of snapshots.  By the
     * agent. */
    uint32_t outside_count;
    struct bspz_outside outside[BSPZ_OUTSIDE_MAX];

    /* Several hosts: the number of this one, its lowest pid and how many ranks it has; by the agent
     * before LAYOUT and after each reset; host and first_here are 0 on a single host. */
    int32_t host, first_here, here;

    /* Ranks add 1 and wake; the agent's bell thread waits on it. */
    _Atomic uint32_t doorbell __attribute__((aligned(BSPZ_LINE)));
    _Atomic uint32_t rung_for_loop; /* + 1 before a ring that the agent's loop has to hear */
    _Atomic uint32_t rung_for_objects; /* ... before one for a request to the dataspace */
    _Atomic uint32_t bell_lingers;     /* who begins to wait for messages of other hosts rings */
    _Atomic uint32_t bell_awake; /* who hears the bell looks at it again before it sleeps */
    /* Several hosts, or replicas: the number of stamps stored by ranks of this host.  The rank that makes it a
     * multiple of `here` is the last to reach a stage, and rings. */
    _Atomic uint64_t stamps_here;
    _Atomic int32_t rung_on; /* the processor of that rank, + 1; 0: unknown */
    /* How long the ranks of this host have taken from the completion of a barrier to their last
     * arrival at the next, over so many supersteps, without those behind a barrier that was decided
     * by the coordinator.  By the agent's links. */
    _Atomic uint64_t busy_ns, busy_steps;

    _Atomic uint32_t phase __attribute__((aligned(BSPZ_LINE)));
    _Atomic int32_t wanted;       /* maxprocs of bsp_begin; by pid 0 before PHASE_BEGIN */
    _Atomic int32_t nprocs;       /* p; by the agent before PHASE_LAYOUT */
    _Atomic uint32_t clones_free; /* futex: 1 = the cloning intermediate is reaped */
    _Atomic int32_t clone_error;  /* errno of a fork that failed in the intermediate, 0 = none */
    struct bspz_layout layout;    /* by pid 0 between LAYOUT and FORKED */

    /* With BSPZ_BOARD_REPLICAS, by parity of the superstep and enum bspz_stage: superstep + 1 once
     * the agent has taken what the ranks of this host have published. */
    _Atomic uint64_t gate[2][3];

    /* Requests of the agent. */
    _Atomic uint32_t stop __attribute__((aligned(BSPZ_LINE))); /* enum bspz_stop */
    _Atomic int32_t stop_status;
    _Atomic uint64_t consult_from; /* barriers of supersteps >= this consult; UINT64_MAX = none */
    _Atomic uint32_t spin_ns;      /* how long a rank may spin before it sleeps; 0 = never */

    /* Consultation: the first rank writes consulted = superstep + 1 after all arrived and rings;
     * the agent writes answer, then answered = superstep + 1, and calls bspz_barrier_wake. */
    _Atomic uint64_t consulted;
    _Atomic uint32_t answer; /* enum bspz_decision */
    _Atomic uint64_t answered;

    /* The rank that prints the error message of the job: pid + 1, set by compare and exchange, with
     * BSPZ_SPOKEN once the message is printed; 0 = none yet.  A futex word. */
    _Atomic uint32_t speaker;

    /* Snapshots.  snap_resumed: + 1 of the newest whose ranks may go on; then bspz_barrier_wake.
     * snap_passed, a futex word: 1 when all processes of the job are staged. */
    struct bspz_snap_order snap_order;
    _Atomic uint64_t snap_resumed;
    _Atomic uint32_t snap_passed;

    /* Sleeping ranks: their number, and the word they sleep on. */
    _Atomic uint32_t sleepers __attribute__((aligned(BSPZ_LINE)));
    _Atomic uint32_t wake_sequence;

    /* The initial attributes of processes on this host, before a program or a script that starts it
     * changes them: a struct bspz_attributes (ckpt/capture/attributes.h).  Written by the agent's
     * child that becomes such a process; zeros: unknown. */
    uint64_t initial[BSPZ_INITIAL_WORDS];

    /* --stdin: the process that reads the job's standard input, and the descriptor by which process
     * 0 hands it on to a clone; 0: that process is not cloned here.  By the agent. */
    int32_t stdin_pid, stdin_fd;
};

_Static_assert(sizeof(struct bspz_board) <= BSPZ_BOARD_BYTES, "board fits its pages");
_Static_assert(sizeof(struct bspz_line) == BSPZ_LINE, "a line is read by one transfer");
_Static_assert(sizeof(struct bspz_rank) <= BSPZ_RANK_BYTES, "rank slot fits its place");

static inline struct bspz_rank *bspz_rank_of(const struct bspz_board *board, int pid)
{
    return (struct bspz_rank *)((char *)board + BSPZ_BOARD_BYTES + (size_t)pid * BSPZ_RANK_BYTES);
}

/* Whether the rank lives on this host. */
static inline bool bspz_is_here(const struct bspz_board *board, int pid)
{
    return (int32_t)atomic_load_explicit(&bspz_rank_of(board, pid)->host, memory_order_relaxed) ==
           board->host;
}

static inline uint64_t bspz_names_offset(int nprocs)
{
    return BSPZ_BOARD_BYTES + (uint64_t)nprocs * BSPZ_RANK_BYTES;
}

/* The name of file `index` of rank pid; index < file_count of that rank. */
static inline char *bspz_name_of(const struct bspz_board *board, int nprocs, int pid,
                                 unsigned index)
{
    return (char *)board + bspz_names_offset(nprocs) + (size_t)pid * BSPZ_NAMES_BYTES +
           (size_t)index * BSPZ_NAME_BYTES;
}

static inline uint64_t bspz_snaps_offset(int nprocs)
{
    return bspz_names_offset(nprocs) + (uint64_t)nprocs * BSPZ_NAMES_BYTES;
}

static inline struct bspz_snap *bspz_snap_of(const struct bspz_board *board, int nprocs, int pid)
{
    return (struct bspz_snap *)((char *)board + bspz_snaps_offset(nprocs) +
                                (size_t)pid * BSPZ_SNAP_BYTES);
}

/* Places in an outbox half are numbered across its stretches, which begin at 0, 64 KiB, 256 KiB and
 * 1 MiB. */
static inline uint64_t bspz_stretch_start(unsigned k)
{
    return k == 0 ? 0 : UINT64_C(16384) << 2 * k;
}

static inline uint64_t bspz_stretch_bytes(const struct bspz_layout *layout, unsigned k)
{
    return k == BSPZ_STRETCHES - 1 ? layout->half_bytes
                                   : bspz_stretch_start(k + 1) - bspz_stretch_start(k);
}

/* The window of rank pid: its offset. */
static inline uint64_t bspz_window_offset(const struct bspz_layout *layout, int pid)
{
    return layout->windows + (uint64_t)pid * BSPZ_WINDOW_BYTES;
}

/* Bytes that an agent maps: board, rank slots, file names and records of snapshots. */
static inline uint64_t bspz_agent_bytes(int nprocs)
{
    return bspz_snaps_offset(nprocs) + (uint64_t)nprocs * BSPZ_SNAP_BYTES;
}

/* Moves a descriptor near the top of the limit and makes it close-on-exec, since programs expect
 * theirs to start at 3.  Returns the new one, or `fd` itself on failure. */
int bspz_move_to_top(int fd);

/* Makes the memory at least `bytes` long; 0 or -errno. */
int bspz_board_grow(int fd, uint64_t bytes);

/* Creates a memfd of BSPZ_BOARD_BYTES with an initialised board, close-on-exec, moved near the top
 * of the descriptor limit; maps it at *board.  Returns the descriptor or -errno.  limit and slots
 * as in struct bspz_board; token is copied. */
int bspz_board_create(const char *token, int limit, int slots, uint32_t flags,
                      struct bspz_board **board);

/* Opens the board named by a BSPZ_ENV_BOARD value: the inherited descriptor or, if a wrapper has
 * closed it, the agent's through /proc.  Returns the descriptor, the inherited one without
 * close-on-exec, with the first BSPZ_BOARD_BYTES mapped at *board, or -errno; -EPROTO: the board is of
 * another version, which is *refused, and marked as refused. */
int bspz_board_open(const char *value, struct bspz_board **board, uint32_t *refused);

/* Grows the memfd for nprocs agents' view and maps bspz_agent_bytes(nprocs); NULL with errno on
 * failure.  The old one-page mapping stays valid. */
struct bspz_board *bspz_board_map_agent(int fd, int nprocs);

/* Grows the memfd to the full layout for nprocs ranks and maps it, with the largest half_bytes (up
 * to half_wanted) that the limits allow; fills board->layout.  NULL with errno on failure.
 *
 * The part from the last stretch on is mapped without access (lib/rt/reserve.h): otherwise the
 * kernel would fill all of it in a process that has called mlockall. */
struct bspz_board *bspz_board_map_rank(int fd, int nprocs, uint64_t half_wanted, bool snapshots,
                                       bool mail);

/* Makes the part before the last stretch accessible in a mapping without access: 0 or -errno. */
int bspz_board_open_front(struct bspz_board *board, const struct bspz_layout *layout);

/* Maps the same layout at the same address in a restored process: 0 or -errno.  `fd` may be another
 * agent's board. */
int bspz_board_map_again(int fd, const struct bspz_layout *layout, void *at);

/* Called by the agent when no process of the job runs except frozen copies: resets the board to its
 * state before process 0 called bsp_begin, except for nprocs, layout and names of source files; the
 * words of frozen copies and the hashes of images are kept, too. */
void bspz_board_reset(struct bspz_board *board, int fd, int nprocs);

/* Called by the agent: a process of another host comes to this one, in that superstep.  Its slot is
 * empty then, but for what the former one has said at barriers: others may not have read it yet. */
void bspz_board_receive(struct bspz_board *board, int pid, uint32_t host, uint64_t superstep);

/* Wakes the agent, whose loop looks at the board. */
void bspz_board_ring(struct bspz_board *board);
/* Wakes the thread that hears the bell, which handles it for the dataspace if it can, else the
 * loop. */
void bspz_board_ring_objects(struct bspz_board *board);
/* Wakes that thread only, for the links; by the agent, too. */
void bspz_board_ring_links(struct bspz_board *board);
/* The same without a system call if nobody sleeps there. */
void bspz_board_ring_awake(struct bspz_board *board);
/* How who hears the bell waits for it, so that the above is right. */
void bspz_board_wait_bell(struct bspz_board *board, uint32_t seen, int timeout_ms);

/* What the thread that hears the bell has heard; zeros at first. */
struct bspz_heard {
    uint32_t loop, objects;
};
#define BSPZ_HEARD_LOOP    1u
#define BSPZ_HEARD_OBJECTS 2u
/* For whom the bell was rung since the last call: BSPZ_HEARD_*, 0: only for the links.  After
 * `doorbell` was read.  A process may be stopped or killed before it rings: what it has counted by
 * then is heard at the next ring, whoever makes it, and takes nothing from that one. */
unsigned bspz_board_heard(struct bspz_board *board, struct bspz_heard *heard);

/* Sets a word and wakes all who sleep on it. */
void bspz_word_set(_Atomic uint32_t *word, uint32_t value);

/* The same with the next value. */
void bspz_word_add(_Atomic uint32_t *word);

/* The same if it has the value `from`; returns whether it had. */
bool bspz_word_move(_Atomic uint32_t *word, uint32_t from, uint32_t to);

/* Sleeps until *word != value or about timeout_ms have passed (-1: no bound). */
void bspz_word_wait(_Atomic uint32_t *word, uint32_t value, int timeout_ms);

/* Called by the agent: asks all ranks to leave.  status: for ABORT an exit status, for SIGNAL a
 * signal number. */
void bspz_board_stop(struct bspz_board *board, int nprocs, enum bspz_stop kind, int status);

/* The name of a call, "bsp_put". */
const char *bspz_call_name(unsigned call);

/* The number of processes for bsp_begin(wanted): wanted > 0 is capped by limit (0 = no limit);
 * wanted 0 means limit, else slots. */
int bspz_decide_nprocs(int wanted, int limit, int slots);

/* The number of usable cores, by affinity mask and cgroup quota (rounded up); at least 1. */
int bspz_usable_cores(void);

#endif
