/* wire_table.h - every message of the control protocol, defined once.
 *
 * The structs of wire.h, the encoder and the decoder are all made from the tables below,
 * so a message or a field is added here and nowhere else.  A field is F(type, name, limit):
 *
 *   u32, u64   unsigned number, at most limit
 *   i32        signed number, at most limit in either direction
 *   flag       0 or 1 (limit unused)
 *   f64        finite number (limit unused)
 *   text       string without NUL, at most limit bytes
 *   bytes      arbitrary bytes, at most limit of them
 *   texts      at most limit strings of at most WIRE_ITEM_MAX bytes each
 *   numbers    at most limit unsigned 64-bit numbers
 *   RECORD     at most limit records of that name (WIRE_RECORDS)
 *
 * E(PART, struct, name) is a struct that is defined elsewhere, of which the fields of PART travel,
 * as if they were the message's own; one more type is for these alone:
 *
 *   digest     BSPZ_IMAGE_DIGEST_SIZE bytes in the struct; no bytes for one of zeros
 *
 * Fields travel in the order given.  Both ends of a connection are always of one version; HELLO
 * and the version number in every frame make sure of it.
 */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include "lib/wire/wire_enums.h"

/* ---- Limits ---------------------------------------------------------------------------------- */

#define WIRE_RANKS_MAX        65536u  /* processes of a job */
#define WIRE_HOSTS_MAX        4096u   /* hosts of a job */
#define WIRE_TRAFFIC_EACH     8u      /* pairs that are measured of a process, at most */
#define WIRE_TRAFFIC_MAX      131072u /* ... and of those of a host */
#define WIRE_ITEM_MAX         131072u /* one argument or environment entry: the kernel's own bound */
#define WIRE_ITEMS_MAX        262144u  /* arguments, or environment entries */
#define WIRE_PATH_MAX         4096u    /* a path, a file name of a position */
#define WIRE_NAME_MAX         256u     /* host, function, version */
#define WIRE_TEXT_MAX         65536u   /* text for the user */
#define WIRE_TABLE_MAX        4194304u /* the table of where each process is */
#define WIRE_CHUNK_MAX        65536u   /* output relayed at a time */
#define WIRE_STATUS_MAX       65535    /* exit statuses and signal numbers */
#define WIRE_WINDOW_MAX       65535    /* rows or columns of a terminal */
#define WIRE_SLOTS_MAX        65536u   /* cores or slots of a host */
#define WIRE_OS_PID_MAX       4194304u /* process ids of Linux */
#define WIRE_BEGUN_MAX        256u     /* terms whose beginnings are recorded */
#define WIRE_OUTPUTS_MAX      8192u    /* two streams of every host */
#define WIRE_BUILD_ID_MAX     64u
#define WIRE_KEY_MAX          32u /* bytes of a job's key */
#define WIRE_ADDRESSES_MAX    64u /* of one listener */
#define WIRE_PORT_MAX         65535u
#define WIRE_ESTIMATE_MAX     256u                /* numbers of an estimate */
#define WIRE_FAULTS_MAX       16u                 /* kinds of failures */
#define WIRE_PIECE_MAX        1048576u            /* bytes of a file or an object at a time */
#define WIRE_REPLICAS_MAX     4u                  /* of a process */
#define WIRE_REPLICA_RUNS_MAX 64u                 /* of processes with as many */
#define WIRE_TAG_MAX          4096u               /* bytes of a tag of the dataspace */
#define WIRE_OBJECT_MAX       (UINT64_C(1) << 30) /* ... of an object */
#define WIRE_COPY_LAST        9u                  /* kinds of copies of the dataspace */
#define WIRE_COPIES_MAX       16u                 /* of a part of it */
#define WIRE_STACK_MAX        262144u             /* the C stack of a process, as text */
#define WIRE_U32_MAX          0xffffffffu
#define WIRE_U64_MAX          0xffffffffffffffffu

/* ---- Parts: what travels of the structs of lib/base/snapshot.h: F(type, name, member, limit) */

#define WIRE_PART_SNAPSHOT(F, at)                                                                  \
    F(u64, superstep, at.superstep, WIRE_U64_MAX)                                                  \
    F(u32, term, at.term, WIRE_U32_MAX)

#define WIRE_PART_CONTENT(F, at)                                                                   \
    F(u64, size, at.size, WIRE_U64_MAX)                                                            \
    F(digest, digest, at.digest, BSPZ_IMAGE_DIGEST_SIZE)

