/* saved.h - the job's directory of snapshots: its contents and records.
 *
 * Blocking, as every record must be durable before the job goes on.  Functions return 0 or an exit
 * status for bsprun, and then `error` holds one line.
 */
#ifndef BSPRUN_SAVED_H
#define BSPRUN_SAVED_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "bsprun/options/options.h"
#include "ckpt/store.h"
#include "coordinator/core/lineage.h"

#define SAVED_TEXT MANIFEST_ERROR_SIZE
#define SAVED_HOME 32

struct saved {
    struct store *store;               /* NULL: a job without snapshots */
    const char *directory;             /* as the user wrote it */
    char *private_directory;           /* removed with the job; NULL: none; owned */
    char job_directory[PATH_MAX + 72]; /* DIR/JOB, absolute */
    char home[SAVED_HOME];             /* the name of a file in it that is unique to this bsprun */
    unsigned char job[WIRE_JOB_SIZE];
    bool restart;
    struct manifest manifest; /* of the snapshot to restart from */
    bool has_manifest;
    uint32_t last_term; /* on record; 0 in a new job */
    struct coord_lineage lineage;
    bool finished; /* the job to restart has ended */
    int32_t finished_status;
    char note[SAVED_TEXT]; /* a line for stderr, as that the job has ended, or "" */
    bool holds_signals;
    sigset_t signals; /* blocked before */
};

/* Signals that would end bsprun wait until they are let go: what has been made for a new job could
 * not be removed then.  saved_open and saved_open_private hold them, saved_close lets them go. */
void saved_hold_signals(struct saved *saved);
void saved_let_signals_go(struct saved *saved);

/* Opens nothing, a new job, or the job to restart, whose options are then taken over. */
int saved_open(struct saved *saved, struct options *options, char error[SAVED_TEXT]);

/* Makes a private directory, for a job that needs one only while it runs. */
int saved_open_private(struct saved *saved, char error[SAVED_TEXT]);

/* Whether the user wants snapshots, so that there may be a rollback. */
static inline bool saved_recovers(const struct saved *saved)
{
    return saved->store && !saved->private_directory;
}

/* The process that reads the input of the job to restart, as it was started. */
uint32_t saved_reader(const struct saved *saved);

/* Reads the manifest of the newest snapshot anew, if there is one. */
void saved_look(struct saved *saved);

/* An errno value. */
uint32_t saved_term(struct saved *saved, uint32_t term, struct bspz_snapshot_name from,
                    char error[SAVED_TEXT]);
uint32_t saved_finish(struct saved *saved, int32_t status, uint32_t term, uint64_t superstep,
                      char error[SAVED_TEXT]);

/* A new unnamed file, for output that does not fit into memory; -errno. */
int saved_spill(const struct saved *saved);

/* When no process of the job is left: removes unfinished snapshots, and a new job without a
 * snapshot or a record of its end. */
void saved_close(struct saved *saved, bool worth_keeping);

/* saved_private.c: makes such a directory (to be freed; NULL: error), and removes one. */
char *saved_make_private(char error[SAVED_TEXT]);
void saved_remove_private(const char *path);

/* saved_home.c: makes an empty file with a unique name in the job's directory: an agent that sees
 * it shares the directory with this bsprun. 0 or an errno value. */
int saved_make_home(struct saved *saved);
void saved_remove_home(struct saved *saved);

#endif
