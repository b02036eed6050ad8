/* link_options.h - options that bspcc stores in a program at link time (a generated object defines
 * bspz_link_options; libbsp refers to it weakly and falls back to defaults). */
#ifndef BSPZ_RT_LINK_OPTIONS_H
#define BSPZ_RT_LINK_OPTIONS_H

#include <stdint.h>

#define BSPZ_LINK_OPTIONS_VERSION 2u

struct bspz_link_options {
    uint32_t version;
    int32_t library_level;      /* 0 all checks (default), 1 and 2 fewer */
    int32_t checkpoint_seconds; /* -fcheckpointing, 0 = not given */
    int32_t migration_seconds;  /* -fprocessmigration, 0 = not given */
    uint8_t check_syncs;        /* -fcheck-syncs */
    uint8_t prof;               /* -prof: write PROF.bsp */
    uint8_t stat;               /* -stat: write STAT.bsp */
    uint8_t cgprof;             /* -cgprof */
    uint8_t oxford;             /* -fcompat=oxford */
    uint8_t warn;               /* -fwarn-bsp */
    const char *device;         /* -device or BSP_DEVICE; NULL: not linked by bspcc */
    const char *bspnode_path;   /* the agent for runs without bsprun; NULL: search */
};

#endif