#define WIRE_PART_BASE(F, at)                                                                      \
    F(u32, generation, at.generation, 255)                                                         \
    F(u64, base_superstep, at.base.superstep, WIRE_U64_MAX)                                        \
    F(u32, base_term, at.base.term, WIRE_U32_MAX)                                                  \
    F(u32, base_pid, at.base.pid, WIRE_RANKS_MAX - 1)                                              \
    F(digest, base_digest, at.base.digest, BSPZ_IMAGE_DIGEST_SIZE)

#define WIRE_PART_IMAGE(F, at) WIRE_PART_CONTENT(F, at) WIRE_PART_BASE(F, at)

#define WIRE_PART_IMAGE_CHANGED(F, at)                                                             \
    WIRE_PART_CONTENT(F, at)                                                                       \
    F(u64, changed, at.changed, WIRE_U64_MAX)                                                      \
    WIRE_PART_BASE(F, at)

/* ---- Records that messages hold lists of ----------------------------------------------------- */

#define WIRE_RECORDS(R)                                                                            \
    R(host, WIRE_FIELDS_HOST)                                                                      \
    R(where, WIRE_FIELDS_WHERE)                                                                    \
    R(usage, WIRE_FIELDS_USAGE)                                                                    \
    R(begun, WIRE_FIELDS_BEGUN)                                                                    \
    R(image, WIRE_FIELDS_IMAGE)                                                                    \
    R(real, WIRE_FIELDS_REAL)                                                                      \
    R(move, WIRE_FIELDS_MOVE)                                                                      \
    R(measure, WIRE_FIELDS_MEASURE)                                                                \
    R(traffic, WIRE_FIELDS_TRAFFIC)                                                                \
    R(speed, WIRE_FIELDS_SPEED)                                                                    \
    R(share, WIRE_FIELDS_SHARE)                                                                    \
    R(coming, WIRE_FIELDS_COMING)

/* A host of the job: its slots (0: as many as it has usable cores); drained: it gets no processes
 * while there is another. */
#define WIRE_FIELDS_HOST(F, E)                                                                     \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, slots, WIRE_SLOTS_MAX)                                                                  \
    F(text, name, WIRE_NAME_MAX)                                                                   \
    F(flag, drained, 0)

/* A process that is to be on that host. */
#define WIRE_FIELDS_MOVE(F, E)                                                                     \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, host, WIRE_HOSTS_MAX - 1)

/* What a process has done up to a barrier, in nanoseconds since some moment: it has computed,
 * waiting included, it has had a processor between barriers, and at any time, and it has waited for
 * one. bytes: of its memory.  bound: it writes to open files that it shares with others, and cannot
 * move without them. */
#define WIRE_FIELDS_MEASURE(F, E)                                                                  \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, compute_ns, WIRE_U64_MAX)                                                               \
    F(u64, work_ns, WIRE_U64_MAX)                                                                  \
    F(u64, ran_ns, WIRE_U64_MAX)                                                                   \
    F(u64, waited_ns, WIRE_U64_MAX)                                                                \
    F(u64, bytes, WIRE_U64_MAX)                                                                    \
    F(flag, bound, 0)

/* What a process has sent to another one in one superstep; what the other one got is included. */
#define WIRE_FIELDS_TRAFFIC(F, E)                                                                  \
    F(u32, from, WIRE_RANKS_MAX - 1)                                                               \
    F(u32, to, WIRE_RANKS_MAX - 1)                                                                 \
    F(u64, bytes, WIRE_U64_MAX)

/* How fast the way from another host is, in bytes per second; 0: nothing large has come over it. */
#define WIRE_FIELDS_SPEED(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, bandwidth, WIRE_U64_MAX)

/* What others have left of a host to jobs in so many seconds: the share of its cores, 0 to 1, and
 * the square of that, both summed up over these seconds. */
#define WIRE_FIELDS_SHARE(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(f64, seconds, 0)                                                                             \
    F(f64, sum, 0)                                                                                 \
    F(f64, squares, 0)

/* Where a process is: its last BSPlib call and its state (enum wire_rank_state).  os_pid: its
 * process id on that host, 0: none (yet).  memory: its private resident bytes, 0: not known.  The
 * times are what it has counted of its activities. */
