/* inside.h - a node agent's state of snapshots; private to this directory.
 *
 * A snapshot in the agent:
 *   PLACE or RELEASE: the order is written on the board -> copies and writers appear and are
 *   adopted -> every rank has recorded -> MARK, CAPTURED -> RESUME -> the images are written, and
 *   made durable -> IMAGE_DURABLE of each -> PERSIST: the manifest, PERSISTED -> COMMITTED, KNOWN
 *   -> RETIRE: older copies and snapshots are removed.
 *
 * What can fail: the store (no directory, no manifest), a rank that cannot be captured, a writer
 * that dies: IMAGE_FAILED or PERSISTED with an error, then ABANDON.
 */
#ifndef BSPRUN_SNAPSHOTS_INSIDE_H
#define BSPRUN_SNAPSHOTS_INSIDE_H

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/chain_end.h"
#include "bsprun/agent/snapshot/plan.h"
#include "bsprun/agent/snapshot/snapshot_states.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/snapshot/sources.h"
#include "ckpt/shares.h"
#include "ckpt/store.h"
#include "lib/shm/board.h"

/* A frozen copy of a rank. */
struct frozen {
    struct watched process;
    struct bspz_snapshot_name name; /* of the snapshot; term 0: none */
};

/* The state of one process's snapshots. */
struct kept {
    struct frozen copies[SNAPSHOT_SLOTS];
    struct watched writer;
    bool recorded, written;        /* in the present snapshot */
    bool staged;                   /* in the present restore */
    bool copied;                   /* restored from the copy in its slot */
    int slot;                      /* of the next copy, -1: none */
    struct bspz_image_facts facts; /* of its image */
};

/* Whether replicas of other hosts are known to agree on what led to the snapshot. */
enum comparison { COMPARISON_NOT_BEGUN, COMPARISON_WAITED_FOR, COMPARISON_OVERDUE };

/* The present snapshot. */
struct ticket {
    enum ticket_state state;
    enum comparison comparison;
    struct bspz_snapshot_name name;
    struct store_snapshot *staging; /* NULL: none, committed or abandoned */
    bool first;                     /* snapshot 0: process 0 alone */
    bool full;                      /* its images are full */
    uint64_t marked;                /* position of the end of MARK in the connection to bsprun */
    bool echoed;                    /* bsprun has received it */
    int missing;                    /* ranks that have not recorded */
    uint64_t created;
    uint64_t begun_ns; /* when it was ordered */
    uint64_t pause_ns;
    uint64_t page_copy_ns; /* sum over the ranks that have recorded */
    uint64_t changed;      /* bytes, of all images so far */
};

#define BAD_IMAGES_MOST 16u
struct bad_image {
    struct bspz_snapshot_name name;
    uint32_t pid;
};

/* How process 0 was started, for the manifest and for restarts. */
struct identity {
    char *program, *directory;
    char **arguments, **environment; /* NULL-terminated; including argv[0] */
    uint32_t argument_count, environment_count;
};

struct agent_snapshots {
    struct shares *shares;             /* shared open files */
    int common;                        /* memfd of the program's shared memory; -1 */
    struct opened *opened;             /* files opened since the snapshot; NULL: no rollbacks */
    uint32_t *together;                /* by process: the lowest of its group */
    bool *free_alone;                  /* by process: it shares no file that it writes ... */
    struct bspz_snapshot_name free_by; /* ... according to that snapshot; term 0: none */
    struct policy_rule rule;
    struct policy_costs costs; /* of earlier terms */
    struct trial_read *trial;  /* of an image; NULL: not tried */
    bool tried, tried_told;
    uint32_t small_ones; /* images that were too small for a trial */
    enum wire_async async;
    uint32_t keep;
    bool stop_on_failure, stop_on_late_failure;
    bool recover;           /* recover from faults; else only snapshot 0, for other hosts */
    uint32_t wanted_copies; /* of each image, on hosts that share no directory */
    uint32_t writer;        /* the host that wrote the newest manifest; WIRE_HOSTS_MAX: not here */
    struct bspz_snapshot_name wrote;     /* of which snapshot that was last known */
    struct bspz_snapshot_name abandoned; /* the last one that was; term 0: none */
    struct bspz_snapshot_name unnoted;   /* this term began from it, which is not on record in this
                                            host's own directory; term 0: it is */
    bool shared;                         /* the directory is shared with bsprun */
    bool temporary;                      /* it is private to this agent, and removed with the job */
    bool hidden;                 /* it is private to this agent, and not at the user's path */
    char *path;                  /* DIR/JOB of this host's own directory; NULL */
    uint32_t copies;             /* hosts on which each image must be durable in this term */
    struct agent_alone *alone;   /* alone.h; NULL: none is restarted alone */
    int lone_writer;             /* the process whose image alone is being written, + 1; 0 */
    struct gathering *gathering; /* gather.c */
    struct aheads *aheads;       /* ahead.c; NULL: none so far */
    char rules[BSPZ_SNAP_RULES];
    uint32_t rules_bytes;
    char **options;
    uint32_t option_count;

