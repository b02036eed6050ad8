/* wire_launcher.h - fields of the messages between bsprun and its agents; part of wire_table.h. */
#ifndef WIRE_LAUNCHER_H
#define WIRE_LAUNCHER_H

/* The first message to an agent of a job with several hosts; on another host over its standard
 * input, so that the key is in no argument and no environment: its number (WIRE_HOSTS_MAX: that of
 * the host in `hosts` whose name is its own), which agent of that host it is, where bsprun listens,
 * between which ports this agent is to listen (0: any), how long silence may last, whether what is
 * sent is encrypted. */
#define WIRE_FIELDS_JOIN(F, E)                                                                     \
    F(bytes, key, WIRE_KEY_MAX)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX)                                                                   \
    F(host, hosts, WIRE_HOSTS_MAX)                                                                 \
    F(u32, incarnation, WIRE_U32_MAX)                                                              \
    F(texts, addresses, WIRE_ADDRESSES_MAX)                                                        \
    F(u32, first_port, WIRE_PORT_MAX)                                                              \
    F(u32, last_port, WIRE_PORT_MAX)                                                               \
    F(u32, heartbeat_ms, WIRE_U32_MAX)                                                             \
    F(flag, encrypt, 0)

/* Start process 0 of the program.  environment holds NAME=VALUE entries to set, and unset the names
 * to remove, in the agent's own environment.  process_limit and cores (of that host): 0 when not
 * given.  slots: of all hosts, 0: that host's cores.  bind, map: enum wire_bind, enum wire_map;
 * report_bindings: say to what each process is bound.  replicas: of each process; replica_log:
 * bytes of memory for what is kept for those that are behind; on_mismatch: enum wire_mismatch;
 * any_replica_files: they may append to files and use pipes.
 * terminals, discards: what stdout (1) and stderr (2) of bsprun are, a terminal or /dev/null.
 * stdin_pid: the process whose stdin is bsprun's.  end_on_bad_exit: a process that fails after
 * bsp_end ends the job, else the others end by themselves.  only_named: nothing of the agent's own
 * environment is inherited. directory_needed: without the directory the program is not started;
 * else it begins in another one.  abort_at and consult_every are for tests (WIRE_U64_MAX and 0
 * switch them off).
 *
 * store: the absolute path DIR/JOB of the job's snapshots, "" in a job without; home: a file in it,
 * by which the agent recognises that it shares the directory with bsprun.  resume: the agent starts
 * no process, as an ELECT that restores follows; program, arguments and environment (which is then
 * complete, nothing is inherited) are those of the process to restore, by an absolute path and the
 * manifest; empty for an agent that is to read them from the manifest itself.  rule, every,
 * overhead: struct policy_rule.  recover: a fault does not end a job that has a snapshot; 0: there
 * is a snapshot only because processes of other hosts are made from it.  alone: with recover, a
 * process that is lost may be restarted without the others.  copies: the number of
 * hosts on which an image must be durable when they share no directory; 0: one.  keep: number of
 * committed snapshots to retain, 0: all.  bounded: the user set the overhead.  stop_on_failure,
 * stop_on_late_failure: a failed snapshot ends the job before, after the first one taken at a
 * barrier.  excluded: the rules of --ckpt-exclude.  options: bsprun's, for the manifest.  balance:
 * Processor Zero may move processes to other hosts.  at_once: processes move at the next snapshot,
 * without others before it.  stacks_ms: bsprun prints stacks before it ends
 * the job at the time limit (by a STOP), and takes no longer than that; the limit of the agent
 * comes after it, and SIGINT is bsprun's with -v.  debug: processes that get a debugger, or
 * debug_all; attach: what is done with a process that fails (enum wire_attach); window: the command
 * that opens one for each debugger, "": in the terminal of bsprun.  owner_policy: what is done
 * while the owner of the host is active; owner_input_ms, owner_load, owner_quiet_ms: struct
 * owner_rule.  dataspace_memory: bytes of objects of the dataspace that the host has in memory; 0:
 * half of what is available. */