#define WIRE_FIELDS_WHERE(F, E)                                                                    \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, state, WIRE_RANK_STATE_LAST)                                                            \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(text, function, WIRE_NAME_MAX)                                                               \
    F(text, file, WIRE_PATH_MAX)                                                                   \
    F(u32, line, WIRE_U32_MAX)                                                                     \
    F(u32, os_pid, WIRE_OS_PID_MAX)                                                                \
    F(u64, memory, WIRE_U64_MAX)                                                                   \
    F(u64, compute_ns, WIRE_U64_MAX)                                                               \
    F(u64, communicate_ns, WIRE_U64_MAX)                                                           \
    F(u64, wait_ns, WIRE_U64_MAX)

/* A process that comes to a host: enum wire_coming; as of that superstep, WIRE_NEVER: of the
 * snapshot with which the term begins; bytes of memory that it has there by now. */
#define WIRE_FIELDS_COMING(F, E)                                                                   \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, state, WIRE_COMING_LAST)                                                                \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(u64, memory, WIRE_U64_MAX)

/* The resource usage of a process: a row of bsprun's --report.  Times in nanoseconds, sizes in
 * bytes. */
#define WIRE_FIELDS_USAGE(F, E)                                                                    \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, supersteps, WIRE_U64_MAX)                                                               \
    F(u64, wall_ns, WIRE_U64_MAX)                                                                  \
    F(u64, compute_ns, WIRE_U64_MAX)                                                               \
    F(u64, communicate_ns, WIRE_U64_MAX)                                                           \
    F(u64, wait_ns, WIRE_U64_MAX)                                                                  \
    F(u64, cpu_ns, WIRE_U64_MAX)                                                                   \
    F(u64, bytes_out, WIRE_U64_MAX)                                                                \
    F(u64, bytes_in, WIRE_U64_MAX)                                                                 \
    F(u64, h_max, WIRE_U64_MAX)                                                                    \
    F(u64, peak_memory, WIRE_U64_MAX)

/* Term `term` began from the snapshot; in a list of snapshots to avoid, `term` is unused. */
#define WIRE_FIELDS_BEGUN(F, E)                                                                    \
    F(u32, term, WIRE_U32_MAX)                                                                     \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, from)

/* A process's image as the manifest names it. */
#define WIRE_FIELDS_IMAGE(F, E)                                                                    \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    E(WIRE_PART_IMAGE, struct bspz_image_facts, facts)

/* A number of a list of them, such as the estimates of estimate_to_numbers. */
#define WIRE_FIELDS_REAL(F, E) F(f64, value, 0)

/* The estimates of Processor Zero (as in ELECT), the interval between snapshots (WIRE_NEVER: none)
 * and its reason (enum wire_why); shares: of the hosts of which it has measured that, since the
 * term began; from other agents the lists are empty.  Part of several messages, so that bsprun has
 * it when the host of Processor Zero is lost. */
#define WIRE_PART_LEARNED(F, at)                                                                   \
    F(real, estimate, at.estimate, WIRE_ESTIMATE_MAX)                                              \
    F(u64, interval_ns, at.interval_ns, WIRE_U64_MAX)                                              \
    F(u32, why, at.why, WIRE_WHY_LAST)                                                             \
    F(share, shares, at.shares, WIRE_HOSTS_MAX)

/* ---- Messages: M(KIND, member of the union, fields, way) -------------------------------------
 *
 * The ways: TO_AGENT from bsprun, TO_BSPRUN from an agent, BOTH_WAYS between these two; TO_ZERO
 * from an agent to Processor Zero, with a field `host` that says which; FROM_ZERO to an agent;
 * AMONG_AGENTS. */

