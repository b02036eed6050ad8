/* command.h - bspckpt's commands and what they share. */
#ifndef CKPT_BSPCKPT_COMMAND_H
#define CKPT_BSPCKPT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/store.h"
#include "lib/base/json.h"

/* What the command line asks for. */
struct request {
    struct bspz_json *json; /* --json: the output goes there; NULL: plain text */
    struct bspz_json writer;
    int64_t pid;          /* --pid; -1: all */
    uint32_t keep;        /* --keep; 0: not given */
    bool local;           /* --local: other hosts are not asked */
    const char *launcher; /* --launcher; NULL: not given */
    uint64_t connect_ms;  /* the time a host has to answer */
    uint64_t now;         /* nanoseconds since 1970 */
    const char *words[4]; /* after the command */
    int word_count;
};

/* DIR[/JOB][@SUPERSTEP[.TERM]], opened. */
struct target {
    struct store *store;
    bool has_job;                     /* the path named one */
    struct bspz_snapshot_name wanted; /* superstep WIRE_NEVER, term 0: none given */
};

/* Exit statuses. */
#define STATUS_OK    0
#define STATUS_BAD   1 /* damaged, not there, cannot be read */
#define STATUS_WRONG 2 /* a wrong call */

int command_ls(const struct request *request);
int command_show(const struct request *request);
int command_verify(const struct request *request);
int command_prune(const struct request *request);
int command_diff(const struct request *request);
int command_repair(const struct request *request);
int command_rm(const struct request *request);

/* Opens the target and chooses its job (the newest when none is named, unless all_jobs).  On
 * failure prints why and returns an exit status. */
int target_open(struct target *target, const char *text, enum store_mode mode, bool all_jobs);
void target_close(struct target *target);

/* The jobs meant: all, or the chosen one; *jobs is for free().  On failure prints why and returns
 * an exit status. */
int target_jobs(struct target *target, struct store_job **jobs, size_t *count);

/* The hosts that the chosen job's newest snapshot names, "a, b, c", for free(); NULL: one host, or
 * none is known. */
char *target_hosts(struct store *store);

/* The snapshot meant: the named one, else the newest that can be used.  Prints which newer ones it
 * skipped. */
int target_manifest(struct target *target, struct manifest *manifest);

/* Prints the snapshots of a job of the store.  On failure prints why and returns an exit status. */
int list_job(const struct request *request, struct store *store, const char *job);

/* Parses "SUPERSTEP[.TERM]"; false: it is malformed. */
bool parse_snapshot(const char *text, struct bspz_snapshot_name *name);

/* Makes the output of the request JSON from now on; the request must not be moved. */
void request_json(struct request *request);

/* Prints "bspckpt: TEXT" to stderr and returns STATUS_BAD. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "12.5 MiB", "3 s", in the caller's memory. */
const char *size_text(uint64_t bytes, char text[24]);
const char *age_text(uint64_t from, uint64_t now, char text[24]);

/* A loaded image and its memory. */
struct loaded {
    struct bspz_image image;
    int file;
    void *scratch;
    void *memory;
};
/* status 0, or a negative errno value and a text in fault->text. */
int loaded_open(struct loaded *loaded, struct store *store, struct bspz_snapshot_name name,
                uint32_t pid, struct bspz_image_fault *fault);
void loaded_close(struct loaded *loaded);

/* The names of the tables in ckpt/format/layout.h. */
const char *region_kind_text(uint32_t kind);
const char *descriptor_kind_text(uint32_t kind);
const char *protection_text(const struct bspz_image_region *region, char text[5]);

#endif
