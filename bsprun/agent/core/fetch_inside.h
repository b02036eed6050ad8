/* fetch_inside.h - files on their way between agents; for fetch*.c. */
#ifndef BSPRUN_FETCH_INSIDE_H
#define BSPRUN_FETCH_INSIDE_H

#include <limits.h>

#include "ckpt/store.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/peers.h"

struct wanted {
    struct wanted *next;
    struct fetch_want want;
    struct binaries_file file; /* what want.file points to, with a path of its own */
    uint32_t asked;            /* how many hosts have been asked */
};

/* The file that is coming. */
struct incoming {
    uint32_t request, host;
    uint64_t received, size; /* size: as the first piece has said */
    struct store_snapshot *folder;
    int fd;                     /* of an image; -1 */
    struct finishing *finishing; /* it is complete, and being checked; NULL */
    unsigned char *bytes;       /* of a manifest */
    struct binaries_copy *copy; /* of a program */
};

/* A file that another host gets. */
struct upload {
    struct upload *next;
    uint32_t host, request;
    int fd;       /* -1: not there yet */
    bool follows; /* it is coming here itself, and is passed on as it comes */
    char binary[BSPZ_BINARY_NAME], *path; /* of a program */
    uint64_t offset, size, asked_ns;
    uint32_t mode;
    enum wire_thing thing;
    struct coord_name name;
    uint32_t pid;
};

struct fetches {
    struct wanted *first, **last;
    struct incoming now; /* for the first one; request 0: it has not been asked for */
    uint32_t requests;
    struct upload *uploads;
    uv_timer_t pump;
    uv_timer_t nobody; /* runs out at once: the first one is given up from the loop */
    int folder;   /* of programs; -1: not opened */
    char folder_path[PATH_MAX];
};

/* ---- fetch_finish.c ---- */

/* The image that has come is checked, and made durable: then `finished`, from the loop.  0 or -ENOMEM. */
typedef void fetch_finished(struct agent *agent, int error, const char *why);
int agent_fetch_finish(struct agent *agent, const struct fetch_want *want,
                       fetch_finished *finished);
/* Waits until nobody works on it any more; nothing more is heard of it. */
void agent_fetch_finish_wait(struct incoming *now);

/* ---- fetch_state.c, fetch_serve.c ---- */

/* Makes it if need be; NULL: no memory. */
struct fetches *agent_fetches(struct agent *agent);
void agent_fetch_serve(struct agent *agent, uint32_t host, const struct wire_message *message);
/* What is coming is complete here, or does not come after all. */
void agent_fetch_passed_on(struct fetches *fetches);
/* Does not send to that host any more; UINT32_MAX: to none. */
void agent_fetch_stop_serving(struct fetches *fetches, uint32_t host);
/* Works on what is sent, and comes back when there is more to do. */
void agent_fetch_pump(struct agent *agent);

#endif
