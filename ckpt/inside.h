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
#define COUNTS_NAME     "counts"        /* in a snapshot's folder until a later term retires it */
#define TERM_NAME       "term"
#define TERM_COPY       "term.copy" /* the same record again */
#define FINISH_NAME     "finished"
#define LOCK_NAME       "lock"
#define TEMPORARY       ".tmp"

struct store {
    struct store_io io;
    enum store_mode mode;
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
/* The same with what the code means at the end. */
int store_fail_system(const struct store *store, int code, char *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Also takes -EPERM apart, which store_io_open uses for "not the caller's". */
const char *store_error_text(int code);

void store_snapshot_name(char name[SNAPSHOT_NAME], uint64_t superstep, uint32_t term);
/* The reverse; false when the name is no snapshot's, exactly as written above. */
bool store_parse_snapshot(const char *name, uint64_t *superstep, uint32_t *term);
void store_image_name(char name[IMAGE_NAME], uint32_t pid);

/* 0; -ENOTDIR; -EPERM: the open folder is not the caller's own, or others may write to it. */
int store_check_folder(int folder);
/* Opens a folder below another one, which must be as store_check_folder wants it, and no symbolic
 * link. */
int store_open_folder(const struct store *store, int parent, const char *name);

/* Names in a folder but . and ..; a list of strings for store_names_free.  Through a descriptor of
 * its own, so it can be called again. */
int store_names(int folder, char ***names, size_t *count);
void store_names_free(char **names, size_t count);

bool store_has_file(int folder, const char *name);
/* How many finished images there are in a snapshot's folder. */
size_t store_images_in(int folder);
/* Whether the open folder is that of a job, also when its records are lost. */
bool store_is_job(int folder);

/* A folder of the chosen job that has the name of a snapshot. */
struct store_stop {
    const char *name;
    uint64_t superstep;
    uint32_t term;
    int folder; /* opened for the visit; negative: it is not ours, or cannot be opened */
};
/* What is not 0 ends the walk. */
typedef int store_visit(const struct store *store, const struct store_stop *at, void *context);
/* Visits all of them.  -errno, or what the last visit said. */
int store_walk(const struct store *store, store_visit *visit, void *context);

/* Removes a folder and the files in it; the manifest first, so that no half of a snapshot is taken
 * for one. */
int store_remove_folder(const struct store *store, int parent, const char *name);

/* The manifest in a snapshot's open folder (name: MANIFEST_NAME), or its copy; it must be that
 * snapshot's. */
int store_load_manifest(const struct store *store, int folder, const char *name, uint64_t superstep,
                        uint32_t term, struct manifest *manifest, char *error);

/* Whether a snapshot still counts after the terms that began. */
bool store_counts(const struct manifest_terms *terms, uint64_t superstep, uint32_t term);

/* terms.c: the newer of the two records in the folder of a job; one of them; writes both. */
int store_load_terms(const struct store *store, int job, struct manifest_terms *terms, char *error);
int store_load_record(const struct store *store, int job, const char *name,
                      struct manifest_terms *terms, char *error);
int store_save_terms(struct store *store, const struct manifest_terms *terms, char *error);

#endif
