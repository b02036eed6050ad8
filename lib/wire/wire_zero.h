/* wire_zero.h - fields of the messages to and from Processor Zero and of agents among themselves; part
 * of wire_table.h. */
#ifndef WIRE_ZERO_H
#define WIRE_ZERO_H

/* slots: usable cores, used when ELECT gives the host none.  shared: it sees the directory of
 * snapshots that bsprun does. */
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
 * output: bytes it has written per stream.  The barrier of bsp_end is always reported, consulted or
 * not: on one host before any RANK_EXITED of a process that is past bsp_end, and the RELEASE that
 * answers is a formality there. */
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

/* The host asks for the end of the job on behalf of process pid (-1: of nobody).  status: what bsprun
 * shall return; 0 is taken as 1. */
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
 * since another host may have that.  together: for each process the lowest with which it has files
 * open, as far as this host can see, so that they must not come to different hosts; empty when there
 * are none such, or they may.  One message for each snapshot, before HOST_READY. */
#define WIRE_FIELDS_HELD(F)                                                                        \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(u32, from, WIRE_U32_MAX)                                                                     \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(flag, manifest, 0)                                                                           \
    F(flag, all, 0)                                                                                \
    F(numbers, images, WIRE_RANKS_MAX)                                                             \
    F(numbers, copies, WIRE_RANKS_MAX)                                                             \
    F(numbers, together, WIRE_RANKS_MAX)

/* The processes the host was told to restore are complete; none of them runs yet. */
#define WIRE_FIELDS_STAGED(F)                                                                      \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, count, WIRE_RANKS_MAX)

/* Every process of the host has recorded its state at the barrier that ends the envelope's
 * superstep, or has failed to.  output, input: bytes written to each stream, and read, so far;
 * input_digest: of those that were read (lib/base/digest.h), 0: unknown. */
#define WIRE_FIELDS_CAPTURED(F)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, pause_ns, WIRE_U64_MAX)                                                                 \
    F(numbers, output, 2)                                                                          \
    F(u64, input, WIRE_U64_MAX)                                                                    \
    F(u64, input_digest, WIRE_U64_MAX)

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
 * the snapshot before.  read_bytes, read_ns: how long it took to read so much of an image from the disk
 * at idle priority; 0: nobody has tried. */
#define WIRE_FIELDS_KNOWN(F)                                                                       \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u64, busy_ns, WIRE_U64_MAX)                                                                  \
    F(u64, copied_ns, WIRE_U64_MAX)                                                                \
    F(u64, read_bytes, WIRE_U64_MAX)                                                               \
    F(u64, read_ns, WIRE_U64_MAX)

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
    F(u64, input, WIRE_U64_MAX)                                                                    \
    F(u64, input_digest, WIRE_U64_MAX)

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
