/* wire_table.h - every message of the control protocol, defined once.
 *
 * The structs of wire.h, the encoder, the decoder and the dump are all made from the tables below,
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
 * Fields travel in the order given.  Both ends of a connection are always of one version; HELLO
 * and the version number in every frame make sure of it.
 */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include "lib/wire/wire_enums.h"

/* ---- Limits ------------------------------------------------------------------------------ */

#define WIRE_RANKS_MAX   65536u   /* processes of a job */
#define WIRE_HOSTS_MAX   4096u    /* hosts of a job */
#define WIRE_ITEM_MAX    131072u  /* one argument or environment entry: the kernel's own bound */
#define WIRE_ITEMS_MAX   262144u  /* arguments, or environment entries */
#define WIRE_PATH_MAX    4096u    /* a path, a file name of a position */
#define WIRE_NAME_MAX    256u     /* host, function, version */
#define WIRE_TEXT_MAX    65536u   /* anything meant to be read by a person */
#define WIRE_TABLE_MAX   4194304u /* the table of where each process is */
#define WIRE_CHUNK_MAX   65536u   /* output relayed at a time */
#define WIRE_STATUS_MAX  65535    /* exit statuses and signal numbers */
#define WIRE_WINDOW_MAX  65535    /* rows or columns of a terminal */
#define WIRE_SLOTS_MAX   65536u   /* cores or slots of a host */
#define WIRE_OS_PID_MAX  4194304u /* process ids of Linux */
#define WIRE_BEGUN_MAX   256u     /* terms whose beginnings are remembered */
#define WIRE_OUTPUTS_MAX 8192u    /* two streams of every host */
#define WIRE_DIGEST_MAX  32u      /* bytes of the digest of an image */
#define WIRE_BUILD_ID_MAX 64u
#define WIRE_KEY_MAX      32u /* bytes of a job's key */
#define WIRE_ADDRESSES_MAX 64u /* under which one listener may be found */
#define WIRE_PIECE_MAX   1048576u /* bytes of a file at a time */
#define WIRE_U32_MAX     0xffffffffu
#define WIRE_U64_MAX     0xffffffffffffffffu

/* ---- Records that messages hold lists of --------------------------------------------------- */

#define WIRE_RECORDS(R)                                                                            \
    R(host, WIRE_FIELDS_HOST)                                                                      \
    R(where, WIRE_FIELDS_WHERE)                                                                    \
    R(usage, WIRE_FIELDS_USAGE)                                                                    \
    R(begun, WIRE_FIELDS_BEGUN)                                                                    \
    R(image, WIRE_FIELDS_IMAGE)

/* A host of the job: its slots (0: as many as it has usable cores). */
#define WIRE_FIELDS_HOST(F)                                                                        \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, slots, WIRE_SLOTS_MAX)                                                                  \
    F(text, name, WIRE_NAME_MAX)

/* Where a process is: its last BSPlib call and what it is doing (enum wire_rank_state). */
#define WIRE_FIELDS_WHERE(F)                                                                       \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, state, WIRE_RANK_STATE_LAST)                                                            \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(text, function, WIRE_NAME_MAX)                                                               \
    F(text, file, WIRE_PATH_MAX)                                                                   \
    F(u32, line, WIRE_U32_MAX)

/* What a process used: the row of bsprun's --report. Times in nanoseconds, sizes in bytes. */
#define WIRE_FIELDS_USAGE(F)                                                                       \
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

/* Term `term` began from the snapshot (superstep, from); in a list of snapshots to avoid, `term` is
 * unused. */
#define WIRE_FIELDS_BEGUN(F)                                                                       \
    F(u32, term, WIRE_U32_MAX)                                                                     \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(u32, from, WIRE_U32_MAX)