    struct identity identity;
    struct kept *kept; /* nprocs entries */
    struct ticket ticket;
    struct chain_end chain; /* of the last committed snapshot */
    bool without_bases;     /* files that it is based on are not there any more */
    /* Images that a restore found damaged: snapshots based on one are not offered again. */
    struct bad_image bad[BAD_IMAGES_MOST];
    uint32_t bad_count;
    bool ended;    /* all of it has ended */
    bool restores; /* this term began from a snapshot */
    enum making_state making;
    int unstaged; /* number of processes still to be staged */

    /* CPU time of snapshots: of reaped processes and of the agent itself, up to counted_ns; and the
     * part reported to Processor Zero. */
    uint64_t cpu_ns, counted_ns, told_ns;

    struct pruning *pruning;         /* prune.c: in progress, or finished and not joined; NULL */
    struct bspz_snapshot_name right; /* as COMMITTED has said, or the term began from it */
    int unpruned;                    /* snapshots since older ones were last removed, */
    uint64_t pruned_ns;
    uint64_t slowest_ns; /* from the order of a snapshot to its commit, or its end without */
    struct snapshot_way way;
    uint64_t way_until_ns; /* when that is computed anew */
    bool without_copies;   /* one could not be watched */
    bool said_memory, said_fell_back;
    unsigned said_failures; /* causes reported since the last successful one, a bit each */
};

/* ---- inside.c ---- */

/* NULL in a job without. */
struct agent_snapshots *snapshots_of(const struct agent *agent);
/* From now on the job has them: empty; NULL: no memory. */
struct agent_snapshots *snapshots_make(struct agent *agent);
/* What it points to has been freed. */
void snapshots_end(struct agent *agent);

/* ---- invariants.c ---- */

/* Checks what is true before and after every step; there are snapshots. */
void agent_snapshots_check(const struct agent *agent);

/* ---- ticket.c ---- */

struct bspz_snap *agent_snap_of(const struct agent *agent, int pid);
/* Reports to Processor Zero that the image of the process has failed, in the present snapshot, or
 * in that one. */
void agent_image_failed(struct agent *agent, int pid, enum wire_cause cause, const char *why);
void agent_image_of_failed(struct agent *agent, struct bspz_snapshot_name name, int pid,
                           enum wire_cause cause, const char *why);
/* Tells the user that there is no snapshot of so many supersteps, which does not end the job: each
 * cause once until snapshots succeed again. */
void agent_say_failure(struct agent *agent, uint64_t superstep, enum wire_cause cause,
                       const char *why);
/* The process's own text of its failure on the board, for the user. */
void agent_snap_text(const struct agent *agent, int pid, const char *what, char text[AGENT_WHY]);
/* Notes how long the present snapshot has taken until now, when it is committed or abandoned. */
void agent_note_slowest(struct agent *agent);
/* Abandons an unfinished snapshot and removes it. */
void agent_abandon(struct agent *agent);

/* ---- mark.c ---- */

/* Sends MARK in the stream of output: output after it was written after the snapshot. */
void agent_mark(struct agent *agent);
/* Whether bsprun has all output from before the snapshot. */
bool agent_output_is_out(const struct agent *agent);

