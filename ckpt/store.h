/* store.h - the directory in which jobs keep their snapshots.
 *
 *   DIR/lock                              locked by the bsprun that writes
 *   DIR/<job>/term                        which terms began, and from which snapshot
 *   DIR/<job>/term.copy                   the same again
 *   DIR/<job>/finished                    how the job ended
 *   DIR/<job>/<superstep>.<term>/manifest commits the snapshot: written last
 *   DIR/<job>/<superstep>.<term>/manifest.copy  the same again, for bspckpt repair
 *   DIR/<job>/<superstep>.<term>/counts   empty: no term has begun from an older snapshot
 *   DIR/<job>/<superstep>.<term>/<pid>.img
 *
 * Everything is written under a temporary name, made durable and renamed.  A snapshot exists from
 * the moment its manifest is renamed, and by then all that it refers to is durable.  Whenever the
 * machine crashes, a reader finds the previous snapshot or the new one.
 *
 * Plain blocking functions; one thread at a time per store.  They return 0 or a negative errno
 * value, and then `error` (MANIFEST_ERROR_SIZE bytes, or NULL) holds one line.
 */
#ifndef CKPT_STORE_H
#define CKPT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format/image.h"
#include "ckpt/io.h"
#include "ckpt/manifest.h"

#define STORE_NAME_MAX 64u /* of a job */

struct store;

enum store_mode {
    STORE_READ,   /* reads only; no lock */
    STORE_WRITE,  /* an existing directory that has a job, locked */
    STORE_CREATE, /* made if missing, locked */
    STORE_JOIN,   /* agents, which write for the bsprun that has the lock */
};

/* Opens DIR, or DIR/JOB.  -EPERM: it is not the caller's, or it is writable by others, or the path
 * is another user's symbolic link; -EBUSY: another bsprun has the lock; -EEXIST: STORE_CREATE of
 * DIR/JOB or below it.  io: NULL for the system's. */
int store_open(struct store **store, const char *path, enum store_mode mode,
               const struct store_io *io, char *error);

/* Releases the lock; harmless for NULL. */
void store_close(struct store *store);

/* Whether who had the lock of DIR last, or has it, was on this host, as far as its name tells. */
bool store_locked_here(const char *path);

/* DIR. */
const char *store_path(const struct store *store);
/* The descriptor that holds the lock, -1: none.  A process that inherits it holds the lock, too. */
int store_lock(const struct store *store);

/* ---- Jobs ------------------------------------------------------------------------------------ */

struct store_job {
    char name[STORE_NAME_MAX + 1];
    uint64_t started; /* when the last term began, nanoseconds since 1970; 0: unknown */
};

/* All jobs, the newest last, also those whose directory cannot be opened; *jobs is for free(). */
int store_jobs(struct store *store, struct store_job **jobs, size_t *count, char *error);

/* Makes a new job and its first term, and chooses it.  `now`: if other jobs began later, as a clock
 * said, this one begins after them all the same; so in store_term_begin. */
int store_job_create(struct store *store, const uint8_t job[WIRE_JOB_SIZE], uint64_t now,
                     char *error);
/* Removes the chosen job and its records, unless it has a snapshot; none may be in the making. */
int store_job_discard(struct store *store, char *error);
/* Chooses a job; NULL: the one named when the store was opened, else the newest.  -ENOENT.  Fails,
 * too, if one of several jobs cannot be opened, or its records be read: that may be the newest. */
int store_job_open(struct store *store, const char *name, char *error);
/* Whether the path given to store_open was DIR/JOB. */
bool store_names_job(const struct store *store);
/* The chosen job's name. */
const char *store_job_name(const struct store *store);

/* All functions below concern the chosen job. */

/* Records that the term goes on from that snapshot (term 0: from the start).  To
 * be called before the term begins; it retires newer snapshots of older terms. */
int store_term_begin(struct store *store, uint32_t term, struct bspz_snapshot_name from,
                     uint64_t now, char *error);
/* The terms so far; release with manifest_terms_free. */
int store_terms(struct store *store, struct manifest_terms *terms, char *error);

int store_finish(struct store *store, const struct manifest_finish *finish, char *error);
/* -ENOENT: not finished. */
int store_finished(struct store *store, struct manifest_finish *finish, char *error);

/* ---- Writing a snapshot ---------------------------------------------------------------------- */

struct store_snapshot;

/* Makes its directory, or reuses that of an interrupted one.  -EEXIST: it is committed. */
int store_snapshot_begin(struct store *store, struct bspz_snapshot_name name,
                         struct store_snapshot **snapshot, char *error);