/* A process's image as the manifest names it; base: what it builds on, when generation is not 0. */
#define WIRE_FIELDS_IMAGE(F)                                                                       \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, size, WIRE_U64_MAX)                                                                     \
    F(bytes, digest, WIRE_DIGEST_MAX)                                                              \
    F(u32, generation, WIRE_U32_MAX)                                                               \
    F(u64, base_superstep, WIRE_U64_MAX)                                                           \
    F(u32, base_term, WIRE_U32_MAX)                                                                \
    F(u32, base_pid, WIRE_RANKS_MAX - 1)                                                           \
    F(bytes, base_digest, WIRE_DIGEST_MAX)

/* ---- Messages: M(KIND, member of the union, fields) ----------------------------------------- */

#define WIRE_MESSAGES(M)                                                                           \
    /* bsprun to agent */                                                                          \
    M(JOIN, join, WIRE_FIELDS_JOIN)                                                                \
    M(START, start, WIRE_FIELDS_START)                                                             \
    M(ELECT, elect, WIRE_FIELDS_ELECT)                                                             \
    M(STOP, stop, WIRE_FIELDS_STOP)                                                                \
    M(QUERY_STATUS, query_status, WIRE_FIELDS_QUERY_STATUS)                                        \
    M(EXIT, exit, WIRE_FIELDS_EXIT)                                                                \
    M(SAVE, save, WIRE_FIELDS_SAVE)                                                                \
    M(TERM_RECORDED, term_recorded, WIRE_FIELDS_TERM_RECORDED)                                     \
    M(CLOSED, closed, WIRE_FIELDS_CLOSED)                                                          \
    M(RESIZE, resize, WIRE_FIELDS_RESIZE)                                                          \
    M(INPUT, input, WIRE_FIELDS_INPUT)                                                             \
    M(ASK_PASSED, ask_passed, WIRE_FIELDS_ASK_PASSED)                                              \
    M(ALIVE, alive, WIRE_FIELDS_ALIVE) /* and back */                                              \
    /* agent to bsprun */                                                                          \
    M(HELLO, hello, WIRE_FIELDS_HELLO)                                                             \
    M(REGISTER, registration, WIRE_FIELDS_REGISTER)                                                \
    M(ELECTED, elected, WIRE_FIELDS_ELECTED)                                                       \
    M(STATUS, status, WIRE_FIELDS_STATUS)                                                          \
    M(OUTPUT, output, WIRE_FIELDS_OUTPUT)                                                          \
    M(TRACE, trace, WIRE_FIELDS_TRACE)                                                             \
    M(REPORT, report, WIRE_FIELDS_REPORT)                                                          \
    M(NOTICE, notice, WIRE_FIELDS_NOTICE)                                                          \
    M(ENDED, ended, WIRE_FIELDS_ENDED)                                                             \
    M(TERM_OVER, term_over, WIRE_FIELDS_TERM_OVER)                                                 \
    M(CHOSEN, chosen, WIRE_FIELDS_CHOSEN)                                                          \
    M(SAVED, saved, WIRE_FIELDS_SAVED)                                                             \
    M(CLOSING, closing, WIRE_FIELDS_CLOSING)                                                       \
    M(MARK, mark, WIRE_FIELDS_MARK)                                                                \
    M(INPUT_TAKEN, input_taken, WIRE_FIELDS_INPUT_TAKEN)                                           \
    M(PASSED, passed, WIRE_FIELDS_PASSED)                                                          \
    M(LINK_LOST, link_lost, WIRE_FIELDS_LINK_LOST)                                                 \
    /* agent to Processor Zero */                                                                  \
    M(HOST_READY, host_ready, WIRE_FIELDS_HOST_READY)                                              \
    M(REGISTERED, registered, WIRE_FIELDS_REGISTERED)                                              \
    M(RANKS_READY, ranks_ready, WIRE_FIELDS_RANKS_READY)                                           \
    M(ARRIVE, arrive, WIRE_FIELDS_ARRIVE)                                                          \
    M(RANK_EXITED, rank_exited, WIRE_FIELDS_RANK_EXITED)                                           \
    M(ABORT, abort, WIRE_FIELDS_ABORT)                                                             \
    M(RANKS_STOPPED, ranks_stopped, WIRE_FIELDS_RANKS_STOPPED)                                     \
    M(HELD, held, WIRE_FIELDS_HELD)                                                                \
    M(STAGED, staged, WIRE_FIELDS_STAGED)                                                          \
    M(CAPTURED, captured, WIRE_FIELDS_CAPTURED)                                                    \
    M(IMAGE_DURABLE, image_durable, WIRE_FIELDS_IMAGE_DURABLE)                                     \
    M(IMAGE_FAILED, image_failed, WIRE_FIELDS_IMAGE_FAILED)                                        \
    M(PERSISTED, persisted, WIRE_FIELDS_PERSISTED)                                                 \
    M(KNOWN, known, WIRE_FIELDS_KNOWN)                                                             \
    /* Processor Zero to agent */                                                                  \
    M(PLACE, place, WIRE_FIELDS_PLACE)                                                             \
    M(RUN, run, WIRE_FIELDS_RUN)                                                                   \
    M(RELEASE, release, WIRE_FIELDS_RELEASE)                                                       \
    M(STOP_RANKS, stop_ranks, WIRE_FIELDS_STOP_RANKS)                                              \
    M(END, end, WIRE_FIELDS_END)                                                                   \
    M(PERSIST, persist, WIRE_FIELDS_PERSIST)                                                       \
    M(COMMITTED, committed, WIRE_FIELDS_COMMITTED)                                                 \
    M(RETIRE, retire, WIRE_FIELDS_RETIRE)                                                          \
    M(ABANDON, abandon, WIRE_FIELDS_ABANDON)                                                       \
    M(RESTORE, restore, WIRE_FIELDS_RESTORE)                                                       \
    M(PASS, pass, WIRE_FIELDS_PASS)                                                                \
    M(RESUME, resume, WIRE_FIELDS_RESUME)                                                          \
    M(CONSULT, consult, WIRE_FIELDS_CONSULT)                                                       \
    /* agent to agent */                                                                           \
    M(FETCH, fetch, WIRE_FIELDS_FETCH)                                                             \
    M(PIECE, piece, WIRE_FIELDS_PIECE)                                                             \
    M(KEEP, keep, WIRE_FIELDS_KEEP)