#define WIRE_MESSAGES(M)                                                                           \
    M(JOIN, join, WIRE_FIELDS_JOIN, TO_AGENT)                                                      \
    M(START, start, WIRE_FIELDS_START, TO_AGENT)                                                   \
    M(ELECT, elect, WIRE_FIELDS_ELECT, TO_AGENT)                                                   \
    M(STOP, stop, WIRE_FIELDS_STOP, BOTH_WAYS)                                                     \
    M(QUERY_STATUS, query_status, WIRE_FIELDS_QUERY_STATUS, TO_AGENT)                              \
    M(EXIT, exit, WIRE_FIELDS_EXIT, TO_AGENT)                                                      \
    M(SAVE, save, WIRE_FIELDS_SAVE, TO_AGENT)                                                      \
    M(TERM_RECORDED, term_recorded, WIRE_FIELDS_TERM_RECORDED, TO_AGENT)                           \
    M(CLOSED, closed, WIRE_FIELDS_CLOSED, TO_AGENT)                                                \
    M(RESIZE, resize, WIRE_FIELDS_RESIZE, TO_AGENT)                                                \
    M(INPUT, input, WIRE_FIELDS_INPUT, TO_AGENT)                                                   \
    M(ASK_PASSED, ask_passed, WIRE_FIELDS_ASK_PASSED, TO_AGENT)                                    \
    M(ALIVE, alive, WIRE_FIELDS_ALIVE, BOTH_WAYS)                                                  \
    M(GIVE_WAY, give_way, WIRE_FIELDS_GIVE_WAY, TO_AGENT)                                          \
    M(QUERY_STACKS, query_stacks, WIRE_FIELDS_QUERY_STACKS, TO_AGENT)                              \
    M(HELLO, hello, WIRE_FIELDS_HELLO, TO_BSPRUN)                                                  \
    M(REGISTER, registration, WIRE_FIELDS_REGISTER, TO_BSPRUN)                                     \
    M(ELECTED, elected, WIRE_FIELDS_ELECTED, TO_BSPRUN)                                            \
    M(STATUS, status, WIRE_FIELDS_STATUS, TO_BSPRUN)                                               \
    M(OUTPUT, output, WIRE_FIELDS_OUTPUT, TO_BSPRUN)                                               \
    M(TRACE, trace, WIRE_FIELDS_TRACE, TO_BSPRUN)                                                  \
    M(REPORT, report, WIRE_FIELDS_REPORT, TO_BSPRUN)                                               \
    M(NOTICE, notice, WIRE_FIELDS_NOTICE, TO_BSPRUN)                                               \
    M(RESTARTED, restarted, WIRE_FIELDS_RESTARTED, TO_BSPRUN)                                      \
    M(RESETTLED, resettled, WIRE_FIELDS_RESETTLED, TO_BSPRUN)                                      \
    M(BEARABLE, bearable, WIRE_FIELDS_BEARABLE, TO_BSPRUN)                                         \
    M(ENDED, ended, WIRE_FIELDS_ENDED, TO_BSPRUN)                                                  \
    M(TERM_OVER, term_over, WIRE_FIELDS_TERM_OVER, TO_BSPRUN)                                      \
    M(CHOSEN, chosen, WIRE_FIELDS_CHOSEN, TO_BSPRUN)                                               \
    M(SAVED, saved, WIRE_FIELDS_SAVED, TO_BSPRUN)                                                  \
    M(UNSAVED, unsaved, WIRE_FIELDS_UNSAVED, TO_BSPRUN)                                            \
    M(CLOSING, closing, WIRE_FIELDS_CLOSING, TO_BSPRUN)                                            \
    M(MARK, mark, WIRE_FIELDS_MARK, BOTH_WAYS)                                                     \
    M(INPUT_TAKEN, input_taken, WIRE_FIELDS_INPUT_TAKEN, TO_BSPRUN)                                \
    M(PASSED, passed, WIRE_FIELDS_PASSED, TO_BSPRUN)                                               \
    M(LINK_LOST, link_lost, WIRE_FIELDS_LINK_LOST, BOTH_WAYS)                                      \
    M(RUNNING, running, WIRE_FIELDS_RUNNING, TO_BSPRUN)                                            \
    M(OWNER, owner, WIRE_FIELDS_OWNER, TO_BSPRUN)                                                  \
    M(STACK, stack, WIRE_FIELDS_STACK, TO_BSPRUN)                                                  \
    M(DEBUGGED, debugged, WIRE_FIELDS_DEBUGGED, TO_BSPRUN)                                         \
    M(HOST_READY, host_ready, WIRE_FIELDS_HOST_READY, TO_ZERO)                                     \
    M(REGISTERED, registered, WIRE_FIELDS_REGISTERED, TO_ZERO)                                     \
    M(RANKS_READY, ranks_ready, WIRE_FIELDS_RANKS_READY, TO_ZERO)                                  \
    M(ARRIVE, arrive, WIRE_FIELDS_ARRIVE, TO_ZERO)                                                 \
    M(RANK_EXITED, rank_exited, WIRE_FIELDS_RANK_EXITED, TO_ZERO)                                  \
    M(ABORT, abort, WIRE_FIELDS_ABORT, TO_ZERO)                                                    \
    M(QUIET, quiet, WIRE_FIELDS_QUIET, TO_ZERO)                                                    \
    M(BEARS, bears, WIRE_FIELDS_BEARS, TO_ZERO)                                                    \
    M(OBJECTS, objects, WIRE_FIELDS_OBJECTS, TO_ZERO)                                              \
    M(HALTED, halted, WIRE_FIELDS_HALTED, TO_ZERO)                                                 \
    M(RANKS_STOPPED, ranks_stopped, WIRE_FIELDS_RANKS_STOPPED, TO_ZERO)                            \
    M(HELD, held, WIRE_FIELDS_HELD, TO_ZERO)                                                       \
    M(STAGED, staged, WIRE_FIELDS_STAGED, TO_ZERO)                                                 \
    M(CAPTURED, captured, WIRE_FIELDS_CAPTURED, TO_ZERO)                                           \
    M(IMAGE_DURABLE, image_durable, WIRE_FIELDS_IMAGE_DURABLE, TO_ZERO)                            \
    M(IMAGE_FAILED, image_failed, WIRE_FIELDS_IMAGE_FAILED, TO_ZERO)                               \
    M(PERSISTED, persisted, WIRE_FIELDS_PERSISTED, TO_ZERO)                                        \
    M(KNOWN, known, WIRE_FIELDS_KNOWN, TO_ZERO)                                                    \
    M(AHEAD_READY, ahead_ready, WIRE_FIELDS_AHEAD_READY, TO_ZERO)                                  \
    M(PLACE, place, WIRE_FIELDS_PLACE, FROM_ZERO)                                                  \
    M(RUN, run, WIRE_FIELDS_RUN, FROM_ZERO)                                                        \
    M(RELEASE, release, WIRE_FIELDS_RELEASE, FROM_ZERO)                                            \
    M(STOP_RANKS, stop_ranks, WIRE_FIELDS_STOP_RANKS, FROM_ZERO)                                   \
    M(END, end, WIRE_FIELDS_END, FROM_ZERO)                                                        \
    M(PERSIST, persist, WIRE_FIELDS_PERSIST, FROM_ZERO)                                            \
    M(COMMITTED, committed, WIRE_FIELDS_COMMITTED, FROM_ZERO)                                      \
    M(RETIRE, retire, WIRE_FIELDS_RETIRE, FROM_ZERO)                                               \
    M(ABANDON, abandon, WIRE_FIELDS_ABANDON, FROM_ZERO)                                            \
    M(RESTORE, restore, WIRE_FIELDS_RESTORE, FROM_ZERO)                                            \
    M(PASS, pass, WIRE_FIELDS_PASS, FROM_ZERO)                                                     \
    M(RESUME, resume, WIRE_FIELDS_RESUME, FROM_ZERO)                                               \
    M(AHEAD, ahead, WIRE_FIELDS_AHEAD, FROM_ZERO)                                                  \
    M(CONSULT, consult, WIRE_FIELDS_CONSULT, FROM_ZERO)                                            \
    M(ASK_QUIET, ask_quiet, WIRE_FIELDS_ASK_QUIET, FROM_ZERO)                                      \
    M(SURVIVED, survived, WIRE_FIELDS_SURVIVED, FROM_ZERO)                                         \
    M(LOSSES, losses, WIRE_FIELDS_LOSSES, FROM_ZERO)                                               \
    M(HALT, halt, WIRE_FIELDS_HALT, FROM_ZERO)                                                     \
    M(HALT_AT, halt_at, WIRE_FIELDS_HALT_AT, FROM_ZERO)                                            \
    M(FETCH, fetch, WIRE_FIELDS_FETCH, AMONG_AGENTS)                                               \
    M(PIECE, piece, WIRE_FIELDS_PIECE, AMONG_AGENTS)                                               \
    M(KEEP, keep, WIRE_FIELDS_KEEP, AMONG_AGENTS)                                                  \
    M(DATA_PUT, data_put, WIRE_FIELDS_DATA_PUT, AMONG_AGENTS)                                      \
    M(DATA_STORED, data_stored, WIRE_FIELDS_DATA_STORED, AMONG_AGENTS)                             \
    M(DATA_ASK, data_ask, WIRE_FIELDS_DATA_ASK, AMONG_AGENTS)                                      \
    M(DATA_GRANT, data_grant, WIRE_FIELDS_DATA_GRANT, AMONG_AGENTS)                                \
    M(DATA_WITHDRAW, data_withdraw, WIRE_FIELDS_DATA_WITHDRAW, AMONG_AGENTS)                       \
    M(DATA_WITHDRAWN, data_withdrawn, WIRE_FIELDS_DATA_WITHDRAWN, AMONG_AGENTS)                    \
    M(DATA_DIFFERS, data_differs, WIRE_FIELDS_DATA_DIFFERS, AMONG_AGENTS)                          \
    M(DATA_CUT, data_cut, WIRE_FIELDS_DATA_CUT, AMONG_AGENTS)                                      \
    M(DATA_LOST, data_lost, WIRE_FIELDS_DATA_LOST, AMONG_AGENTS)                                   \
    M(DATA_COPY, data_copy, WIRE_FIELDS_DATA_COPY, AMONG_AGENTS)                                   \
    M(DATA_COPIED, data_copied, WIRE_FIELDS_DATA_COPIED, AMONG_AGENTS)                             \
    M(DATA_AHEAD, data_ahead, WIRE_FIELDS_DATA_AHEAD, AMONG_AGENTS)                                \
    M(DATA_CHAIN, data_chain, WIRE_FIELDS_DATA_CHAIN, AMONG_AGENTS)                                \
    M(DATA_CHAINED, data_chained, WIRE_FIELDS_DATA_CHAINED, AMONG_AGENTS)                          \
    M(DATA_PAST, data_past, WIRE_FIELDS_DATA_PAST, AMONG_AGENTS)                                   \
    M(DATA_PAST_IS, data_past_is, WIRE_FIELDS_DATA_PAST_IS, AMONG_AGENTS)                          \
    M(DATA_CALL, data_call, WIRE_FIELDS_DATA_CALL, AMONG_AGENTS)                                   \
    M(DATA_HOW_FAR, data_how_far, WIRE_FIELDS_DATA_HOW_FAR, AMONG_AGENTS)                          \
    M(DATA_OFFER, data_offer, WIRE_FIELDS_DATA_OFFER, AMONG_AGENTS)                                \
    M(DATA_TURN, data_turn, WIRE_FIELDS_DATA_TURN, AMONG_AGENTS)                                   \
    M(DATA_REFER, data_refer, WIRE_FIELDS_DATA_REFER, AMONG_AGENTS)                                \
    M(DATA_FETCH, data_fetch, WIRE_FIELDS_DATA_FETCH, AMONG_AGENTS)                                \
    M(DATA_PASS, data_pass, WIRE_FIELDS_DATA_PASS, AMONG_AGENTS)                                   \
    M(MEET, meet, WIRE_FIELDS_MEET, AMONG_AGENTS)                                                  \
    M(GIVE_UP, give_up, WIRE_FIELDS_GIVE_UP, AMONG_AGENTS)                                         \
    M(MAIL, mail, WIRE_FIELDS_MAIL, AMONG_AGENTS)                                                  \
    M(MAIL_READ, mail_read, WIRE_FIELDS_MAIL_READ, AMONG_AGENTS)                                   \
    M(MAIL_MARK, mail_mark, WIRE_FIELDS_MAIL_MARK, AMONG_AGENTS)                                   \
    M(TAKE_OVER, take_over, WIRE_FIELDS_TAKE_OVER, TO_AGENT)                                       \
    M(ACCOUNT, account, WIRE_FIELDS_ACCOUNT, TO_ZERO)                                              \
    M(TAKEN_OVER, taken_over, WIRE_FIELDS_TAKEN_OVER, FROM_ZERO)