/* The same for a snapshot that several hosts write, each the images of its processes: existing
 * files are left alone.  One of them commits or abandons it, the others leave it. */
int store_snapshot_join(struct store *store, struct bspz_snapshot_name name,
                        struct store_snapshot **snapshot, char *error);
/* Frees the snapshot; harmless for NULL. */
void store_snapshot_leave(struct store_snapshot *snapshot);
/* A descriptor to write the image of process pid to, close-on-exec. */
int store_image_create(struct store_snapshot *snapshot, uint32_t pid, char *error);
/* Where another process may write it instead: the absolute path of a file that does not exist yet,
 * to be opened with O_CREAT | O_EXCL | O_NOFOLLOW and mode 0600. */
int store_image_path(struct store_snapshot *snapshot, uint32_t pid, char *path, size_t size,
                     char *error);
/* Makes the image durable under its name and closes the descriptor, also on failure.  descriptor
 * -1: another process has written it to store_image_path, and made its bytes durable. */
int store_image_finish(struct store_snapshot *snapshot, uint32_t pid, int descriptor, char *error);
/* The same for an image that another process has written, with the length that it reported. */
int store_image_take(struct store_snapshot *snapshot, uint32_t pid, uint64_t length, char *error);
/* Writes the manifest, which must be that of this snapshot: all its images exist in their sizes,
 * all bases are committed; -ESTALE: some are not there any more.  Frees the snapshot on success. */
int store_snapshot_commit(struct store_snapshot *snapshot, const struct manifest *manifest,
                          char *error);
/* Whether that committed snapshot and everything that it is based on is still there: 0, -ESTALE or
 * another -errno. */
int store_bases_are_there(struct store *store, struct bspz_snapshot_name name, char *error);
/* The same where some images are in other hosts' directories. */
int store_snapshot_commit_part(struct store_snapshot *snapshot, const struct manifest *manifest,
                               char *error);
/* Makes a copy of another directory's manifest (store_manifest_open) durable. */
int store_snapshot_take_manifest(struct store_snapshot *snapshot, const void *bytes, size_t size,
                                 char *error);
/* Removes what was written; frees the snapshot.  Harmless for NULL. */
void store_snapshot_abandon(struct store_snapshot *snapshot);

/* ---- Reading --------------------------------------------------------------------------------- */

enum store_state {
    STORE_COMMITTED,
    STORE_RETIRED,    /* committed, but a later term began from an older one */
    STORE_DAMAGED,    /* the manifest is invalid; `why` says more */
    STORE_UNFINISHED, /* no manifest: being written, or interrupted */
    STORE_UNKNOWN,    /* committed, but the record of terms is lost: only in store_list_all */
};

struct store_entry {
    struct bspz_snapshot_name name;
    enum store_state state;
    uint32_t nprocs;     /* of a committed or retired one */
    uint32_t generation; /* the greatest of its images */
    uint64_t created;
    uint64_t bytes; /* of all its files */
    int status;     /* why it is damaged: a negative errno value and a text */
    char why[MANIFEST_ERROR_SIZE];
};

/* All snapshots, the newest last; *entries is for free(). */
int store_list(struct store *store, struct store_entry **entries, size_t *count, char *error);
/* The same also where both records of terms are lost. */
int store_list_all(struct store *store, struct store_entry **entries, size_t *count, char *error);

/* The manifest of one snapshot in any state. */
int store_manifest(struct store *store, struct bspz_snapshot_name snapshot,
                   struct manifest *manifest, char *error);

/* Opens an image for reading: the descriptor and its size.  -EPERM as for store_io_load. */
int store_image_open(struct store *store, struct bspz_snapshot_name snapshot, uint32_t pid,
                     uint64_t *size, char *error);

/* The same for the manifest file, to be copied to another directory. */
int store_manifest_open(struct store *store, struct bspz_snapshot_name snapshot, uint64_t *size,
                        char *error);

/* Whether the manifest is not there: of a snapshot that was listed as having one, that it has been
 * removed since, by a job that runs, and that what is missing of it is no fault. */
bool store_is_removed(struct store *store, struct bspz_snapshot_name snapshot);

/* What is wrong with a file of a snapshot. */
struct store_fault {
    struct bspz_snapshot_name name;
    int64_t pid; /* of the image; -1: the manifest */
    int status;
    struct bspz_image_fault fault;
};
typedef void store_fault_function(void *context, const struct store_fault *fault);

/* Checks that the manifest's images and all their bases exist and are the ones it names; deep: also
 * checks every byte of the snapshot's own images.  Reports each fault; 0, or the first one's
 * status. */
int store_check(struct store *store, const struct manifest *manifest, bool deep,
                store_fault_function *tell, void *context);

