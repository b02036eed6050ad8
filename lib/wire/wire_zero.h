/* wire_zero.h - fields of the messages to and from Processor Zero and of agents among themselves;
 * part of wire_table.h. */
#ifndef WIRE_ZERO_H
#define WIRE_ZERO_H

/* slots: usable cores, used when ELECT sets none for the host.  shared: it shares the directory of
 * snapshots with bsprun.  available: bytes of memory that further processes could use, when those
 * of an older term have ended, beside frozen copies; WIRE_NEVER: not known. */
#define WIRE_FIELDS_HOST_READY(F, E)                                                               \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, slots, WIRE_SLOTS_MAX)                                                                  \
    F(flag, shared, 0)                                                                             \
    F(u64, available, WIRE_U64_MAX)

/* REGISTER, passed on to Processor Zero once it is elected. */
#define WIRE_FIELDS_REGISTERED(F, E)                                                               \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, wanted, WIRE_U32_MAX)

/* All processes placed on the host exist and wait in bsp_begin. */
#define WIRE_FIELDS_RANKS_READY(F, E)                                                              \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, count, WIRE_RANKS_MAX)

/* Every process of the host has arrived at the barrier that ends the envelope's superstep.
 * output: bytes it has written per stream.  The barrier of bsp_end is always reported, consulted or
 * not: on one host before any RANK_EXITED of a process that is past bsp_end, and the RELEASE that
 * answers is a formality there.  When asked for, measures: of each process of the host, by
 * ascending pid; available: as in HOST_READY; busy_ns: from the completion of a barrier to their
 * last arrival at the next one, over busy_steps supersteps; traffic: in this superstep, from each
 * process of the host to those others to which it sends most; ways: to the host.  survived: so
 * many SURVIVED have come to the host in this term. */
#define WIRE_FIELDS_ARRIVE(F, E)                                                                   \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, barrier, WIRE_BARRIER_LAST)                                                             \
    F(u32, survived, WIRE_HOSTS_MAX)                                                               \
    F(numbers, output, 2)                                                                          \
    F(measure, measures, WIRE_RANKS_MAX)                                                           \
    F(u64, available, WIRE_U64_MAX)                                                                \
    F(u64, busy_ns, WIRE_U64_MAX)                                                                  \
    F(u64, busy_steps, WIRE_U64_MAX)                                                               \
    F(traffic, traffic, WIRE_TRAFFIC_MAX)                                                          \
    F(speed, ways, WIRE_HOSTS_MAX)

/* A process has ended: by exit(status), or by a signal when signal is not 0; past_end: after its
 * bsp_end, as far as its agent saw; text: what the user is told of it, may be empty. */
#define WIRE_FIELDS_RANK_EXITED(F, E)                                                              \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, status, 255)                                                                            \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(flag, past_end, 0)                                                                           \
    F(text, text, WIRE_TEXT_MAX)

/* The host requests the end of the job on behalf of process pid (-1: none).  status: for bsprun to
 * return; 0 counts as 1. */
#define WIRE_FIELDS_ABORT(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)

/* Whether all processes of the host wait for objects of the dataspace, for messages of MPI or at a
 * barrier: of its own accord, from time to time while they do (round 0), or as the answer to
 * ASK_QUIET.  sent, received: messages DATA_* and MAIL_READ to and from other hosts up to now, and
 * records of MPI (lib/shm/mail.h) that processes of the host have sent and received; arrived: the
 * barriers that each of its processes has reached, at least; held: the earliest superstep at whose
 * barrier one of them waits, WIRE_NEVER: none does; waits: a line for each process, each after a
 * newline; of many processes those for which there is room. */
#define WIRE_FIELDS_QUIET(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, round, WIRE_U64_MAX)                                                                    \
    F(flag, quiet, 0)                                                                              \
    F(u64, sent, WIRE_U64_MAX)                                                                     \
    F(u64, received, WIRE_U64_MAX)                                                                 \
    F(u64, arrived, WIRE_U64_MAX)                                                                  \
    F(u64, held, WIRE_U64_MAX)                                                                     \
    F(text, waits, WIRE_TEXT_MAX)