#define WIRE_FIELDS_START(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(text, program, WIRE_PATH_MAX)                                                                \
    F(texts, arguments, WIRE_ITEMS_MAX)                                                            \
    F(texts, environment, WIRE_ITEMS_MAX)                                                          \
    F(texts, unset, WIRE_ITEMS_MAX)                                                                \
    F(flag, only_named, 0)                                                                         \
    F(text, directory, WIRE_PATH_MAX)                                                              \
    F(flag, directory_needed, 0)                                                                   \
    F(u32, process_limit, WIRE_U32_MAX)                                                            \
    F(u32, cores, WIRE_SLOTS_MAX)                                                                  \
    F(u32, slots, WIRE_U32_MAX)                                                                    \
    F(u32, bind, WIRE_BIND_LAST)                                                                   \
    F(u32, map, WIRE_MAP_LAST)                                                                     \
    F(u32, replicas, WIRE_REPLICAS_MAX)                                                            \
    F(u64, replica_log, WIRE_U64_MAX)                                                              \
    F(u32, on_mismatch, WIRE_MISMATCH_LAST)                                                        \
    F(flag, any_replica_files, 0)                                                                  \
    F(flag, report_bindings, 0)                                                                    \
    F(u32, stdio, WIRE_STDIO_LAST)                                                                 \
    F(u32, stdin_pid, WIRE_RANKS_MAX - 1)                                                          \
    F(u32, terminals, 3)                                                                           \
    F(u32, discards, 3)                                                                            \
    F(u32, rows, WIRE_WINDOW_MAX)                                                                  \
    F(u32, columns, WIRE_WINDOW_MAX)                                                               \
    F(flag, report, 0)                                                                             \
    F(flag, core_dumps, 0)                                                                         \
    F(flag, end_on_bad_exit, 0)                                                                    \
    F(u32, verbosity, 9)                                                                           \
    F(u64, timeout_ns, WIRE_U64_MAX)                                                               \
    F(u32, stacks_ms, WIRE_U32_MAX)                                                                \
    F(flag, debug_all, 0)                                                                          \
    F(numbers, debug, WIRE_RANKS_MAX)                                                              \
    F(u32, attach, WIRE_ATTACH_LAST)                                                               \
    F(text, window, WIRE_PATH_MAX)                                                                 \
    F(u64, consult_every, WIRE_U64_MAX)                                                            \
    F(u64, abort_at, WIRE_U64_MAX)                                                                 \
    F(text, store, WIRE_PATH_MAX)                                                                  \
    F(text, home, WIRE_NAME_MAX)                                                                   \
    F(flag, resume, 0)                                                                             \
    F(flag, recover, 0)                                                                            \
    F(flag, alone, 0)                                                                              \
    F(u32, copies, WIRE_HOSTS_MAX)                                                                 \
    F(u32, rule, WIRE_RULE_LAST)                                                                   \
    F(u64, every, WIRE_U64_MAX)                                                                    \
    F(f64, overhead, 0)                                                                            \
    F(flag, bounded, 0)                                                                            \
    F(u32, async, WIRE_ASYNC_LAST)                                                                 \
    F(u32, keep, WIRE_U32_MAX)                                                                     \
    F(flag, stop_on_failure, 0)                                                                    \
    F(flag, stop_on_late_failure, 0)                                                               \
    F(texts, excluded, WIRE_ITEMS_MAX)                                                             \
    F(texts, options, WIRE_ITEMS_MAX)                                                              \
    F(flag, balance, 0)                                                                            \
    F(flag, at_once, 0)                                                                            \
    F(u32, owner_policy, WIRE_POLICY_LAST)                                                         \
    F(u64, owner_input_ms, WIRE_U64_MAX)                                                           \
    F(f64, owner_load, 0)                                                                          \
    F(u64, owner_quiet_ms, WIRE_U64_MAX)                                                           \
    F(u64, dataspace_memory, WIRE_U64_MAX)

