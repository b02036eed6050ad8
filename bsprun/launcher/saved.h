/* saved.h - the job's place among the snapshots: the directory, what it holds, what is noted there.
 *
 * Blocking, as every note must be durable before the job goes on.  Functions return 0 or an exit
 * status for bsprun, and then `error` holds one line.
 */
#ifndef BSPRUN_SAVED_H
#define BSPRUN_SAVED_H

#include <limits.h>
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
    char *private_directory;           /* it goes with the job; NULL: none; owned */
    char job_directory[PATH_MAX + 72]; /* DIR/JOB, absolute */
    char home[SAVED_HOME]; /* the name of a file in it that is there for this bsprun alone */
    unsigned char job[WIRE_JOB_SIZE];
    bool restart;
    struct manifest manifest; /* of the snapshot to go on from */
    bool has_manifest;
    uint32_t last_term; /* on record; 0 in a new job */
    struct coord_lineage lineage;
    bool finished; /* the job to restart has ended */
    int32_t finished_status;
    char note[SAVED_TEXT]; /* worth a line on stderr, or "" */
};

/* As the options say: nothing, a new job in the directory, or the one to restart, whose own options
 * are then taken over. */
int saved_open(struct saved *saved, struct options *options, char error[SAVED_TEXT]);

/* A job that has no directory, but needs one while it runs. */
int saved_open_private(struct saved *saved, char error[SAVED_TEXT]);

/* Whether the user wants snapshots, so that there may be a rollback. */
static inline bool saved_recovers(const struct saved *saved)
{
    return saved->store && !saved->private_directory;
}

/* Reads the manifest of the newest snapshot anew, if there is one. */
void saved_look(struct saved *saved);

/* An errno value. */
uint32_t saved_term(struct saved *saved, uint32_t term, struct coord_name from,
                    char error[SAVED_TEXT]);
uint32_t saved_finish(struct saved *saved, int32_t status, uint32_t term, uint64_t superstep,
                      char error[SAVED_TEXT]);

/* A new file without a name, for what does not fit into memory; -errno. */
int saved_spill(const struct saved *saved);

/* When no process of the job is left: removes what was in the making, and all of a new job that is
 * not worth keeping: it has no snapshot, and no end on record. */
void saved_close(struct saved *saved, bool worth_keeping);

/* saved_private.c: makes such a directory (to be freed; NULL: error), and removes one. */
char *saved_make_private(char error[SAVED_TEXT]);
void saved_remove_private(const char *path);

/* saved_home.c: an empty file of a name that nobody has had before, in the job's directory: an
 * agent that sees it shares the directory with this bsprun, wherever the job was begun.  0 or an
 * errno value. */
int saved_make_home(struct saved *saved);
void saved_remove_home(struct saved *saved);

#endif