#define WIRE_FIELDS_ASK_QUIET(F, E) F(u64, round, WIRE_U64_MAX)

/* No process of the host runs any more; table: where each of them was, as in ENDED. */
#define WIRE_FIELDS_RANKS_STOPPED(F, E)                                                            \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(text, table, WIRE_TABLE_MAX)

/* The parts of a snapshot on the host: the manifest, every image (all), or those of `images`;
 * copies: the pids with a frozen copy.  Images count without the manifest, since another host may
 * have it.  together: for each process the lowest with which it shares open files, as far as this
 * host knows, so that they must be on one host; empty: no restriction.  needs: of each process the
 * bytes of memory that it has when it is made from its image, at most, as far as the images on this
 * host tell; 0: not known, as in an empty list.  One message for each snapshot, before
 * HOST_READY. */
#define WIRE_FIELDS_HELD(F, E)                                                                     \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, name)                                         \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(flag, manifest, 0)                                                                           \
    F(flag, all, 0)                                                                                \
    F(numbers, images, WIRE_RANKS_MAX)                                                             \
    F(numbers, copies, WIRE_RANKS_MAX)                                                             \
    F(numbers, together, WIRE_RANKS_MAX)                                                           \
    F(numbers, needs, WIRE_RANKS_MAX)

/* The processes to be restored on the host are complete; none of them runs yet. */
#define WIRE_FIELDS_STAGED(F, E)                                                                   \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, count, WIRE_RANKS_MAX)

/* Every process of the host has recorded its state at the barrier that ends the envelope's
 * superstep, or has failed to.  output, input: bytes written to each stream, and read, so far;
 * input_digest: of the bytes read (lib/base/digest.h), 0: unknown. */
#define WIRE_FIELDS_CAPTURED(F, E)                                                                 \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, pause_ns, WIRE_U64_MAX)                                                                 \
    F(numbers, output, 2)                                                                          \
    F(u64, input, WIRE_U64_MAX)                                                                    \
    F(u64, input_digest, WIRE_U64_MAX)

/* The image of a process is durable here.  The envelope's superstep is the snapshot's: how many
 * were completed.  compared: the process lives here, and its replicas that are left have
 * communicated the same before. */
#define WIRE_FIELDS_IMAGE_DURABLE(F, E)                                                            \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(flag, compared, 0)                                                                           \
    E(WIRE_PART_IMAGE_CHANGED, struct bspz_image_facts, facts)

/* There will be no image of the process (cause RANK_SIGNALLED: its writer was killed), or it cannot
 * be restored (after RESTORE). */
#define WIRE_FIELDS_IMAGE_FAILED(F, E)                                                             \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(text, text, WIRE_TEXT_MAX)

/* The manifest is durable here (error 0), or could not be made durable. */
#define WIRE_FIELDS_PERSISTED(F, E)                                                                \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, error, WIRE_STATUS_MAX)

/* The host knows of the commit.  The costs of the snapshot to its processes besides the pause:
 * busy_ns: time that its writers ran on their cores; copied_ns: copy-on-write faults since the
 * previous snapshot.  read_bytes, read_ns: the time to read so many bytes of an image from the disk
 * at idle priority; 0: not measured. */
#define WIRE_FIELDS_KNOWN(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, busy_ns, WIRE_U64_MAX)                                                                  \
    F(u64, copied_ns, WIRE_U64_MAX)                                                                \
    F(u64, read_bytes, WIRE_U64_MAX)                                                               \
    F(u64, read_ns, WIRE_U64_MAX)

/* The answer to AHEAD of that snapshot, of each host to which `moves` names a process: so many of
 * these are staged as of the snapshot, maybe none. */
#define WIRE_FIELDS_AHEAD_READY(F, E)                                                              \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, name)                                         \
    F(u32, count, WIRE_RANKS_MAX)

