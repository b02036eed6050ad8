/* store_sample.h - jobs with small real images in a store. */
#ifndef TESTS_CKPT_STORE_SAMPLE_H
#define TESTS_CKPT_STORE_SAMPLE_H

#include "ckpt/store.h"
#include "tests/ckpt/image_sample.h"

#define STORE_SAMPLE_PROCS    2u
#define STORE_SAMPLE_ALL      ((1u << STORE_SAMPLE_PROCS) - 1)
#define NAME(superstep, term) ((struct bspz_snapshot_name){superstep, term})

extern const uint8_t store_sample_job[WIRE_JOB_SIZE];

/* The processes of a job that runs, and what increments need. */
struct store_sample {
    struct sample_process processes[STORE_SAMPLE_PROCS];
    struct bspz_image_table *tables[STORE_SAMPLE_PROCS][2];
    unsigned turn;
    struct bspz_image_written written[STORE_SAMPLE_PROCS];
    bool two_hosts; /* the manifests say that the job has them */
    bool elsewhere; /* the manifests are written on the other one, and come from there */
};

void store_sample_make(struct store_sample *sample);
void store_sample_free(struct store_sample *sample);

/* Goes on to that superstep and writes a snapshot: full images of the processes whose bit is set in
 * `whole`, increments on the last one of the others.
 * Writes through the store's table.  0 or what failed; after a failure the snapshot is abandoned,
 * unless it must look as if the machine had stopped. */
int store_sample_snapshot(struct store_sample *sample, struct store *store, uint64_t superstep,
                          uint32_t term, uint32_t whole, bool abandon, char *error);

/* Gives this program a $TMPDIR of its own, which is removed when it exits, whatever its tests (and
 * the processes they are run in) left there. */
void store_sample_scratch(void);

/* A directory of its own below $TMPDIR, and its end with everything in it. */
void store_sample_directory(char path[256]);
void store_sample_remove(const char *path);

#endif
