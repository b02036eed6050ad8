/* restorer.h - the last steps of a restore, which run after the restoring program has been
 * unmapped. */
#ifndef CKPT_CAPTURE_RESTORER_H
#define CKPT_CAPTURE_RESTORER_H

#include <linux/prctl.h>
#include <stdint.h>

#include "ckpt/capture/capture.h"
#include "ckpt/capture/restored.h"
#include "ckpt/capture/thread.h"

struct bspz_move {
    uint64_t from;
    uint64_t to;
    uint64_t bytes;
};

/* The restorer's data, which lie with it in memory that belongs to neither program. */
struct bspz_restorer {
    struct bspz_thread thread;
    struct prctl_mm_map layout;
    uint64_t old_rseq_address, old_rseq_size; /* of the restoring program; 0: none */
    const struct bspz_move *park;             /* the kernel's pages, out of the way */
    uint32_t park_count;
    const struct bspz_range *unmap; /* the restoring program */
    uint32_t unmap_count;
    const struct bspz_move *home; /* the saved memory */
    uint32_t home_count;
    const struct bspz_move *settle; /* the kernel's pages, to where the saved program has them */
    uint32_t settle_count;
    struct bspz_range leftovers; /* the unused rest of the staging area */
    struct bspz_restored restored;
    char failure[64]; /* the message; a letter for the step goes to failure_at */
    uint32_t failure_length;
    uint32_t failure_at;
};

/* The code of the restorer; it runs wherever it is copied to. */
const void *bspz_restorer_code(uint64_t *bytes, uint64_t *entry);

#endif