/* Whether each process of the host could be restarted alone on another one, if the host were lost
 * (--recover one), and whether half of the memory for answers that they may need then is full, so
 * that a snapshot is wanted: said when that changes; neither is true at first. */
#define WIRE_FIELDS_BEARS(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(flag, bears, 0)                                                                              \
    F(flag, burdened, 0)

/* The dataspace has begun on the host, whose processes have replicas: LOSSES are to be said.  calls:
 * a process there is to be saved at its calls (lib/rt/safe_point.h).  Said again when that becomes
 * known, and to another Processor Zero. */
#define WIRE_FIELDS_OBJECTS(F, E)                                                                  \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(flag, calls, 0)

/* To HALT of that round: of each process the number of the last request that has taken effect on
 * the host, or will, as a replica there has made it. */
#define WIRE_FIELDS_HALTED(F, E)                                                                   \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, round, WIRE_U64_MAX)                                                                    \
    F(numbers, requests, WIRE_RANKS_MAX)

/* What the host knows of the term, for a Processor Zero that takes the place of another one.
 * decided: supersteps up to the newest barrier that it knows to be decided, 0: none; ended: that is
 * the one of bsp_end; consult: as that decision, or RUN, has said, WIRE_NEVER: not known. captures:
 * the snapshot at whose barrier its processes wait for RESUME, 0: none.  committed: the newest one
 * it knows of; right: as COMMITTED has said.  shared: as in HOST_READY.  ready: it has, or would
 * have, sent RANKS_READY. runs: it has received RUN.  stopped: it has ended its processes.  over:
 * it has received END, with that status and cause.  survived: of so many losses of hosts it knows
 * where the processes are now (SURVIVED).  arrived: it has said so of the barrier to be decided.
 * asked: CONSULT has come since the newest decision.  halt_superstep, halt_round, halt_requests: the
 * newest HALT_AT, with its superstep; no requests: none has come. */
#define WIRE_FIELDS_ACCOUNT(F, E)                                                                  \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, decided, WIRE_U64_MAX)                                                                  \
    F(flag, ended, 0)                                                                              \
    F(u64, consult, WIRE_U64_MAX)                                                                  \
    F(u64, captures, WIRE_U64_MAX)                                                                 \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, committed)                                    \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, right)                                        \
    F(flag, shared, 0)                                                                             \
    F(flag, ready, 0)                                                                              \
    F(flag, runs, 0)                                                                               \
    F(flag, stopped, 0)                                                                            \
    F(flag, over, 0)                                                                               \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(u32, survived, WIRE_HOSTS_MAX)                                                               \
    F(flag, arrived, 0)                                                                            \
    F(flag, asked, 0)                                                                              \
    F(u64, halt_superstep, WIRE_U64_MAX)                                                           \
    F(u64, halt_round, WIRE_U64_MAX)                                                               \
    F(numbers, halt_requests, WIRE_RANKS_MAX)

/* The job has `processes` processes; process i lives on host host_of[i], and on each host for which
 * leads names that one: hosts in pairs, one with replicas and the one whose processes it has, too.
 * snapshot: process 0 writes its image, from which the others are made: snapshot 0.  copies: the
 * number of hosts on which each image must be durable (1: all hosts share a directory). */
#define WIRE_FIELDS_PLACE(F, E)                                                                    \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(numbers, host_of, WIRE_RANKS_MAX)                                                            \
    F(numbers, leads, 2 * WIRE_HOSTS_MAX)                                                          \
    F(flag, snapshot, 0)                                                                           \
    F(u32, copies, WIRE_HOSTS_MAX)

/* bsp_begin returns; `consult` is the first superstep whose end Processor Zero wants to decide
 * (WIRE_U64_MAX: none); measure: with measurements in ARRIVE. */
#define WIRE_FIELDS_RUN(F, E)                                                                      \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(u64, consult, WIRE_U64_MAX)                                                                  \
    F(flag, measure, 0)

