/* inside.h - what a node agent keeps of its job's snapshots; for the sources of this folder alone.
 *
 * A snapshot, as the agent sees it:
 *   PLACE or RELEASE: the order is written on the board -> copies and writers appear and are
 *   adopted -> every rank has recorded -> MARK, CAPTURED -> RESUME -> the images are written, and
 *   made durable -> IMAGE_DURABLE of each -> PERSIST: the manifest, PERSISTED -> COMMITTED, KNOWN
 *   -> RETIRE: older copies and snapshots go.
 *
 * What can fail: the store (no folder, no manifest), a rank that cannot be captured, a writer that
 * dies: IMAGE_FAILED or PERSISTED with an error, then ABANDON.
 */
#ifndef BSPRUN_SNAPSHOTS_INSIDE_H
#define BSPRUN_SNAPSHOTS_INSIDE_H

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/snapshot/chain_end.h"
#include "bsprun/agent/snapshot/plan.h"
#include "bsprun/agent/snapshot/snapshot_states.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/snapshot/sources.h"
#include "ckpt/shares.h"
#include "ckpt/store.h"

/* A frozen copy of a rank. */
struct frozen {
    struct watched process;
    struct coord_name name; /* of the snapshot; term 0: there is none */
};

/* What the agent knows of one process's snapshots. */
struct kept {
    struct frozen copies[SNAPSHOT_SLOTS];
    struct watched writer;
    bool recorded, written; /* in the present snapshot */
    bool staged;            /* in the present restore */
    bool copied;            /* restored from the copy in `slot` */
    int slot;               /* that the next copy gets, -1: none */
    struct manifest_image image;
    unsigned char digest[MANIFEST_DIGEST], base_digest[MANIFEST_DIGEST];
};

/* The snapshot on its way. */
struct ticket {
    enum ticket_state state;
    struct coord_name name;
    struct store_snapshot *folder; /* NULL: there is none, or it is committed or abandoned */
    bool first;                    /* snapshot 0: process 0 alone */
    bool full;                     /* its images build on none */
    uint64_t marked;               /* where in what bsprun is sent MARK ends */
    bool echoed;                   /* bsprun has it */
    int missing;                   /* ranks that have not recorded */
    uint64_t created;
    uint64_t pause_ns;
    uint64_t page_copy_ns; /* sum of all that have recorded */
    uint64_t changed;      /* bytes, of all images so far */
};

#define BAD_IMAGES_MOST 16u
struct bad_image {
    struct coord_name name;
    uint32_t pid;
};

/* How process 0 was started: for the manifest, and for starting it again. */
struct identity {
    char *program, *directory;
    char **arguments, **environment; /* NULL-terminated; with the name by which it was called */
    uint32_t argument_count, environment_count;
};

struct agent_snapshots {
    struct shares *shares; /* files that processes have open together */
    int common;            /* file in memory of what they share besides; -1 */
    struct opened *opened; /* what they have opened since; NULL: nobody goes back */
    uint32_t *together;    /* with whom: for each process the lowest of its group */
    struct policy_rule rule;
    struct policy_costs costs; /* of earlier terms */
    struct trial_read *trial;  /* of an image; NULL: it was not tried */
    bool tried, tried_told;
    uint32_t small_ones;       /* images that were too small for it */
    enum wire_async async;
    uint32_t keep;
    bool stop_on_failure, stop_on_late_failure;
    bool recover;           /* from faults; else there is only snapshot 0, for other hosts */
    uint32_t wanted_copies; /* of each image, on hosts that share no directory */
    bool shared;            /* the directory is the one that bsprun sees */
    bool temporary;         /* it is this agent's alone, and goes with the job */
    bool hidden;            /* it is this agent's alone, and not where the user said */
    char *path;             /* DIR/JOB of a directory of this host's own; NULL */
    uint32_t copies;        /* hosts on which each image shall be in this term */
    struct gathering *gathering; /* gather.c */
    char rules[BSPZ_SNAP_RULES];
    uint32_t rules_bytes;
    char **options;
    uint32_t option_count;

    struct identity identity;
    struct kept *kept; /* nprocs of them */
    struct ticket ticket;
    struct chain_end chain;        /* of what was committed last */
    /* Images that a restore found damaged: nothing that builds on one is offered again. */
    struct bad_image bad[BAD_IMAGES_MOST];
    uint32_t bad_count;
    bool ended;    /* nothing of it is left */
    bool restores; /* this term began from a snapshot */
    enum making_state making;
    int unstaged; /* processes, while they are being staged */

    /* Processor time that snapshots have had: of what has ended and of the agent itself, whose time
     * is counted up to counted_ns; and what Processor Zero has been told. */
    uint64_t cpu_ns, counted_ns, told_ns;

    struct pruning *pruning; /* prune.c: under way, or over and not looked at; NULL */
    int unpruned; /* snapshots since the last time older ones were removed, */
    uint64_t pruned_ns;
    struct snapshot_way way;
    uint64_t way_ns;     /* when that was worked out */
    bool without_copies; /* one could not be watched */
    bool said_memory, said_fell_back;
    unsigned said_failures; /* causes since the last one that could be taken, a bit each */
};

/* ---- ticket.c ---- */

struct bspz_snap *agent_snap_of(const struct agent *agent, int pid);
/* There is no image of the process: Processor Zero decides what that means. */
void agent_image_failed(struct agent *agent, int pid, enum wire_cause cause, const char *why);
/* What the process says on the board of its failure, for the user. */
void agent_snap_text(const struct agent *agent, int pid, const char *what, char text[AGENT_WHY]);
/* Forgets half a snapshot and removes it. */
void agent_abandon(struct agent *agent);