/* ---- compared.c: replicas that agree on what is in images ---- */

/* A ticket was opened. */
void agent_compared_begin(struct agent *agent);
/* Whether the images of this host may count: the other replicas agree with its own, or are too slow
 * to wait for.  While it is false the bell is rung when that may have changed. */
bool agent_compared(struct agent *agent);

/* ---- open_files.c: files that were opened since the snapshot (opened.h) ---- */

/* All ranks pause for a snapshot. */
void agent_opened_snapshot(struct agent *agent, struct bspz_snapshot_name name);
/* No rank runs, and the job rolls back to that snapshot. */
void agent_opened_back(struct agent *agent, struct bspz_snapshot_name name);

/* ---- costs.c ---- */

/* Begin and end of the agent's work for a snapshot. */
void agent_costs_begin(struct agent *agent);
void agent_costs_count(struct agent *agent);
/* Fills in the costs for KNOWN. */
void agent_costs_tell(struct agent *agent, struct wire_known *known);
/* After a commit: measures once how fast the image of that process, which is here, can be read. */
void agent_costs_try(struct agent *agent, struct bspz_snapshot_name name, int pid);

/* ---- prune.c ---- */

/* Removes snapshots that are no longer retained: in a thread, or before it returns (wait). */
void agent_prune(struct agent *agent, bool wait);
/* Waits for the end of a removal. */
void agent_prune_finish(struct agent *agent);

/* ---- life.c ---- */

/* Whether this agent prunes its directory: of agents that share one, only that of process 0. */
bool agent_keeps_order(const struct agent *agent);

/* ---- store_directory.c ---- */

/* Opens the directory that START names if `home` is in it, else this host's own. 0, or -errno and
 * `why`. */
int agent_store_open(struct agent *agent, const char *path, const char *home, char why[AGENT_WHY]);
/* Records in the host's own directory that the term begins from that snapshot. */
void agent_note_term(struct agent *agent, struct bspz_snapshot_name from);
/* Does so now if it has failed: the snapshots of a term that is not on record do not count.  0, or
 * -errno and `why`. */
int agent_note_term_again(struct agent *agent, char why[AGENT_WHY]);
/* Removes a directory made for this job only. */
void agent_store_remove(struct agent *agent);

/* ---- frozen_copies.c ---- */

/* Adopts new copies and writers; handles writers that died without a result. */
void agent_adopt_copies(struct agent *agent);
/* Whether there is memory for copies and forked writers. */
struct snapshot_way agent_snapshot_way(struct agent *agent);
/* Makes room for the rank's next copy beside the committed one's. */
void agent_next_slot(struct agent *agent, int pid, bool wanted);
/* The same in a given slot; -1: no copy is wanted. */
void agent_use_slot(struct agent *agent, int pid, int slot);
void agent_end_copy(struct agent *agent, int pid, int slot);
/* The last snapshot has failed: ranks that are their own frozen copies go on in this term. */
void agent_release_stayed(struct agent *agent);
void agent_end_writer(struct agent *agent, int pid);
/* Ends all copies except those of that snapshot (term 0: all) and those that ranks wait for; ends
 * only those of the present one. */
void agent_end_copies_but(struct agent *agent, struct bspz_snapshot_name name);
void agent_end_copies_of(struct agent *agent, struct bspz_snapshot_name name);
/* The slot with the process's copy of that snapshot, or -1. */
int agent_copy_of(const struct agent *agent, int pid, struct bspz_snapshot_name name);

/* ---- write_manifest.c ---- */

/* Reads how the process was started; once. */
void agent_identify(struct agent *agent, pid_t ospid);
/* The same from a manifest, if unknown.  False: no memory. */
bool agent_identify_from(struct agent *agent, const struct manifest *manifest);
bool agent_identified(const struct agent *agent);
void agent_forget_identity(struct identity *identity);
/* Writes the manifest: 0 or -errno, then `why`. */
int agent_write_manifest(struct agent *agent, const struct wire_message *order, char *why);

/* ---- common_memory.c: memory that all processes share, see bspz_common_take ---- */