/* The named host is Processor Zero for the envelope's term; the hosts of the job.  restore: the
 * term goes on from a snapshot, the newest (wanted: WIRE_U64_MAX) or that of `wanted` supersteps,
 * none of `avoid`; `begun` says how earlier terms began.  first_of_run: it is the first since
 * bsprun was started.  estimate: the estimates of failures and costs so far, or empty. Observations
 * that those do not include yet: watched_hosts, watched_processes: seconds that hosts, and
 * processes, have lived, summed up; failures: number of each kind (enum estimate_kind).  recovers:
 * kind of the failure from which the term recovers, plus 1; 0: none; down: seconds for which that
 * failure has stopped the processes, including the silence before it was noticed.  by_node:
 * processes are placed round robin; anew: without regard to where they were; moves: but these
 * there. moving_seconds, passed_seconds: as TERM_OVER has said.  addresses: where the agent of
 * each host listens for the others, as in HELLO; none in a job of one host. busy, speeds: as in
 * struct coord_load, of each host, or empty.  shares: what earlier jobs have seen of hosts.
 * replicas: pids in ascending order, each followed by the number of replicas of the processes from
 * it on; empty: one of each. An agent that receives a newer term first ends the processes of older
 * ones.
 */
#define WIRE_FIELDS_ELECT(F, E)                                                                    \
    F(u32, elected, WIRE_HOSTS_MAX - 1)                                                            \
    F(host, hosts, WIRE_HOSTS_MAX)                                                                 \
    F(flag, restore, 0)                                                                            \
    F(u64, wanted, WIRE_U64_MAX)                                                                   \
    F(begun, begun, WIRE_BEGUN_MAX)                                                                \
    F(begun, avoid, WIRE_BEGUN_MAX)                                                                \
    F(flag, first_of_run, 0)                                                                       \
    F(real, estimate, WIRE_ESTIMATE_MAX)                                                           \
    F(f64, watched_hosts, 0)                                                                       \
    F(f64, watched_processes, 0)                                                                   \
    F(numbers, failures, WIRE_FAULTS_MAX)                                                          \
    F(u32, recovers, WIRE_FAULTS_MAX)                                                              \
    F(f64, down, 0)                                                                                \
    F(texts, addresses, WIRE_HOSTS_MAX)                                                            \
    F(flag, by_node, 0)                                                                            \
    F(flag, anew, 0)                                                                               \
    F(move, moves, WIRE_RANKS_MAX)                                                                 \
    F(f64, moving_seconds, 0)                                                                      \
    F(f64, passed_seconds, 0)                                                                      \
    F(numbers, busy, WIRE_HOSTS_MAX)                                                               \
    F(numbers, speeds, WIRE_HOSTS_MAX)                                                             \
    F(share, shares, WIRE_HOSTS_MAX)                                                               \
    F(numbers, replicas, 2 * WIRE_REPLICA_RUNS_MAX)

/* End the job: by a signal, because of a time limit, or at once.  To bsprun: the agent received
 * that signal, and the job has snapshots; bsprun decides. */
#define WIRE_FIELDS_STOP(F, E)                                                                     \
    F(u32, how, WIRE_STOP_LAST)                                                                    \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)

/* From the agent of Processor Zero: the processes of the term compute from now on, each on the host
 * that `homes` has for it; leads: as in PLACE. */
#define WIRE_FIELDS_RUNNING(F, E)                                                                  \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(numbers, homes, WIRE_RANKS_MAX)                                                              \
    F(numbers, leads, 2 * WIRE_HOSTS_MAX)                                                          \
    E(WIRE_PART_LEARNED, struct wire_learned, learned)

/* times: the processes are to count the times of their activities for the next minutes.  replicas:
 * what speaks against replicas of them is wanted, too. */
#define WIRE_FIELDS_QUERY_STATUS(F, E)                                                             \
    F(flag, times, 0)                                                                              \
    F(flag, replicas, 0)
#define WIRE_FIELDS_EXIT(F, E)

/* Take a snapshot at the next barrier; stop: then end the job so that it can be restarted, within
 * grace_ms; move: then end the term, and the next one begins there with other places, of which
 * `expected` has those that differ, as far as bsprun can tell; signal: the one that requested it.
 */
#define WIRE_FIELDS_SAVE(F, E)                                                                     \
    F(flag, stop, 0)                                                                               \
    F(flag, move, 0)                                                                               \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(u64, grace_ms, WIRE_U64_MAX)                                                                 \
    F(move, expected, WIRE_RANKS_MAX)

/* The answer to CHOSEN: the beginning of this term is durable. */
#define WIRE_FIELDS_TERM_RECORDED(F, E)

/* The answer to CLOSING: from now on nothing is rolled back. */
#define WIRE_FIELDS_CLOSED(F, E)