/* ---- Fields, by who exchanges the messages ---- */

#include "lib/wire/wire_launcher.h"
#include "lib/wire/wire_zero.h"

/* ---- The dataspace: requests to the agent of the host to which a tag belongs (bsprun/dataspace).
 * pid: of the process that called, which has one request at a time.  life: how often it has been
 * restarted alone; of an answer as in the request.  request: the number of the request among those
 * of the process, 0: it has none.  repeats: the process made this request in an earlier life, and
 * had its answer.  plain: the process is never restarted alone.  Objects go in pieces, in
 * order; a piece is at `offset` of the `size` bytes. */

/* tag: with the first piece and with the last. */

#define WIRE_FIELDS_DATA_PUT(F, E)                                                                 \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)                                                                     \
    F(u64, request, WIRE_U64_MAX)                                                                  \
    F(flag, repeats, 0)                                                                            \
    F(flag, plain, 0)                                                                              \
    F(bytes, tag, WIRE_TAG_MAX)                                                                    \
    F(u64, size, WIRE_OBJECT_MAX)                                                                  \
    F(u64, offset, WIRE_OBJECT_MAX)                                                                \
    F(bytes, data, WIRE_PIECE_MAX)

/* The put of that process has taken effect. */
#define WIRE_FIELDS_DATA_STORED(F, E)                                                              \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)

