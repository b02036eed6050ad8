/* fetch.h - file transfers between agents: images, manifests, programs.
 *
 * FETCH requests a file, PIECEs answer, in order.  One file is requested at a time, from one host
 * after the other until one has it.  A host answers for a file that is still being written when it
 * is complete.
 *
 * What can fail: no host has it, there is no room for it here, its host is lost: then the next one
 * is asked, and finally `done` reports the failure.
 */
#ifndef BSPRUN_FETCH_H
#define BSPRUN_FETCH_H

#include "bsprun/agent/core/agent.h"
#include "ckpt/binaries.h"
#include "ckpt/manifest.h"

/* A request for a file. */
struct fetch_want {
    enum wire_thing thing;
    struct bspz_snapshot_name name;         /* of the snapshot; of IMAGE and MANIFEST */
    uint32_t pid;                           /* IMAGE */
    uint8_t digest[BSPZ_IMAGE_DIGEST_SIZE]; /* IMAGE: the expected contents */
    const struct binaries_file *file;       /* BINARY; copied */
    uint32_t from;                          /* the host to ask first */
    uint32_t otherwise;                     /* the next one */
    bool in_time; /* useless once there is a newer snapshot, and not stored then */
    /* Called with 0, or -errno and a text. */
    void (*done)(struct agent *agent, const struct fetch_want *want, int error, const char *why);
};

/* 0 or -ENOMEM.  After 0 `done` is called from the loop, unless the term ends before. */
int agent_fetch(struct agent *agent, const struct fetch_want *want);

/* Files of that snapshot are not wanted any more: `done` is not called for them, but for one that
 * is complete and being checked. */
void agent_fetch_cancel(struct agent *agent, struct bspz_snapshot_name name);

/* FETCH or PIECE from another host. */
void agent_fetch_message(struct agent *agent, uint32_t host, const struct wire_message *message);
/* No more messages come from that host. */
void agent_fetch_lost(struct agent *agent, uint32_t host);
/* The term's links are closed. */
void agent_fetch_forget(struct agent *agent);

/* The directory of copies of programs and libraries: a descriptor, opened once, and its path; or
 * -errno and `why`. */
int agent_fetch_directory(struct agent *agent, const char **path, char *why);

#endif
