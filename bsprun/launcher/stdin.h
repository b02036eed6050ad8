/* stdin.h - relays bsprun's stdin to process 0, to each of its replicas: feed.h reads, input.h
 * keeps, this sends. */
#ifndef BSPRUN_STDIN_H
#define BSPRUN_STDIN_H

#include "bsprun/launcher/agents.h"
#include "bsprun/launcher/feed.h"
#include "bsprun/launcher/input.h"

struct stdin_relay {
    struct common *common;
    const struct bspz_snapshot_name *committed; /* the newest snapshot */
    /* Process 0 cannot get the right input; `text` is the reason. */
    void (*wrong)(void *context, const char *text);
    void *context;
    struct feed feed;
    struct input input;
    struct bspz_snapshot_name known; /* the newest snapshot that all agents know to be committed */
    /* Of the hosts of process 0; NULL: unknown, or there are no more. */
    struct launcher_agent *readers[WIRE_REPLICAS_MAX];
    bool complete; /* all of them have been known in this term */
};

/* 0 or -errno.  The functions below have no effect on a relay that was not opened. */
int stdin_open(struct stdin_relay *relay, struct common *common,
               const struct bspz_snapshot_name *committed,
               void (*wrong)(void *context, const char *text), void *context);
/* Closes the handles in the loop. */
void stdin_close(struct stdin_relay *relay);
void stdin_free(struct stdin_relay *relay);

/* Process 0 is on that host. */
void stdin_set_reader(struct stdin_relay *relay, struct launcher_agent *agent);
/* INPUT_TAKEN. */
void stdin_taken(struct stdin_relay *relay, struct launcher_agent *agent,
                 const struct wire_input_taken *taken);
/* MARK, and the commit of the snapshot; right: as for output_commit. */
void stdin_mark(struct stdin_relay *relay, const struct launcher_agent *agent,
                struct bspz_snapshot_name name, uint64_t position);
void stdin_commit(struct stdin_relay *relay, struct bspz_snapshot_name name,
                  struct bspz_snapshot_name right);
/* That agent is lost; another one may have a replica of process 0. */
void stdin_leave(struct stdin_relay *relay, const struct launcher_agent *agent);
/* The new term begins from a snapshot. */
void stdin_go_back(struct stdin_relay *relay);
/* It begins at that one: newer ones do not count any more. */
void stdin_begin_at(struct stdin_relay *relay, struct bspz_snapshot_name name);

#endif