/* What an agent of a job with several hosts must know before all else; over the standard input of
 * one that bsprun does not reach otherwise, so that the key is in no argument and no environment: its
 * number (WIRE_HOSTS_MAX: that of the host in `hosts` whose name is its own), which agent of that host it
 * is, where bsprun listens, how long silence may last, whether what is sent is encrypted. */
#define WIRE_FIELDS_JOIN(F)                                                                        \
    F(bytes, key, WIRE_KEY_MAX)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX)                                                                   \
    F(host, hosts, WIRE_HOSTS_MAX)                                                                 \
    F(u32, incarnation, WIRE_U32_MAX)                                                              \
    F(texts, addresses, WIRE_ADDRESSES_MAX)                                                        \
    F(u32, heartbeat_ms, WIRE_U32_MAX)                                                             \
    F(flag, encrypt, 0)

/* Start process 0 of the program.  environment holds NAME=VALUE entries to set and unset the names
 * to remove in the environment the agent itself was started with.  process_limit and cores: 0 when
 * not given.  abort_at and consult_every are for tests (WIRE_U64_MAX and 0 switch them off).
 *
 * store: the absolute path DIR/JOB of the job's snapshots, "" in a job without.  resume: the agent
 * starts nothing by itself, as an ELECT that restores follows; program, arguments and environment
 * (which is then complete, nothing is inherited) are those of the process to restore, an absolute
 * path and what the manifest says; empty for an agent that is to read them there itself.  rule,
 * every, overhead: struct policy_rule.  recover: a fault does not end a job that has a snapshot; 0:
 * there is one only because processes of other hosts are made of it.  copies: on how many hosts an
 * image shall be when they share no directory; 0: one.  keep: committed snapshots that
 * stay, 0: all of them.  stop_on_failure, stop_on_late_failure: a snapshot that cannot be taken ends
 * the job before, after the first that was taken at a barrier.  excluded: the rules of --ckpt-exclude.  options: bsprun's, for the manifest. */
