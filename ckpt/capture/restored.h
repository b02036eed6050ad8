/* restored.h - what the restorer passes to the restored process. */
#ifndef CKPT_CAPTURE_RESTORED_H
#define CKPT_CAPTURE_RESTORED_H

#include <stddef.h>
#include <stdint.h>

#include "ckpt/capture/capture.h"
#include "ckpt/capture/pending.h"

struct bspz_restored {
    void *block; /* the restorer's own memory, to be unmapped */
    size_t block_size;
    const void *handover;
    size_t handover_size;
    const struct bspz_pending *pending;
    uint32_t pending_count;
    int job_descriptors[BSPZ_JOB_DESCRIPTORS];
    uint32_t job_count;
    struct bspz_attributes attributes;
};

#endif