/* removes: a get, else a read; at most `room` bytes are wanted. */
#define WIRE_FIELDS_DATA_ASK(F, E)                                                                 \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)                                                                     \
    F(u64, request, WIRE_U64_MAX)                                                                  \
    F(flag, repeats, 0)                                                                            \
    F(flag, plain, 0)                                                                              \
    F(bytes, tag, WIRE_TAG_MAX)                                                                    \
    F(flag, removes, 0)                                                                            \
    F(u64, room, WIRE_OBJECT_MAX)

/* The get or read of that process, of this tag, is taken back; answered by DATA_WITHDRAWN unless it
 * has been granted.  Of a life that has asked for nothing yet: what earlier ones have asked for is
 * dropped, also an object that has come in part; not answered. */
#define WIRE_FIELDS_DATA_WITHDRAW(F, E)                                                            \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)                                                                     \
    F(bytes, tag, WIRE_TAG_MAX)

#define WIRE_FIELDS_DATA_WITHDRAWN(F, E)                                                           \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)

#define WIRE_FIELDS_DATA_GRANT(F, E)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)                                                                     \
    F(u64, size, WIRE_OBJECT_MAX)                                                                  \
    F(u64, offset, WIRE_OBJECT_MAX)                                                                \
    F(bytes, data, WIRE_PIECE_MAX)

