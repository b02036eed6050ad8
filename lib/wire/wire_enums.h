/* wire_enums.h - the enumerations of the control protocol; part of wire_table.h. */
#ifndef WIRE_ENUMS_H
#define WIRE_ENUMS_H

/* ---- Enumerations that travel as u32: E(prefix, name, text), the first is 0 ------------------ */

#define WIRE_CAUSES(E)                                                                             \
    E(NONE, "ended normally")                                                                      \
    E(ABORT_CALLED, "bsp_abort was called")                                                        \
    E(RANK_ERROR, "a BSPlib call was wrong")                                                       \
    E(RANK_SIGNALLED, "a process was killed by a signal")                                          \
    E(RANK_EXITED, "a process exited before bsp_end")                                              \
    E(RANKS_STUCK, "processes wait for one that cannot come")                                      \
    E(MISMATCH, "some processes are in bsp_sync, some in bsp_end")                                 \
    E(PLACEMENT, "the processes could not be started")                                             \
    E(HOST_LOST, "a host was lost")                                                                \
    E(STOPPED, "stopped by a signal")                                                              \
    E(TIMEOUT, "the time limit passed")                                                            \
    E(DECIDED, "told to abort at this superstep")                                                  \
    E(KILLED_AFTER_END, "a process was killed after bsp_end")                                      \
    E(LAUNCHER_LOST, "bsprun has terminated")                                                      \
    E(INTERNAL, "an internal error")                                                               \
    E(SAVED, "stopped after a snapshot")                                                           \
    E(REFUSED, "a process cannot be captured")                                                     \
    E(NOT_WRITTEN, "a snapshot could not be written")                                              \
    E(NOT_RESTORED, "a snapshot could not be restored")                                            \
    E(NOTHING_SAVED, "there is no snapshot to restart from")                                       \
    E(MOVED, "processes continue on other hosts")                                                  \
    E(NO_MEMORY, "a process does not fit into the memory of any host")                             \
    E(EXITED_AFTER_END, "a process reported a failure after bsp_end")

#define WIRE_RANK_STATES(E)                                                                        \
    E(STARTING, "starting")                                                                        \
    E(COMPUTING, "computing")                                                                      \
    E(WAITING, "waiting")                                                                          \
    E(COMMUNICATING, "communicating")                                                              \
    E(IN_BEGIN, "in bsp_begin")                                                                    \
    E(IN_END, "in bsp_end")                                                                        \
    E(ENDED, "ended")                                                                              \
    E(KILLED, "killed")                                                                            \
    E(STOPPED, "stopped")

/* What happens with a process that is, or is expected to be, on another host in the next term. */
#define WIRE_COMINGS(E)                                                                            \
    E(SENT, "sent ahead")                                                                          \
    E(BEGUN, "being restored ahead")                                                               \
    E(AHEAD, "restored ahead")                                                                     \
    E(RESTORED, "being restored")

/* CALL: some or all processes are at a safe point (lib/rt/safe_point.h). */
#define WIRE_BARRIERS(E)                                                                           \
    E(SYNC, "bsp_sync")                                                                            \
    E(END, "bsp_end")                                                                              \
    E(CALL, "a call")

/* SNAPSHOT: record the state, then wait for RESUME. */
#define WIRE_DECISIONS(E)                                                                          \
    E(GO, "go")                                                                                    \
    E(ABORT, "abort")                                                                              \
    E(END, "end")                                                                                  \
    E(SNAPSHOT, "snapshot")

#define WIRE_STOPS(E)                                                                              \
    E(SIGNAL, "signal")                                                                            \
    E(TIMEOUT, "timeout")                                                                          \
    E(KILL, "kill")

/* To what a process is bound.  DEFAULT: to one processor, if there are enough. */
#define WIRE_BINDS(E)                                                                              \
    E(DEFAULT, "default")                                                                          \
    E(CORE, "core")                                                                                \
    E(NONE, "none")                                                                                \
    E(HWTHREAD, "hwthread")                                                                        \
    E(PACKAGE, "package")                                                                          \
    E(NUMA, "numa")

/* Through what the processes of a host are dealt round robin. */
#define WIRE_MAPS(E)                                                                               \
    E(SLOT, "slot")                                                                                \
    E(HWTHREAD, "hwthread")                                                                        \
    E(CORE, "core")                                                                                \
    E(PACKAGE, "package")                                                                          \
    E(NUMA, "numa")

#define WIRE_STDIOS(E)                                                                             \
    E(INHERIT, "inherit")                                                                          \
    E(SPLIT, "split")                                                                              \
    E(TAG, "tag")                                                                                  \
    E(PLAIN, "plain")

/* When snapshots are taken: enum policy_kind. */
#define WIRE_RULES(E)                                                                              \
    E(OFF, "off")                                                                                  \
    E(SUPERSTEPS, "supersteps")                                                                    \
    E(TIME, "time")                                                                                \
    E(AUTO, "auto")

/* Whether images are written while the processes continue. */
#define WIRE_ASYNCS(E)                                                                             \
    E(AUTO, "auto")                                                                                \
    E(ON, "on")                                                                                    \
    E(OFF, "off")

/* The reason for the interval between snapshots. */
#define WIRE_WHYS(E)                                                                               \
    E(OFF, "only when asked for")                                                                  \
    E(ASKED, "as asked for")                                                                       \
    E(FIRST, "the first one comes early")                                                          \
    E(OVERHEAD, "nothing is known of failures: as often as the overhead allows")                   \
    E(BEST, "best for these failures and costs")                                                   \
    E(COMMIT, "failures ask for more, but a snapshot takes so long to be committed")               \
    E(BOUND, "failures ask for more, but the overhead that was given allows no more")

/* What is done on a host whose owner is active. */
#define WIRE_OWNER_POLICIES(E)                                                                     \
    E(NONE, "none")                                                                                \
    E(NICE, "nice")                                                                                \
    E(YIELD, "yield")                                                                              \
    E(LEAVE, "leave")

/* ... to the job's processes there.  LEAVE: they go on until they move to another host. */
#define WIRE_OWNER_ACTS(E)                                                                         \
    E(GO_ON, "go on")                                                                              \
    E(SLOW, "slow")                                                                                \
    E(STOP, "stop")                                                                                \
    E(LEAVE, "leave")

/* What is done when replicas of a process communicate different things. */
#define WIRE_MISMATCHES(E)                                                                         \
    E(ROLLBACK, "rollback")                                                                        \
    E(CONTINUE, "continue")                                                                        \
    E(END, "end")

/* What is done with a process before it ends of an error. */
#define WIRE_ATTACHES(E)                                                                           \
    E(NOT, "nothing")                                                                              \
    E(DEBUGGER, "a debugger is started")                                                           \
    E(STACK, "its stack is printed")

/* What one agent fetches from another. */
#define WIRE_THINGS(E)                                                                             \
    E(IMAGE, "image")                                                                              \
    E(MANIFEST, "manifest")                                                                        \
    E(BINARY, "program or library")

#endif