/* The same, not deep; needs: of each process the bytes of memory that its image has, its bases
 * included, when it is restored: exact for a full image, else at most that; 0: unknown, as the
 * image is not there.  From the ends of the images, which are read anyway. */
int store_check_needs(struct store *store, const struct manifest *manifest,
                      store_fault_function *tell, void *context, uint64_t *needs);

/* Whether the image exists and is the one of that name, as far as its header and its end say: 0,
 * -ENOENT, or what is wrong with it. */
int store_image_look(struct store *store, const struct bspz_image_name *name);

/* Checks that the image in the descriptor is the one of that name, in every byte.  stop: NULL, or
 * what another thread sets when the answer is not wanted any more (-ECANCELED). */
int store_image_check(struct store *store, int descriptor, const struct bspz_image_name *name,
                      const _Atomic bool *stop, char *error);

/* The newest snapshot that counts and passes store_check (not deep); images of a job on several
 * hosts may be missing, as they may be in other hosts' directories, and damaged if there is no
 * other snapshot; superstep: only that one, WIRE_NEVER: any; before: only older ones than that
 * superstep, WIRE_NEVER: any.  If newer ones were skipped, or images of this one are damaged, note
 * (MANIFEST_ERROR_SIZE bytes) says which and why, else it is empty.  -ENOENT: there is none. */
int store_newest(struct store *store, uint64_t superstep, uint64_t before,
                 struct manifest *manifest, char *note, char *error);

/* ---- Mending --------------------------------------------------------------------------------- */

/* A file of the job, by its path below the job's directory, and a line about it. */
typedef void store_loss_function(void *context, const char *file, const char *text);

/* Reports damaged or missing records of terms, a damaged one of the end and, unless a job is
 * running there, images without a manifest; damaged manifests and images are left to store_list_all
 * and store_check.  Returns their number. */
int store_survey(struct store *store, store_loss_function *tell, void *context);

/* Makes lost and damaged records of terms and manifests again, as far as retired snapshots
 * certainly stay retired; reports what was made.  Removes nothing.  -ENOENT: both records of terms
 * are lost and no snapshot can be trusted to count.  Nobody may be using the job; a store of
 * STORE_WRITE. */
int store_repair(struct store *store, store_loss_function *tell, void *context, char *error);

/* ---- Tidying --------------------------------------------------------------------------------- */

/* Removes the chosen job and its directory, the records of the job last, so that the rest after a
 * failure is still recognised as a job.  -ENOTEMPTY: a directory there is no part of the job, and
 * nothing was removed.  A store of STORE_WRITE. */
int store_job_remove(struct store *store, char *error);

/* Removes temporary files and unfinished snapshots.  No snapshot may be in the making. */
int store_sweep(struct store *store, size_t *removed, char *error);

/* The most images in a chain of a job, the full one included; one more where processes wait for
 * the last; BSPZ_IMAGE_CHAIN_MAX where one snapshot is retained.  So with `keep` snapshots retained
 * there are at most keep + 2 * STORE_CHAIN_MOST. */
#define STORE_CHAIN_MOST   8u
#define STORE_KEEP_DEFAULT 3u /* bsprun's */

/* Why a snapshot is retained. */
enum store_role {
    STORE_UNNEEDED, /* not retained */
    STORE_NEWEST,   /* one of the newest `keep` committed ones */
    STORE_SECOND, /* the newest that shares no image with the newest of all: the fallback when that
                     or its bases are damaged */
    STORE_BASE,   /* a base of one of these, or may be one: a manifest between cannot be read */
    STORE_LEFT_ALONE, /* unfinished, of another version, or not the caller's */
};

/* The role of each entry of store_list when the newest `keep` are to be retained.  With keep 1
 * there is no second one.  Reads all manifests. */
int store_roles(struct store *store, const struct store_entry *entries, size_t count, uint32_t keep,
                enum store_role *roles, char *error);
/* After that: the snapshot, if it is committed or its manifest cannot be read, and its bases get
 * roles, too. */
int store_roles_with(struct store *store, const struct store_entry *entries, size_t count,
                     struct bspz_snapshot_name name, enum store_role *roles, char *error);

/* Removes all but the newest `keep` committed snapshots, one that is independent of the newest
 * (when keep is at least 2), and the bases they need; also what is retired or damaged, unless it
 * may be such a base.  keep is at least 1. */
int store_prune(struct store *store, uint32_t keep, size_t *removed, char *error);
/* The same, but what belongs to that snapshot stays, too; term 0: none. */
int store_prune_but(struct store *store, uint32_t keep, struct bspz_snapshot_name but,
                    size_t *removed, char *error);

#endif