/* Makes the memfd before process 0 is started; without it snapshots with such memory are
 * refused. */
void agent_common_open(struct agent *agent);
/* Before a restore: process 0 fills the memfd; it is available if all processes are on this
 * host. */
void agent_common_begin(struct agent *agent);
void agent_common_close(struct agent *agent);

/* ---- file_groups.c: which processes share the files that they had open in bsp_begin ---- */

/* Groups the processes of each host, if no earlier groups are known. */
void agent_group_by_host(struct agent *agent);
/* Groups processes that shared files at the snapshot and are on one host now.  False: no memory. */
bool agent_group_from(struct agent *agent, const struct manifest *manifest);
/* For each process of the manifest the lowest of its group, or itself if the group shares no files
 * open for writing, according to the images on this host; for free(). *count is 0 if there is no
 * such group. */
uint64_t *agent_list_together(const struct agent *agent, const struct manifest *manifest,
                              uint32_t *count);

/* ---- offer.c ---- */

/* The restore of the process found image `number` of its chain damaged, 0 being the newest. */
void agent_note_bad_image(struct agent *agent, int pid, uint32_t number);

/* ---- gather.c ---- */

/* Fetches all files needed for the processes that `wants` names, then calls `done`, possibly before
 * this returns.  ahead: these processes are on other hosts still, which have their images. */
void agent_gather(struct agent *agent, struct bspz_snapshot_name name, bool ahead,
                  bool (*wants)(const struct agent *agent, int pid),
                  void (*done)(struct agent *agent, int error, const char *why));
/* Whether one is not done yet: another one must not begin. */
bool agent_is_gathering(const struct agent *agent);
/* The program to start if it is not at its path; NULL: at its path. */
const char *agent_gathered_program(const struct agent *agent);
/* NAME=VALUE. */
const char *agent_gathered_variable(const struct agent *agent, int index);
void agent_gather_free(struct agent *agent);

/* ---- starting.c ---- */

/* An image and its bases, newest first, open. */
struct chain {
    int fds[BSPZ_IMAGE_CHAIN_MAX];
    struct bspz_image_name names[BSPZ_IMAGE_CHAIN_MAX];
    int count;
};
/* Opens that of the process in the snapshot. 0, or -EIO and `why`; to be closed in any case. */
int agent_chain_open(struct sources *sources, struct bspz_snapshot_name name, uint32_t pid,
                     struct chain *chain, char *why);
void agent_chain_close(struct chain *chain);
/* Starts a process that becomes the one of the image.  socket: it is restored ahead, with this end
 * of a socket; else -1.  Returns its process id, or -ENOEXEC and `why`: not the fault of the
 * image. */
pid_t agent_start_of_image(struct agent *agent, int pid, const struct chain *chain,
                           struct sources *sources, int socket, char *why);
/* What become its descriptors 0, 1 and 2; null: of /dev/null. */
void agent_standard(struct agent *agent, int pid, int null, int standard[3]);

/* ---- ahead.c ---- */

/* Makes the process that was restored ahead for it that of the rank, as of the image.  False: there
 * is none that can follow to this image. */
bool agent_ahead_take(struct agent *agent, int pid, const struct chain *chain);
/* A snapshot is committed, which may be the last one of the term: brings the processes to it. */
void agent_ahead_follow(struct agent *agent);
/* The term is over: the processes stay for the next one, but nobody waits for an answer. */
void agent_ahead_rewind(struct agent *agent);
/* Ends those that were not taken. */
void agent_ahead_end(struct agent *agent);
/* The job is over. */
void agent_ahead_close(struct agent *agent);
/* Whether it is such a process, which outlives the term. */
bool agent_is_ahead(const struct agent *agent, pid_t ospid);

/* ---- restore.c ---- */

void agent_restore(struct agent *agent, const struct wire_message *order);
void agent_pass(struct agent *agent);
/* Makes the processes of this host from snapshot 0 of another host. */
void agent_make_of_first(struct agent *agent, struct bspz_snapshot_name name);
void agent_scan_staged(struct agent *agent);
void agent_scan_remote(struct agent *agent);

#endif