/* The host of Processor Zero is lost, and the term goes on: `elected` is Processor Zero now, to
 * which each agent gives an ACCOUNT.  lost: hosts of the term that are no longer of it.  committed:
 * the newest snapshot that bsprun knows of; term 0: none. */
#define WIRE_FIELDS_TAKE_OVER(F, E)                                                                \
    F(u32, elected, WIRE_HOSTS_MAX - 1)                                                            \
    F(numbers, lost, WIRE_HOSTS_MAX)                                                               \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, committed)

/* The user's terminal has been resized. */
#define WIRE_FIELDS_RESIZE(F, E)                                                                   \
    F(u32, rows, WIRE_WINDOW_MAX)                                                                  \
    F(u32, columns, WIRE_WINDOW_MAX)

/* Bytes for the stdin of process 0 (or of stdin_pid in START), at `position` of the input; end:
 * they are the last.  Those of an older term are ignored. */
#define WIRE_FIELDS_INPUT(F, E)                                                                    \
    F(u64, position, WIRE_U64_MAX)                                                                 \
    F(flag, end, 0)                                                                                \
    F(bytes, data, WIRE_CHUNK_MAX)

/* Output up to superstep s is shown when every host has PASSED s: answer when that is so
 * (envelope's superstep). */
#define WIRE_FIELDS_ASK_PASSED(F, E)

/* bsprun is alive; answered by the same message.  An agent that has not received it for two thirds
 * of the heartbeat stops its processes (and waits for ELECT), as others may replace them. */
#define WIRE_FIELDS_ALIVE(F, E)

/* What is done with the processes of the host while its owner is active, from now on; before, what
 * the policy says. */
#define WIRE_FIELDS_GIVE_WAY(F, E) F(u32, act, WIRE_ACT_LAST)

/* The owner of the host is active, or not any more; also sent when the agent has looked for the
 * first time.  act: what the agent does for that; text: why the owner counts as active. */
#define WIRE_FIELDS_OWNER(F, E)                                                                    \
    F(flag, active, 0)                                                                             \
    F(u32, act, WIRE_ACT_LAST)                                                                     \
    F(text, text, WIRE_NAME_MAX)

/* Answer with the C stacks of the processes of the host, within so many milliseconds.  number: of
 * the question; a newer one replaces one that is not answered yet. */
#define WIRE_FIELDS_QUERY_STACKS(F, E)                                                             \
    F(u32, number, WIRE_U32_MAX)                                                                   \
    F(u32, limit_ms, WIRE_U32_MAX)

/* The answer to QUERY_STACKS `number` for one process: where it is, by the board; none when no
 * process lives there.  stays: it was there during the whole time since the question came.  text:
 * its stack, or "" and `why` there is none; advice: what would permit it, or "".  left: number of
 * answers of this host that follow. */
#define WIRE_FIELDS_STACK(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, number, WIRE_U32_MAX)                                                                   \
    F(u32, left, WIRE_RANKS_MAX)                                                                   \
    F(where, at, 1)                                                                                \
    F(flag, stays, 0)                                                                              \
    F(text, text, WIRE_STACK_MAX)                                                                  \
    F(text, why, WIRE_NAME_MAX)                                                                    \
    F(text, advice, WIRE_NAME_MAX)

/* So many debuggers run now, which --debug has started. */
#define WIRE_FIELDS_DEBUGGED(F, E) F(u32, count, WIRE_RANKS_MAX)

/* addresses: where the agent listens for other agents: "1.2.3.4:5" or "[::1]:5", separated by
 * blanks; machine: as by uname -m. */
#define WIRE_FIELDS_HELLO(F, E)                                                                    \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(text, version, WIRE_NAME_MAX)                                                                \
    F(text, name, WIRE_NAME_MAX)                                                                   \
    F(u32, os_pid, WIRE_OS_PID_MAX)                                                                \
    F(u32, cores, WIRE_SLOTS_MAX)                                                                  \
    F(text, machine, WIRE_NAME_MAX)                                                                \
    F(text, addresses, WIRE_PATH_MAX)

/* The answer to ASK_PASSED: all processes of the host have arrived at the barrier that ends the
 * envelope's superstep or a later one, and their output up to then has been sent.  Also sent
 * without a request, with WIRE_NEVER: no process of the job lives there in this term. */
#define WIRE_FIELDS_PASSED(F, E) F(u32, host, WIRE_HOSTS_MAX - 1)

