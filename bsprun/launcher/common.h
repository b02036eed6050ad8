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

struct common {
    const struct options *options;
    const struct process_signals *signals; /* those at the start of bsprun */
    uv_loop_t loop;
    struct saved saved; /* the directory of snapshots */
    struct life life;   /* changed by launcher_finish.c and launcher_job.c */
    struct notices notices;
};

#endif