#define WIRE_FIELDS_START(F)                                                                       \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(text, program, WIRE_PATH_MAX)                                                                \
    F(texts, arguments, WIRE_ITEMS_MAX)                                                            \
    F(texts, environment, WIRE_ITEMS_MAX)                                                          \
    F(texts, unset, WIRE_ITEMS_MAX)                                                                \
    F(text, directory, WIRE_PATH_MAX)                                                              \
    F(u32, process_limit, WIRE_U32_MAX)                                                            \
    F(u32, cores, WIRE_SLOTS_MAX)                                                                  \
    F(u32, bind, WIRE_BIND_LAST)                                                                   \
    F(u32, stdio, WIRE_STDIO_LAST)                                                                 \
    F(u32, terminals, 3)                                                                           \
    F(u32, rows, WIRE_WINDOW_MAX)                                                                  \
    F(u32, columns, WIRE_WINDOW_MAX)                                                               \
    F(flag, report, 0)                                                                             \
    F(flag, core_dumps, 0)                                                                         \
    F(u32, verbosity, 9)                                                                           \
    F(u64, timeout_ns, WIRE_U64_MAX)                                                               \
    F(u64, consult_every, WIRE_U64_MAX)                                                            \
    F(u64, abort_at, WIRE_U64_MAX)                                                                 \
    F(text, store, WIRE_PATH_MAX)                                                                  \
    F(flag, resume, 0)                                                                             \
    F(flag, recover, 0)                                                                            \
    F(u32, copies, WIRE_HOSTS_MAX)                                                                 \
    F(u32, rule, WIRE_RULE_LAST)                                                                   \
    F(u64, every, WIRE_U64_MAX)                                                                    \
    F(f64, overhead, 0)                                                                            \
    F(u32, async, WIRE_ASYNC_LAST)                                                                 \
    F(u32, keep, WIRE_U32_MAX)                                                                     \
    F(flag, stop_on_failure, 0)                                                                    \
    F(flag, stop_on_late_failure, 0)                                                               \
    F(texts, excluded, WIRE_ITEMS_MAX)                                                             \
    F(texts, options, WIRE_ITEMS_MAX)

/* The named host is Processor Zero for the envelope's term; the hosts of the job.  restore: the
 * term goes on from a snapshot, the newest (wanted: WIRE_U64_MAX) or that of `wanted` supersteps,
 * none of `avoid`; `begun` says how earlier terms began.  between_failures_ns: how long the job has run
 * for each fault so far, 0: there was none.  by_node: processes are placed on one host after the
 * other in turn.  addresses: where the agent of each of the hosts listens for
 * the others, as in HELLO; none in a job of one host.  An agent that hears of a newer term first ends
 * what it has of older ones. */
#define WIRE_FIELDS_ELECT(F)                                                                       \
    F(u32, elected, WIRE_HOSTS_MAX - 1)                                                            \
    F(host, hosts, WIRE_HOSTS_MAX)                                                                 \
    F(flag, restore, 0)                                                                            \
    F(u64, wanted, WIRE_U64_MAX)                                                                   \
    F(begun, begun, WIRE_BEGUN_MAX)                                                                \
    F(begun, avoid, WIRE_BEGUN_MAX)                                                                \
    F(u64, between_failures_ns, WIRE_U64_MAX)                                                      \
    F(texts, addresses, WIRE_HOSTS_MAX)                                                            \
    F(flag, by_node, 0)

