/* fetch.h - files that agents of a job get from each other: images, manifests, programs.
 *
 * FETCH asks, PIECEs answer, in order.  One thing is asked for at a time, of one host after the
 * other until one has it.  Who is asked for what is being written answers when it is there.
 *
 * What can fail: nobody has it, there is no room for it here, its host is lost: then the next one is
 * asked, and in the end whoever wanted it is told.
 */
#ifndef BSPRUN_FETCH_H
#define BSPRUN_FETCH_H

#include "bsprun/agent/core/agent.h"
#include "ckpt/binaries.h"
#include "ckpt/manifest.h"

/* A file that is wanted. */
struct fetch_want {
    enum wire_thing thing;
    struct coord_name name; /* of the snapshot; of IMAGE and MANIFEST */
    uint32_t pid;           /* IMAGE */
    unsigned char digest[MANIFEST_DIGEST]; /* IMAGE: what comes must be that, in every byte */
    const struct binaries_file *file; /* BINARY; copied */
    uint32_t from;          /* the host that is asked first */
    uint32_t otherwise;     /* the next one */
    bool in_time;           /* of no use, and not to be stored, once there is a newer snapshot */
    /* 0, or -errno and why. */
    void (*done)(struct agent *agent, const struct fetch_want *want, int error, const char *why);
};

/* -ENOMEM, or 0: then `done` comes, from the loop, unless the term ends before. */
int agent_fetch(struct agent *agent, const struct fetch_want *want);

/* FETCH or PIECE from another host. */
void agent_fetch_message(struct agent *agent, uint32_t host, const struct wire_message *message);
/* Nothing more comes from that host. */
void agent_fetch_lost(struct agent *agent, uint32_t host);
/* The term's links are closed. */
void agent_fetch_forget(struct agent *agent);

/* Where copies of programs and libraries lie: a descriptor, opened once, with its path; -errno and
 * `why`. */
int agent_fetch_folder(struct agent *agent, const char **path, char *why);

#endif