/* ---- mark.c ---- */

/* MARK into the stream of the output: what comes behind it was written after the snapshot. */
void agent_mark(struct agent *agent);
/* Whether bsprun has all that was written before the snapshot. */
bool agent_output_is_out(const struct agent *agent);

/* ---- open_files.c: files that were opened since the snapshot (opened.h) ---- */

/* All stand still for a snapshot. */
void agent_opened_snapshot(struct agent *agent, struct coord_name name);
/* None runs, and the job goes on from that snapshot. */
void agent_opened_back(struct agent *agent, struct coord_name name);

/* ---- costs.c ---- */

/* From here on what the agent does is done for a snapshot, up to here it was. */
void agent_costs_begin(struct agent *agent);
void agent_costs_count(struct agent *agent);
/* What there is to be told of it. */
void agent_costs_tell(struct agent *agent, struct wire_known *known);
/* A snapshot is committed: how long would it take to read it?  Tried once, with the image of that
 * process, which is here. */
void agent_costs_try(struct agent *agent, struct coord_name name, int pid);

/* ---- prune.c ---- */

/* Removes what is older than the snapshots that are kept: beside what comes next, or before it. */
void agent_prune(struct agent *agent, bool wait);
/* Nothing is being removed any more. */
void agent_prune_finish(struct agent *agent);

/* ---- life.c ---- */

/* Whether it is this agent that removes what is not wanted in its directory: of those that share one
 * it is that of process 0. */
bool agent_keeps_order(const struct agent *agent);

/* ---- store_directory.c ---- */

/* The directory that START names, where `home` is in it, or this host's own instead.  0, or -errno and
 * `why`. */
int agent_store_open(struct agent *agent, const char *path, const char *home, char why[AGENT_WHY]);
/* In the host's own directory: the term goes on from that snapshot. */
void agent_note_term(struct agent *agent, struct coord_name from);
/* What was made for this job only. */
void agent_store_remove(struct agent *agent);

/* ---- frozen_copies.c ---- */

/* Adopts new copies and writers; a writer that has died without a result is noticed. */
void agent_adopt_copies(struct agent *agent);
/* Whether there is memory for copies and forked writers. */
struct snapshot_way agent_snapshot_way(struct agent *agent);
/* Makes room for the rank's next copy beside the committed one's. */
void agent_next_slot(struct agent *agent, int pid, bool wanted);
/* The same in a given slot; -1: no copy is wanted. */
void agent_use_slot(struct agent *agent, int pid, int slot);
void agent_end_copy(struct agent *agent, int pid, int slot);
void agent_end_writer(struct agent *agent, int pid);
/* Ends all copies but those of that snapshot (term 0: all copies); of the one on its way: ends only
 * those. */
void agent_end_copies_but(struct agent *agent, struct coord_name name);
void agent_end_copies_of(struct agent *agent, struct coord_name name);
/* The slot with the process's copy of that snapshot, or -1. */
int agent_copy_of(const struct agent *agent, int pid, struct coord_name name);

/* ---- write_manifest.c ---- */

/* Reads how the process was started; once. */
void agent_identify(struct agent *agent, pid_t ospid);
/* The same from a manifest, where it is not known.  False: no memory. */
bool agent_identify_from(struct agent *agent, const struct manifest *manifest);
bool agent_identified(const struct agent *agent);
void agent_forget_identity(struct identity *identity);
/* Writes the manifest: 0 or -errno, then `why`. */
int agent_write_manifest(struct agent *agent, const struct wire_message *order, char *why);

/* ---- common_memory.c: memory that all processes share, see bspz_common_take ---- */

/* Makes the file, for process 0 that will be started; without one the memory is refused. */
void agent_common_open(struct agent *agent);
/* Processes will be restored: what is in the file comes from process 0; they have it if all of them
 * are here. */
void agent_common_begin(struct agent *agent);
void agent_common_close(struct agent *agent);

/* ---- file_groups.c: which processes share the files that they had open in bsp_begin ---- */

/* Those of one host, when nothing is known of earlier ones. */
void agent_group_by_host(struct agent *agent);
/* Those that did when the snapshot was taken and are on one host now.  False: no memory. */
bool agent_group_from(struct agent *agent, const struct manifest *manifest);
/* For each process of the manifest the lowest of its group, or itself, when its group has no files to
 * write to together as far as images that are here say; for free().  None of any: *count is 0. */
uint64_t *agent_list_together(const struct agent *agent, const struct manifest *manifest,
                              uint32_t *count);

/* ---- offer.c ---- */

/* The restore of the process found an image to be bad: the number-th of its chain, 0 the newest. */
void agent_note_bad_image(struct agent *agent, int pid, uint32_t number);

/* ---- gather.c ---- */

/* Sees to it that all is here that processes of this host without copies are made of.  Then `done`
 * is called, also before this returns. */
void agent_gather(struct agent *agent, struct coord_name name,
                  void (*done)(struct agent *agent, int error, const char *why));
/* How a process is started whose program or libraries are elsewhere; NULL: as ever. */
const char *agent_gathered_program(const struct agent *agent);
/* NAME=VALUE. */
const char *agent_gathered_variable(const struct agent *agent, int index);
void agent_gather_free(struct agent *agent);

/* ---- restore.c ---- */

void agent_restore(struct agent *agent, const struct wire_message *order);
void agent_pass(struct agent *agent);
/* The processes of this host begin as process 0 was in bsp_begin on another one. */
void agent_make_of_first(struct agent *agent, struct coord_name name);
void agent_scan_staged(struct agent *agent);
void agent_scan_remote(struct agent *agent);

#endif