/* The link to another host's agent has failed, or could not be made in this term: a fault.  behind:
 * it was broken as the peer is too far behind its replicas. */
#define WIRE_FIELDS_LINK_LOST(F, E)                                                                \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, peer, WIRE_HOSTS_MAX - 1)                                                               \
    F(flag, behind, 0)                                                                             \
    F(text, text, WIRE_TEXT_MAX)

/* Process 0 has reached bsp_begin(wanted) on this host; wanted 0 means as many as there are. */
#define WIRE_FIELDS_REGISTER(F, E)                                                                 \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, wanted, WIRE_U32_MAX)                                                                   \
    F(u32, os_pid, WIRE_OS_PID_MAX)

#define WIRE_FIELDS_ELECTED(F, E) F(u32, host, WIRE_HOSTS_MAX - 1)

/* available: as in HOST_READY, but beside the processes that run. */
#define WIRE_FIELDS_STATUS(F, E)                                                                   \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(f64, seconds, 0)                                                                             \
    F(where, ranks, WIRE_RANKS_MAX)                                                                \
    F(coming, coming, WIRE_RANKS_MAX)                                                              \
    F(u64, available, WIRE_U64_MAX)                                                                \
    F(text, alone, WIRE_TEXT_MAX)                                                                  \
    E(WIRE_PART_LEARNED, struct wire_learned, learned)

/* Output of process pid (-1: before bsp_begin) on stream 1 or 2; no bytes: end of file. */
#define WIRE_FIELDS_OUTPUT(F, E)                                                                   \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, stream, 2)                                                                              \
    F(bytes, data, WIRE_CHUNK_MAX)

#define WIRE_FIELDS_TRACE(F, E) F(text, text, WIRE_TEXT_MAX)

/* The last message of a host; all output of its processes precedes it.  early: those that were
 * ended because a replica of them had ended, which may have written more. */
#define WIRE_FIELDS_REPORT(F, E)                                                                   \
    F(u32, host, WIRE_HOSTS_MAX - 1)                                                               \
    F(numbers, early, WIRE_RANKS_MAX)                                                              \
    F(usage, ranks, WIRE_RANKS_MAX)

/* A line for the user's stderr; the job goes on.  status: that of the job, should it end because
 * this host is lost; 0: no other than that of a lost host.  once: of several lines with the same
 * number that come in a term only the first is shown; 0: it is shown. */
#define WIRE_FIELDS_NOTICE(F, E)                                                                   \
    F(text, text, WIRE_TEXT_MAX)                                                                   \
    F(u32, status, WIRE_STATUS_MAX)                                                                \
    F(u64, once, WIRE_U64_MAX)

/* A process was lost, and is restarted alone while the others go on.  text: for the user's stderr.
 */
#define WIRE_FIELDS_RESTARTED(F, E)                                                                \
    F(u32, pid, WIRE_RANKS_MAX - 1)                                                                \
    F(text, text, WIRE_TEXT_MAX)

/* That host is lost, and those of its processes that have come to the sender's are restarted alone
 * there, from that snapshot; the sender's are in the envelope's superstep.  What they have written
 * since the snapshot they write again.  text: for the user's stderr. */
#define WIRE_FIELDS_RESETTLED(F, E)                                                                \
    F(u32, lost, WIRE_HOSTS_MAX - 1)                                                               \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, name)                                         \
    F(numbers, pids, WIRE_RANKS_MAX)                                                               \
    F(text, text, WIRE_TEXT_MAX)

/* Whether the loss of that host would not end the term, as far as Processor Zero knows: that is to
 * be asked (LINK_LOST). */
#define WIRE_FIELDS_BEARABLE(F, E)                                                                 \
    F(u32, of, WIRE_HOSTS_MAX - 1)                                                                 \
    F(flag, bears, 0)

/* The job is over: bsprun's exit status and the cause (enum wire_cause); pid is -1 when no process
 * is to blame; text and table are for the user and may be empty.  unaware: the agent whose words
 * they are did not know that the end was decided when the process died. */
#define WIRE_FIELDS_ENDED(F, E)                                                                    \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(flag, unaware, 0)                                                                            \
    F(text, text, WIRE_TEXT_MAX)                                                                   \
    F(text, table, WIRE_TABLE_MAX)                                                                 \
    E(WIRE_PART_LEARNED, struct wire_learned, learned)