/* End the job: as asked by a signal, or because of a time limit, or at once. */
#define WIRE_FIELDS_STOP(F)                                                                        \
    F(u32, how, WIRE_STOP_LAST)                                                                    \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)

#define WIRE_FIELDS_QUERY_STATUS(F)
#define WIRE_FIELDS_EXIT(F)

/* Snapshot at the next barrier; stop: then end the job so that it can be restarted, which may take
 * grace_ms; signal: the one that asked for it. */
#define WIRE_FIELDS_SAVE(F)                                                                        \
    F(flag, stop, 0)                                                                               \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(u64, grace_ms, WIRE_U64_MAX)

/* The answer to CHOSEN: how this term begins is durable. */
#define WIRE_FIELDS_TERM_RECORDED(F)

/* The answer to CLOSING: from now on nothing is rolled back. */
#define WIRE_FIELDS_CLOSED(F)

/* The user's terminal has another size now. */
#define WIRE_FIELDS_RESIZE(F)                                                                      \
    F(u32, rows, WIRE_WINDOW_MAX)                                                                  \
    F(u32, columns, WIRE_WINDOW_MAX)

/* Bytes for the stdin of process 0, the first of which is number `position` of all there are; end:
 * nothing comes behind them.  What was sent in an older term does not count. */
#define WIRE_FIELDS_INPUT(F)                                                                       \
    F(u64, position, WIRE_U64_MAX)                                                                 \
    F(flag, end, 0)                                                                                \
    F(bytes, data, WIRE_CHUNK_MAX)

/* Output of superstep s and before is shown when every host has PASSED s: answer that when it is
 * so (envelope's superstep). */
#define WIRE_FIELDS_ASK_PASSED(F)

/* bsprun is alive; answered by the same.  An agent that has not heard it for two thirds of the
 * heartbeat's bound stops its processes (and waits for ELECT), as others may take their place. */
#define WIRE_FIELDS_ALIVE(F)

/* addresses: where it listens for other agents: "1.2.3.4:5" or "[::1]:5", separated by blanks; machine: as
 * uname -m says. */
#define WIRE_FIELDS_HELLO(F)                                                                       \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(text, version, WIRE_NAME_MAX)                                                                \
    F(text, name, WIRE_NAME_MAX)                                                                   \
    F(u32, os_pid, WIRE_OS_PID_MAX)                                                                \
    F(u32, cores, WIRE_SLOTS_MAX)                                                                  \
    F(text, machine, WIRE_NAME_MAX)                                                                \
    F(text, addresses, WIRE_PATH_MAX)

/* The answer to ASK_PASSED: all processes of the host have arrived at the barrier that ends the
 * envelope's superstep or a later one, and what they had written by then has been sent. */
#define WIRE_FIELDS_PASSED(F) F(u32, host, WIRE_HOSTS_MAX - 1)

/* The link to another host's agent is broken, or could not be made in this term: a fault. */
#define WIRE_FIELDS_LINK_LOST(F)                                                                   \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, peer, WIRE_HOSTS_MAX - 1)                                                               \
    F(text, text, WIRE_TEXT_MAX)

/* Process 0 has reached bsp_begin(wanted) on this host; wanted 0 means as many as there are. */
#define WIRE_FIELDS_REGISTER(F)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, wanted, WIRE_U32_MAX)                                                                   \
    F(u32, os_pid, WIRE_OS_PID_MAX)

#define WIRE_FIELDS_ELECTED(F) F(u32, host, WIRE_HOSTS_MAX - 1)

#define WIRE_FIELDS_STATUS(F)                                                                      \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(f64, seconds, 0)                                                                             \
    F(where, ranks, WIRE_RANKS_MAX)

/* Output of process pid (-1: before bsp_begin) on stream 1 or 2; no bytes: end of file. */
#define WIRE_FIELDS_OUTPUT(F)                                                                      \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, stream, 2)                                                                              \
    F(bytes, data, WIRE_CHUNK_MAX)