/* The decision about the barrier that ends the envelope's superstep (enum wire_decision); `consult`
 * and `measure` as in RUN; captures: with replicas, the hosts of whose processes the snapshot is,
 * for all others it is a barrier to wait at; objects: they send these what they have of the
 * dataspace; urgent: a snapshot that was asked for; last: one during which the processes wait. */
#define WIRE_FIELDS_RELEASE(F, E)                                                                  \
    F(u32, decision, WIRE_DECISION_LAST)                                                           \
    F(u64, consult, WIRE_U64_MAX)                                                                  \
    F(numbers, captures, WIRE_HOSTS_MAX)                                                           \
    F(flag, objects, 0)                                                                            \
    F(flag, measure, 0)                                                                            \
    F(flag, urgent, 0)                                                                             \
    F(flag, last, 0)

/* Kill every process of the host and answer RANKS_STOPPED.  again: the job goes on from a snapshot;
 * frozen copies are kept, there is no answer, ELECT follows. */
#define WIRE_FIELDS_STOP_RANKS(F, E)                                                               \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(flag, again, 0)

/* The job is over, with this status; no more messages of this term follow. */
#define WIRE_FIELDS_END(F, E)                                                                      \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)

/* In messages about a snapshot the envelope's superstep is the number of completed ones; `from` is
 * the term in which it was taken. */

/* Write the manifest and answer PERSISTED once it is durable: the images, and the positions of each
 * host's two streams. */
#define WIRE_FIELDS_PERSIST(F, E)                                                                  \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(u32, writer, WIRE_HOSTS_MAX - 1)                                                             \
    F(image, images, WIRE_RANKS_MAX)                                                               \
    F(numbers, output, WIRE_OUTPUTS_MAX)                                                           \
    F(u64, input, WIRE_U64_MAX)                                                                    \
    F(u64, input_digest, WIRE_U64_MAX)

/* The snapshot is committed: answer KNOWN.  right: the newest one before which all replicas have
 * been found to communicate the same, term 0: none; without replicas that one itself. */
#define WIRE_FIELDS_COMMITTED(F, E)                                                                \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, right)

/* All hosts know of that commit: older images, copies and kept output may be removed, but for what
 * belongs to the one that COMMITTED has called right. */
#define WIRE_FIELDS_RETIRE(F, E) F(u32, from, WIRE_U32_MAX)

/* The snapshot is abandoned: end its writers and remove its files. */
#define WIRE_FIELDS_ABANDON(F, E)

/* Prepare the processes of this host as of the snapshot and answer STAGED; copy[i]: process i is a
 * frozen copy on the host, else it is made from its image.  leads, copies: as in PLACE. */
#define WIRE_FIELDS_RESTORE(F, E)                                                                  \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(numbers, host_of, WIRE_RANKS_MAX)                                                            \
    F(numbers, leads, 2 * WIRE_HOSTS_MAX)                                                          \
    F(numbers, copy, WIRE_RANKS_MAX)                                                               \
    F(u32, copies, WIRE_HOSTS_MAX)

/* All are staged: restore the files, let the processes run up to the barrier, answer
 * RANKS_READY. */
#define WIRE_FIELDS_PASS(F, E)

/* The term is soon to end so that processes move, and these are expected to be elsewhere in the
 * next one: a host that is named restores its processes ahead, as of the snapshot, which is
 * committed and known to all, while they go on where they are, and answers AHEAD_READY.  Of use if
 * the next term begins from a snapshot based on this one, with these places; else forgotten. */
#define WIRE_FIELDS_AHEAD(F, E)                                                                    \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(move, moves, WIRE_RANKS_MAX)

/* All have recorded their state at the barrier that ends the envelope's superstep: they go on. */
#define WIRE_FIELDS_RESUME(F, E) F(u64, consult, WIRE_U64_MAX) F(flag, measure, 0)

/* Processor Zero has taken the place of another one, and this is what some hosts knew: `decided`,
 * `ended` and `consult` as in ACCOUNT.  Barriers up to that are decided for all; a snapshot other
 * than `committed` is abandoned.  What was told the other one and had no answer is told again. */