/* A fault has ended the term, but not necessarily the job: the fault as in ENDED; `superstep` of
 * the fault is the envelope's.  bad: the snapshot `not_restored` could not be.  right: newer ones
 * are wrong, or may be, as replicas differ; term 0: none is known to be.  moves: what is to
 * be moved in the next term, by the decision of Processor Zero; moving_seconds: what its moves have
 * cost the job so far, of the passed_seconds for which it has run. */
#define WIRE_FIELDS_TERM_OVER(F, E)                                                                \
    F(i32, status, WIRE_STATUS_MAX)                                                                \
    F(u32, cause, WIRE_CAUSE_LAST)                                                                 \
    F(i32, pid, WIRE_RANKS_MAX)                                                                    \
    F(u32, signal, WIRE_STATUS_MAX)                                                                \
    F(flag, bad, 0)                                                                                \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, not_restored)                                 \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, right)                                        \
    F(text, text, WIRE_TEXT_MAX)                                                                   \
    F(move, moves, WIRE_RANKS_MAX)                                                                 \
    F(f64, moving_seconds, 0)                                                                      \
    F(f64, passed_seconds, 0)                                                                      \
    E(WIRE_PART_LEARNED, struct wire_learned, learned)

/* The snapshot from which the term is to begin: record it and answer TERM_RECORDED.  missed:
 * processes that were to be elsewhere, by request or because their host is drained, and the host
 * where they are nevertheless; text: why, for the user, or with replicas why they are fewer than
 * they were to be, if hosts suffice for them. */
#define WIRE_FIELDS_CHOSEN(F, E)                                                                   \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, name)                                         \
    F(u32, processes, WIRE_RANKS_MAX)                                                              \
    F(move, missed, WIRE_RANKS_MAX)                                                                \
    F(text, text, WIRE_TEXT_MAX)

/* The snapshot is committed: the pause of the processes, its duration, the size of its images;
 * known: all agents know of it, so that data kept for older ones may be dropped, except for right,
 * to which the job goes back if replicas differ (term 0: none); replicas: there are cells of
 * several hosts in this term. */
#define WIRE_FIELDS_SAVED(F, E)                                                                    \
    F(u64, superstep, WIRE_U64_MAX)                                                                \
    F(flag, known, 0)                                                                              \
    F(flag, replicas, 0)                                                                           \
    E(WIRE_PART_SNAPSHOT, struct bspz_snapshot_name, right)                                        \
    F(u64, pause_ns, WIRE_U64_MAX)                                                                 \
    F(u64, commit_ns, WIRE_U64_MAX)                                                                \
    F(u64, size, WIRE_U64_MAX)                                                                     \
    E(WIRE_PART_LEARNED, struct wire_learned, learned)

/* The snapshot of the envelope's superstep has failed, and why; the processes have been going on
 * from there for so long. */
#define WIRE_FIELDS_UNSAVED(F, E)                                                                  \
    F(u64, age_ns, WIRE_U64_MAX)                                                                   \
    F(text, text, WIRE_TEXT_MAX)

/* The job is to end: answer CLOSED.  whole: every process is in bsp_end after the envelope's
 * superstep, and CLOSED waits for all output up to then; else the job is cut short. */
#define WIRE_FIELDS_CLOSING(F, E) F(flag, whole, 0)

/* In the stream of OUTPUT: output before it was written before the snapshot (envelope's superstep,
 * envelope's term), output after it later.  input: bytes of stdin that process 0 had read.  Sent by
 * each host before CAPTURED, whether or not the snapshot succeeds.  bsprun echoes it, and no image
 * is reported durable before that. */
#define WIRE_FIELDS_MARK(F, E)    F(u64, input, WIRE_U64_MAX)

/* Process 0 can take more input: `position` is the end of what its stream has.  begins: it begins
 * there (again), whatever it was sent before; digest: then that of the input read up to there; 0:
 * unknown. */
#define WIRE_FIELDS_INPUT_TAKEN(F, E)                                                              \
    F(u64, position, WIRE_U64_MAX)                                                                 \
    F(flag, begins, 0)                                                                             \
    F(u64, digest, WIRE_U64_MAX)

#endif