#define WIRE_FIELDS_TRACE(F) F(text, text, WIRE_TEXT_MAX)

#define WIRE_FIELDS_REPORT(F)                                                                      \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(usage, ranks, WIRE_RANKS_MAX)

/* A line for the user's stderr that does not end the job. */
#define WIRE_FIELDS_NOTICE(F) F(text, text, WIRE_TEXT_MAX)

/* The job is over: bsprun's exit status and why (enum wire_cause); pid is -1 when none is to
 * blame; text and table are for the user and may be empty. */
#define WIRE_FIELDS_ENDED(F)                                                                       \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)                                                                   \
    F(text, table, WIRE_TABLE_MAX)

/* The term is over by a fault, the job need not be: the fault as in ENDED; `superstep` of the fault
 * is the envelope's.  bad: the snapshot (bad_superstep, bad_from) could not be restored. */
#define WIRE_FIELDS_TERM_OVER(F)                                                                   \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(flag, bad, 0)                                                                                \
    F(u64, bad_superstep, WIRE_U64_MAX)                                                            \
    F(u32, bad_from, WIRE_U32_MAX)                                                                 \
    F(text, text, WIRE_TEXT_MAX)

/* The snapshot from which the term is to begin: record it and answer TERM_RECORDED. */
#define WIRE_FIELDS_CHOSEN(F)                                                                      \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, processes, WIRE_RANKS_MAX)

/* The snapshot is committed: how long the processes stood still, how long it took, the size of its
 * images; known: all agents know, so that what was kept for older ones may go. */
#define WIRE_FIELDS_SAVED(F)                                                                       \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(flag, known, 0)                                                                              \
    F(u64, pause_ns, WIRE_U64_MAX)                                                                 \
    F(u64, commit_ns, WIRE_U64_MAX)                                                                \
    F(u64, size, WIRE_U64_MAX)

/* Every process is in bsp_end: answer CLOSED, and they are let out. */
#define WIRE_FIELDS_CLOSING(F)

/* In the stream of OUTPUT: what came before it was written before the snapshot, whose name is
 * (envelope's superstep, envelope's term), what comes behind it after.  input: bytes of stdin that
 * process 0 had read.  On each host, before CAPTURED; it says nothing of whether there will be a
 * snapshot. */
#define WIRE_FIELDS_MARK(F)        F(u64, input, WIRE_U64_MAX)

/* Process 0 can take more input: `position` is behind the last byte that its stream has. */
#define WIRE_FIELDS_INPUT_TAKEN(F) F(u64, position, WIRE_U64_MAX)

/* shared: it sees the directory of snapshots that bsprun does. */
#define WIRE_FIELDS_HOST_READY(F)                                                                  \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, slots, WIRE_SLOTS_MAX)                                                                  \
    F(flag, shared, 0)

/* REGISTER as Processor Zero sees it, once it is elected. */
#define WIRE_FIELDS_REGISTERED(F)                                                                  \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, wanted, WIRE_U32_MAX)

/* All processes placed on the host exist and wait in bsp_begin. */
#define WIRE_FIELDS_RANKS_READY(F)                                                                 \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, count, WIRE_RANKS_MAX)

/* Every process of the host has arrived at the barrier that ends the envelope's superstep.
 * output: bytes it has written per stream. */
#define WIRE_FIELDS_ARRIVE(F)                                                                      \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, barrier, WIRE_BARRIER_LAST)                                                             \
    F(numbers, output, 2)

/* A process has ended: by exit(status), or by a signal when signal is not 0; text: what the user is
 * told of it, may be empty. */
#define WIRE_FIELDS_RANK_EXITED(F)                                                                 \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, status, 255)                                                                            \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)

/* The host asks for the end of the job on behalf of process pid (-1: of nobody). */
#define WIRE_FIELDS_ABORT(F)                                                                       \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)

