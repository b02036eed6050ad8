/* fetch_inside.h - the state of file transfers; for fetch*.c. */
#ifndef BSPRUN_FETCH_INSIDE_H
#define BSPRUN_FETCH_INSIDE_H

#include <limits.h>

#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/peers.h"
#include "ckpt/store.h"
#include "lib/base/buffer.h"

struct wanted {
    struct wanted *next;
    struct fetch_want want;
    struct binaries_file file; /* target of want.file, with its own path */
    uint32_t asked;            /* number of hosts asked */
};

/* The incoming file. */
struct incoming {
    uint32_t request, host;
    uint64_t received, size; /* size: from the first piece */
    struct store_snapshot *staging;
    int fd;                      /* of an image; -1 */
    struct finishing *finishing; /* NULL, or the check of the complete file */
    struct bspz_buffer manifest;
    struct binaries_copy *copy; /* of a program */
};

/* A file being sent to another host. */
struct upload {
    struct upload *next;
    uint32_t host, request;
    int fd;                               /* -1: does not exist yet */
    bool follows;                         /* the incoming file, forwarded as it arrives */
    char binary[BSPZ_BINARY_NAME], *path; /* of a program */
    uint64_t offset, size, asked_ns;
    uint32_t mode;
    enum wire_thing thing;
    struct bspz_snapshot_name name;
    uint32_t pid;
};

struct fetches {
    struct wanted *first, **last;
    struct incoming now; /* for the first request; request 0: not asked for yet */
    uint32_t requests;
    struct upload *uploads;
    void *buffer; /* for what is read to be sent; NULL: nothing was sent yet */
    uv_timer_t pump;
    uv_timer_t begin; /* expires at once, to begin with the first request from the loop */
    int directory;    /* of programs; -1: not opened */
    char directory_path[PATH_MAX];
};

/* ---- fetch_finish.c -------------------------------------------------------------------------- */

/* Checks the received image and makes it durable, then calls `finished` from the loop. 0 or
 * -ENOMEM. */
typedef void fetch_finished(struct agent *agent, int error, const char *why);
int agent_fetch_finish(struct agent *agent, const struct fetch_want *want,
                       fetch_finished *finished);
/* Waits for the thread; `finished` is not called any more. */
void agent_fetch_finish_wait(struct incoming *now);

/* ---- fetch_state.c, fetch_serve.c ------------------------------------------------------------ */

/* NULL: none were made yet. */
struct fetches *fetches_of(const struct agent *agent);
/* They are not the agent's any more. */
void fetches_gone(struct agent *agent);
/* Made on demand; NULL: no memory. */
struct fetches *agent_fetches(struct agent *agent);
void agent_fetch_serve(struct agent *agent, uint32_t host, const struct wire_message *message);
/* The incoming file is complete, or has failed. */
void agent_fetch_passed_on(struct fetches *fetches);
/* Stops sending to that host; UINT32_MAX: to all. */
void agent_fetch_stop_serving(struct fetches *fetches, uint32_t host);
/* Sends pieces, and reschedules itself while there is more to send. */
void agent_fetch_pump(struct agent *agent);

#endif