#define WIRE_FIELDS_TAKEN_OVER(F, E)                                                               \
    F(u64, decided, WIRE_U64_MAX)                                                                  \
    F(flag, ended, 0)                                                                              \
    F(u64, consult, WIRE_U64_MAX)                                                                  \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, committed)

/* That host is lost, and the term goes on: each of its processes is restarted alone on the host
 * that `moves` says, from that snapshot, which is committed and known to all.  number: it is the
 * SURVIVED of that number in the term, from 1 on.  All barriers before the one that ends the
 * envelope's superstep have been decided. */
#define WIRE_FIELDS_SURVIVED(F, E)                                                                 \
    F(u32, lost, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, number, WIRE_HOSTS_MAX)                                                                 \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, name)                                         \
    F(move, moves, WIRE_RANKS_MAX)

/* All hosts that are lost in this term, which goes on in replicas: the dataspace is to go on without
 * them. */
#define WIRE_FIELDS_LOSSES(F, E) F(numbers, hosts, WIRE_HOSTS_MAX)

/* Processes with replicas are to be saved at calls of the dataspace, in the envelope's superstep:
 * no request is made any more that is new to its process; HALTED is the answer. */
#define WIRE_FIELDS_HALT(F, E) F(u64, round, WIRE_U64_MAX)

/* The number of the last request of each process that may take effect: there it stops. */
#define WIRE_FIELDS_HALT_AT(F, E)                                                                  \
    F(u64, round, WIRE_U64_MAX)                                                                    \
    F(numbers, requests, WIRE_RANKS_MAX)

/* A process that has come to the sender's host by SURVIVED has arrived at the barrier that ends the
 * envelope's superstep; flags, position, digest: of its line on the board.  survived: as in ARRIVE.
 */
#define WIRE_FIELDS_MEET(F, E)                                                                     \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(u32, flags, WIRE_U32_MAX)                                                                    \
    F(u32, position, WIRE_U32_MAX)                                                                 \
    F(u64, digest, WIRE_U64_MAX)                                                                   \
    F(u32, survived, WIRE_HOSTS_MAX)

/* The replicas of the host's processes are given up, as the dataspace cannot serve one of them any more:
 * it leaves the job. */
#define WIRE_FIELDS_GIVE_UP(F, E) F(text, text, WIRE_TEXT_MAX)

/* Consult at the next possible barrier; `measure` as in RUN. */
#define WIRE_FIELDS_CONSULT(F, E) F(flag, measure, 0)

/* Send me a file (enum wire_thing): of snapshot (envelope's superstep, from) the image of pid or
 * the manifest, or the program or library with that build id, whose path at the requester is
 * `path`.  request: chosen by the requester, repeated in every PIECE of the answer. */
#define WIRE_FIELDS_FETCH(F, E)                                                                    \
    F(u32, request, WIRE_U32_MAX)                                                                  \
    F(u32, thing, WIRE_THING_LAST)                                                                 \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(bytes, build_id, WIRE_BUILD_ID_MAX)                                                          \
    F(text, path, WIRE_PATH_MAX)

/* A part of the file, in order; size is that of the whole file, mode its permissions.  error: errno
 * value, no more parts follow. */
#define WIRE_FIELDS_PIECE(F, E)                                                                    \
    F(u32, request, WIRE_U32_MAX)                                                                  \
    F(u64, offset, WIRE_U64_MAX)                                                                   \
    F(u64, size, WIRE_U64_MAX)                                                                     \
    F(u32, mode, 07777)                                                                            \
    F(u32, error, WIRE_STATUS_MAX)                                                                 \
    F(bytes, data, WIRE_PIECE_MAX)

/* The sender has this image durable, and the receiver shall have it, too: FETCH it, make it
 * durable, tell Processor Zero (IMAGE_DURABLE).  Hosts that share no directory. */
#define WIRE_FIELDS_KEEP(F, E)                                                                     \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    E(WIRE_PART_CONTENT, struct bspz_image_facts, facts)

#endif