/* No process of the host runs any more; table: where each of them was, as in ENDED. */
#define WIRE_FIELDS_RANKS_STOPPED(F)                                                               \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(text, table, WIRE_TABLE_MAX)

/* What the host has of a snapshot: the manifest, which makes it one, every image (all), or those of
 * `images`; copies: the pids of which it keeps a frozen copy.  Images count without the manifest,
 * since another host may have that.  One message for each snapshot, before HOST_READY. */
#define WIRE_FIELDS_HELD(F)                                                                        \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(flag, manifest, 0)                                                                           \
    F(flag, all, 0)                                                                                \
    F(numbers, images, WIRE_RANKS_MAX)                                                             \
    F(numbers, copies, WIRE_RANKS_MAX)

/* The processes the host was told to restore are complete; none of them runs yet. */
#define WIRE_FIELDS_STAGED(F)                                                                      \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, count, WIRE_RANKS_MAX)

/* Every process of the host has recorded its state at the barrier that ends the envelope's
 * superstep, or has failed to.  output, input: bytes written to each stream, and read, so far. */
#define WIRE_FIELDS_CAPTURED(F)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, pause_ns, WIRE_U64_MAX)                                                                 \
    F(numbers, output, 2)                                                                          \
    F(u64, input, WIRE_U64_MAX)

/* The image of a process is durable here.  The envelope's superstep is the snapshot's: how many
 * were completed.  changed: bytes that differed from the snapshot before; generation, base: as in the
 * records of PERSIST. */
#define WIRE_FIELDS_IMAGE_DURABLE(F)                                                               \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, size, WIRE_U64_MAX)                                                                     \
    F(bytes, digest, WIRE_DIGEST_MAX)                                                              \
    F(u64, changed, WIRE_U64_MAX)                                                                  \
    F(u32, generation, WIRE_U32_MAX)                                                               \
    F(u64, base_superstep, WIRE_U64_MAX)                                                           \
    F(u32, base_term, WIRE_U32_MAX)                                                                \
    F(u32, base_pid, WIRE_RANKS_MAX - 1)                                                           \
    F(bytes, base_digest, WIRE_DIGEST_MAX)

/* There will be no image of the process (cause RANK_SIGNALLED: the one that wrote it was killed), or
 * it cannot be restored (after RESTORE). */
#define WIRE_FIELDS_IMAGE_FAILED(F)                                                                \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(text, text, WIRE_TEXT_MAX)

/* The manifest is durable here (error 0), or could not be made so. */
#define WIRE_FIELDS_PERSISTED(F)                                                                   \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, error, WIRE_STATUS_MAX)

/* The host knows of the commit.  What the snapshot has cost its processes besides the pause: busy_ns:
 * what belongs to it had their cores so long; copied_ns: they changed pages that copies shared, since
 * the snapshot before. */
#define WIRE_FIELDS_KNOWN(F)                                                                       \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, busy_ns, WIRE_U64_MAX)                                                                  \
    F(u64, copied_ns, WIRE_U64_MAX)

/* The job has `processes` processes; process i lives on host host_of[i].  snapshot: process 0
 * writes its image, of which the others are made: snapshot 0.  copies: on how many hosts each image
 * shall be (1: all hosts use one directory). */
#define WIRE_FIELDS_PLACE(F)                                                                       \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(numbers, host_of, WIRE_RANKS_MAX)                                                            \
    F(flag, snapshot, 0)                                                                           \
    F(u32, copies, WIRE_HOSTS_MAX)

/* bsp_begin returns; `consult` is the first superstep whose end Processor Zero wants to decide
 * (WIRE_U64_MAX: none). */
#define WIRE_FIELDS_RUN(F)                                                                         \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(u64, consult, WIRE_U64_MAX)

/* What happens at the barrier that ends the envelope's superstep (enum wire_decision); `consult` as in
 * RUN. */
#define WIRE_FIELDS_RELEASE(F)                                                                     \
    F(u32, decision, WIRE_DECISION_LAST)                                                           \
    F(u64, consult, WIRE_U64_MAX)

