/* manifest_sample.h - a manifest, a record of terms and one of the end with something in each
 * field. */
#ifndef TESTS_CKPT_MANIFEST_SAMPLE_H
#define TESTS_CKPT_MANIFEST_SAMPLE_H

#include "ckpt/manifest.h"

#define SAMPLE_PROCS_MAX 64u

/* Memory behind the samples. */
struct manifest_sample {
    struct manifest manifest;
    struct manifest_terms terms;
    struct manifest_finish finish;
    struct manifest_image images[SAMPLE_PROCS_MAX];
    struct manifest_stream streams[3 * SAMPLE_PROCS_MAX];
    struct manifest_term term_list[3];
    uint64_t host_of[SAMPLE_PROCS_MAX], together[SAMPLE_PROCS_MAX];
};

/* Of a job with that many processes at that superstep; increments when generation is not 0. */
void manifest_sample(struct manifest_sample *sample, uint32_t nprocs, uint64_t superstep,
                     uint32_t term, uint32_t generation);

#endif
