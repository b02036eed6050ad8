/* common.h - what all modules of bsprun share: a single instance, made before them, which outlives
 * them. */
#ifndef BSPRUN_COMMON_H
#define BSPRUN_COMMON_H

#include <uv.h>

#include "bsprun/launcher/life.h"
#include "bsprun/launcher/notices.h"
#include "bsprun/launcher/saved.h"
#include "bsprun/options/options.h"
#include "bsprun/process.h"
#include "lib/wire/replica_counts.h"

struct common {
    const struct options *options;
    const struct process_signals *signals; /* those at the start of bsprun */
    uv_loop_t loop;
    struct saved saved;             /* the directory of snapshots */
    struct replica_counts replicas; /* of this term; changed by launcher_job.c */
    struct life life;               /* changed by launcher_finish.c and launcher_job.c */
    struct notices notices;
};

#endif