/* The process does something else than in an earlier life, so it cannot catch up alone. */
#define WIRE_FIELDS_DATA_DIFFERS(F, E)                                                             \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)

/* An image of the process is durable that was made before this request: it repeats none with a
 * smaller number.  Where it has replicas: so far is the one on the sender's host. */
#define WIRE_FIELDS_DATA_CUT(F, E)                                                                 \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, request, WIRE_U64_MAX)

/* That host is lost: comes before anything that was sent with this knowledge. */
#define WIRE_FIELDS_DATA_LOST(F, E) F(u32, host, WIRE_HOSTS_MAX - 1)

/* To a host that backs a part of the dataspace, or keeps it in a snapshot: a message of
 * bsprun/dataspace/copies.h, which says what the fields of each kind are.  has_object: it comes in
 * pieces, each with all fields but the tag, which is with the last.  round: it has come by that
 * chain, DATA_CHAIN; 0: by none. */
#define WIRE_FIELDS_DATA_COPY(F, E)                                                                \
    F(u32, kind, WIRE_COPY_LAST)                                                                   \
    F(u32, part, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, change, WIRE_U64_MAX)                                                                   \
    F(u64, number, WIRE_U64_MAX)                                                                   \
    F(u64, what, WIRE_U64_MAX)                                                                     \
    F(flag, removes, 0)                                                                            \
    F(u32, same, WIRE_U32_MAX)                                                                     \
    F(u32, round, WIRE_U32_MAX)                                                                    \
    F(flag, has_object, 0)                                                                         \
    F(bytes, tag, WIRE_TAG_MAX)                                                                    \
    F(u64, size, WIRE_OBJECT_MAX)                                                                  \
    F(u64, offset, WIRE_OBJECT_MAX)                                                                \
    F(bytes, data, WIRE_PIECE_MAX)

/* Back: all changes of the part up to that one are made. */
#define WIRE_FIELDS_DATA_COPIED(F, E)                                                              \
    F(u32, part, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, change, WIRE_U64_MAX)

/* To a host that backs a part: a piece of an object that the process is about to put there; at
 * offset 0 it begins anew.  DATA_COPY of the put goes on behind the last of them.  size 0: the
 * process does not put it after all. */
#define WIRE_FIELDS_DATA_AHEAD(F, E)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, size, WIRE_OBJECT_MAX)                                                                  \
    F(u64, offset, WIRE_OBJECT_MAX)                                                                \
    F(bytes, data, WIRE_PIECE_MAX)

/* To a host that backs a part, from its owner or from the one before it in the chain of that number
 * of the owner: a piece of an object that the process is about to put there.  then, with the first:
 * the hosts to which it goes on, one after the other.  size 0: it is not put after all; `all`: nor
 * is any other of the owner up to this one, for whose change DATA_COPY has not come. */
#define WIRE_FIELDS_DATA_CHAIN(F, E)                                                               \
    F(u32, owner, WIRE_HOSTS_MAX - 1)                                                              \
    F(u32, round, WIRE_U32_MAX)                                                                    \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(numbers, then, WIRE_COPIES_MAX)                                                              \
    F(flag, all, 0)                                                                                \
    F(u64, size, WIRE_OBJECT_MAX)                                                                  \
    F(u64, offset, WIRE_OBJECT_MAX)                                                                \
    F(bytes, data, WIRE_PIECE_MAX)

