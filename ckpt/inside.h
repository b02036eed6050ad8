/* inside.h - what the files of the store share.  Internal. */
#ifndef CKPT_INSIDE_H
#define CKPT_INSIDE_H

#include <limits.h>

#include "ckpt/store.h"

#define SEALED_FILE_MAX (WIRE_FRAME_MAX + 64u) /* of manifests and the other small files */
#define SNAPSHOT_NAME   40u                    /* "<superstep>.<term>" */
#define IMAGE_NAME      24u                    /* "<pid>.img" */
#define MANIFEST_NAME   "manifest"
#define MANIFEST_COPY   "manifest.copy" /* in case the manifest is lost */
#define COUNTS_NAME     "counts" /* in a snapshot's directory until a later term retires it */
#define TERM_NAME       "term"
#define TERM_COPY       "term.copy" /* the same record again */
#define FINISH_NAME     "finished"
#define LOCK_NAME       "lock"
#define TEMPORARY       ".tmp"

struct store {
    struct store_io io;
    int base;                        /* DIR */
    int lock;                        /* -1: none */
    int job;                         /* DIR/<job>; -1: none chosen */
    char wanted[STORE_NAME_MAX + 1]; /* the job in the path given to open, or empty */
    char job_name[STORE_NAME_MAX + 1];
    char path[PATH_MAX]; /* DIR, for messages */
};

/* Writes "path: text" to error and returns code. */
int store_fail(const struct store *store, int code, char *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with the meaning of the code appended. */
int store_fail_system(const struct store *store, int code, char *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The text of an error code; -EPERM, from store_io_open, means "not the caller's". */
const char *store_error_text(int code);

void store_snapshot_name(char name[SNAPSHOT_NAME], struct bspz_snapshot_name snapshot);
/* The reverse; false: the name is not exactly of that form. */
bool store_parse_snapshot(const char *name, struct bspz_snapshot_name *snapshot);
void store_image_name(char name[IMAGE_NAME], uint32_t pid);

/* 0; -ENOTDIR; -EPERM: the open directory is not the caller's own, or it is writable by others. */
int store_check_directory(int directory);
/* Opens a subdirectory, which must satisfy store_check_directory and not be a symbolic link. */
int store_open_directory(const struct store *store, int parent, const char *name);

/* Lists the names in a directory without .  and .., for store_names_free.  Uses a descriptor of its
 * own, so it can be called repeatedly. */
int store_names(int directory, char ***names, size_t *count);
void store_names_free(char **names, size_t count);

bool store_has_file(int directory, const char *name);
/* The number of finished images in a snapshot's directory. */
size_t store_images_in(int directory);
/* Whether the open directory looks like that of a job, even if its records are lost. */
bool store_is_job(int directory);

/* A directory of the chosen job that has the name of a snapshot. */
struct store_visited {
    const char *name;
    struct bspz_snapshot_name snapshot;
    int directory; /* opened for the visit; negative: it is not ours, or cannot be opened */
};
/* A result other than 0 ends the walk. */
typedef int store_visit(const struct store *store, const struct store_visited *at, void *context);
/* Visits all of them.  Returns -errno, or the result of the last visit. */
int store_walk(const struct store *store, store_visit *visit, void *context);

/* 1: there is a directory in it, whose name is `found`; 0; -errno.  but_snapshots: one that has the
 * name of a snapshot does not count. */
int store_find_directory(int directory, bool but_snapshots, char found[NAME_MAX + 1]);

/* Removes a directory and the files in it; the manifest first, so that a half-removed snapshot is
 * never taken for a complete one.  -ENOENT: another process has done so meanwhile; -EISDIR: there
 * is a directory in it, and nothing was removed. */
int store_remove_directory(const struct store *store, int parent, const char *name);

/* The manifest in a snapshot's open directory (name: MANIFEST_NAME), or its copy; it must be that
 * snapshot's. */
int store_load_manifest(const struct store *store, int directory, const char *name,
                        struct bspz_snapshot_name snapshot, struct manifest *manifest, char *error);

/* Whether the terms that have begun still count the snapshot as committed. */
bool store_counts(const struct manifest_terms *terms, struct bspz_snapshot_name snapshot);

/* store.c: `now`, or later than the time at which any job's last term began. */
uint64_t store_later(struct store *store, uint64_t now);

/* terms.c: reads the newer of the two records in the directory of a job; reads one of them; writes
 * both. */
int store_load_terms(const struct store *store, int job, struct manifest_terms *terms, char *error);
int store_load_record(const struct store *store, int job, const char *name,
                      struct manifest_terms *terms, char *error);
int store_save_terms(struct store *store, const struct manifest_terms *terms, char *error);

/* store.c: reads the record of the end; text (MANIFEST_ERROR_SIZE): why it cannot. */
int store_load_finish(const struct store *store, struct manifest_finish *finish, char *text);

#endif