/* Kill every process of the host and answer RANKS_STOPPED.  again: the job goes on from a
 * snapshot; frozen copies stay, nothing is answered, ELECT follows. */
#define WIRE_FIELDS_STOP_RANKS(F)                                                                  \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(flag, again, 0)

/* The job is over, with this status; nothing more will come from this term. */
#define WIRE_FIELDS_END(F)                                                                         \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)

/* In the messages about a snapshot the envelope's superstep is how many were completed when it was
 * taken; `from` is the term in which it was. */

/* Write the manifest and answer PERSISTED once it is durable: the images, and how much each host
 * had written to its two streams. */
#define WIRE_FIELDS_PERSIST(F)                                                                     \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(image, images, WIRE_RANKS_MAX)                                                               \
    F(numbers, output, WIRE_OUTPUTS_MAX)                                                           \
    F(u64, input, WIRE_U64_MAX)

/* The snapshot is committed: answer KNOWN. */
#define WIRE_FIELDS_COMMITTED(F) F(u32, from, WIRE_U32_MAX)

/* All hosts know of that commit: older images, copies and remembered output may go. */
#define WIRE_FIELDS_RETIRE(F)    F(u32, from, WIRE_U32_MAX)

/* That snapshot will not be: end its writers and remove what there is of it. */
#define WIRE_FIELDS_ABANDON(F)

/* Prepare the processes of this host as they were in the snapshot and answer STAGED; copy[i]:
 * process i is a frozen copy that the host keeps, else it is made from its image.  copies: as in
 * PLACE. */
#define WIRE_FIELDS_RESTORE(F)                                                                     \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(numbers, host_of, WIRE_RANKS_MAX)                                                            \
    F(numbers, copy, WIRE_RANKS_MAX)                                                               \
    F(u32, copies, WIRE_HOSTS_MAX)

/* All are staged: put files back, make the processes run up to the barrier, answer RANKS_READY. */
#define WIRE_FIELDS_PASS(F)

/* All have recorded their state at the barrier that ends the envelope's superstep: they go on. */
#define WIRE_FIELDS_RESUME(F) F(u64, consult, WIRE_U64_MAX)

/* Ask before the next barrier, whichever it is. */
#define WIRE_FIELDS_CONSULT(F)

/* Send me a file (enum wire_thing): of snapshot (envelope's superstep, from) the image of pid or the
 * manifest, or the program or library with that build id, which is at `path` for whoever asks.
 * request: chosen by who asks, in every PIECE of the answer. */
#define WIRE_FIELDS_FETCH(F)                                                                       \
    F(u32, request, WIRE_U32_MAX)                                                                  \
    F(u32, thing, WIRE_THING_LAST)                                                                 \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(bytes, build_id, WIRE_BUILD_ID_MAX)                                                          \
    F(text, path, WIRE_PATH_MAX)

/* A part of it, in order; size is that of the whole file, mode its permissions.  error: errno value,
 * there is no more. */
#define WIRE_FIELDS_PIECE(F)                                                                       \
    F(u32, request, WIRE_U32_MAX)                                                                  \
    F(u64, offset, WIRE_U64_MAX)                                                                   \
    F(u64, size, WIRE_U64_MAX)                                                                     \
    F(u32, mode, 07777)                                                                            \
    F(u32, error, WIRE_STATUS_MAX)                                                                 \
    F(bytes, data, WIRE_PIECE_MAX)

/* The sender has this image, whose digest is given, durable, and the receiver shall have it, too: FETCH
 * it, make it durable, tell Processor Zero (IMAGE_DURABLE).  Hosts that share no directory. */
#define WIRE_FIELDS_KEEP(F)                                                                        \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u64, size, WIRE_U64_MAX)                                                                     \
    F(bytes, digest, WIRE_DIGEST_MAX)

#endif