/* To the owner: all of that object has come. */
#define WIRE_FIELDS_DATA_CHAINED(F, E) F(u32, round, WIRE_U32_MAX)

/* That life of the process begins on the sender's host, as the one before was lost: what has taken
 * effect of the process's requests?  round: of the question. */
#define WIRE_FIELDS_DATA_PAST(F, E)                                                                \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, life, WIRE_U32_MAX)                                                                     \
    F(u32, round, WIRE_U32_MAX)

/* newest: the last one that has, in the parts that the sender owns; 0: none. */
#define WIRE_FIELDS_DATA_PAST_IS(F, E)                                                             \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, round, WIRE_U32_MAX)                                                                    \
    F(u64, newest, WIRE_U64_MAX)

/* Of a process with replicas, before DATA_ASK or the last DATA_PUT of each request.  what:
 * compared with that of the other replicas, see bsprun/dataspace/copies.h. */
#define WIRE_FIELDS_DATA_CALL(F, E)                                                                \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, what, WIRE_U64_MAX)

/* A replica puts an object, which its host sends only if it is told to: another replica may do so.
 * Answered by DATA_STORED, or DATA_TURN. */
#define WIRE_FIELDS_DATA_OFFER(F, E)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, request, WIRE_U64_MAX)                                                                  \
    F(u64, what, WIRE_U64_MAX)                                                                     \
    F(bytes, tag, WIRE_TAG_MAX)

/* sends: it is the turn of the replica to send what it has offered, and what it puts from now on.
 * Else another one is ahead of it, and it is to offer. */
#define WIRE_FIELDS_DATA_TURN(F, E)                                                                \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(flag, sends, 0)

/* In place of DATA_GRANT, of a large object: the replica on host `from` has been granted it before,
 * and passes it on.  If that is lost, or has dropped it, the request is made again. */
#define WIRE_FIELDS_DATA_REFER(F, E)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, from, WIRE_HOSTS_MAX - 1)

/* To the host of another replica: what it gets by that request is wanted here, too, or not any
 * more. round: of the sender's questions about that process. */
#define WIRE_FIELDS_DATA_FETCH(F, E)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, round, WIRE_U32_MAX)                                                                    \
    F(u64, request, WIRE_U64_MAX)                                                                  \
    F(flag, wants, 0)

/* The answer: a piece of the object; or it is not here, and data is empty. */
#define WIRE_FIELDS_DATA_PASS(F, E)                                                                \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, round, WIRE_U32_MAX)                                                                    \
    F(flag, here, 0)                                                                               \
    F(u64, size, WIRE_OBJECT_MAX)                                                                  \
    F(u64, offset, WIRE_OBJECT_MAX)                                                                \
    F(bytes, data, WIRE_PIECE_MAX)

/* How far is the replica of the process?  answers: so far is that of the sender, else request is 0.
 * If the process has no replicas: it is to be saved, as the answers to it up to this request take
 * most of what the sender may keep; answered by DATA_CUT. */
#define WIRE_FIELDS_DATA_HOW_FAR(F, E)                                                             \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(flag, answers, 0)                                                                            \
    F(u64, request, WIRE_U64_MAX)

/* ---- Messages from process to process: rings as in lib/shm/mail.h.  from, to: processes, that
 * write and read the ring; at: a position in it. */

/* The bytes of the ring from `at` on.  whole: its reader may see them, and those sent before: they
 * end with a record. */
#define WIRE_FIELDS_MAIL(F, E)                                                                     \
    F(u32, from, WIRE_RANKS_MAX - 1)                                                               \
    F(u32, to, WIRE_RANKS_MAX - 1)                                                                 \
    F(flag, whole, 0)                                                                              \
    F(u64, at, WIRE_U64_MAX)                                                                       \
    F(bytes, data, WIRE_PIECE_MAX)

/* The ring has been read up to `at`. */
#define WIRE_FIELDS_MAIL_READ(F, E)                                                                \
    F(u32, from, WIRE_RANKS_MAX - 1)                                                               \
    F(u32, to, WIRE_RANKS_MAX - 1)                                                                 \
    F(u64, at, WIRE_U64_MAX)

/* All MAIL that processes of the sender's host had written before the snapshot at that superstep
 * has been sent. */
#define WIRE_FIELDS_MAIL_MARK(F, E) F(u64, superstep, WIRE_U64_MAX)

#endif
