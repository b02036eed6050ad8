/* alone_inside.h - what alone.c and alone_restart.c share; see alone.h. */
#ifndef BSPRUN_AGENT_ALONE_INSIDE_H
#define BSPRUN_AGENT_ALONE_INSIDE_H

#include "bsprun/agent/snapshot/alone_loss.h"
#include "bsprun/agent/snapshot/inside.h"

struct lone_input {
    uint64_t position, digest; /* digest: of what had been read */
};

/* A process of this host. */
struct lone {
    /* Restored: it is not in its place yet; expected: it comes from a lost host. */
    enum { LONE_RUNS, LONE_RESTORED, LONE_EXPECTED } state;
    uint32_t left; /* expected: that host */
    /* The image from which it can catch up: its own, in a file, or that in a snapshot of all. */
    int fd; /* -1: none of its own */
    struct bspz_image_name name;
    struct bspz_snapshot_name snapshot; /* term 0: none either */
    uint64_t saved_ns;                  /* when it was last saved, or began */
    struct lone_input input;            /* where it was in the job's input then */
    struct lone_input next_input;       /* ... when the present one was recorded */
    struct alone_images images;
    /* As it was waited for in vain, or its image failed, whatever answers are kept for it. */
    uint64_t others_until_ns;
    uint64_t pause_ns; /* after the last of images that failed, one after the other; 0: none has */
};

struct agent_alone {
    uv_timer_t timer;
    struct lone *lones; /* by process */
    int restoring;      /* so many are LONE_RESTORED */
    /* The image that is being made. */
    int saving; /* of that process; -1: none */
    int fd;
    bool for_answers;  /* ... as these take too much memory, and not as it is its turn */
    bool recorded;     /* the process has gone on */
    uint64_t begun_ns; /* when it was ordered, or recorded */
    struct bspz_snapshot_name name;
    uint64_t count;        /* of images so far */
    uint64_t next_ns;      /* the next one not before */
    uint64_t took_ns;      /* the last one */
    bool said;             /* that one has failed */
    uint64_t committed_ns; /* the newest snapshot of all, or the beginning */
    /* The processes that are being fetched: from that snapshot, from that host. */
    struct bspz_snapshot_name coming;
    uint32_t left;
};

/* alone_restart.c: starts the process from its last image, with the input from there on.  False:
 * `why`. */
bool agent_alone_start(struct agent *agent, int pid, char *why);
/* Whether process 0 is on this host, and is the child of another program (a script). */
bool agent_is_wrapped(const struct agent *agent);

#endif
