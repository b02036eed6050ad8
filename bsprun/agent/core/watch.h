/* watch.h - watches processes of the job by pidfds: the agent learns of a death at once, and never
 * of the wrong process. */
#ifndef BSPRUN_AGENT_WATCH_H
#define BSPRUN_AGENT_WATCH_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "bsprun/process.h"

struct agent;

#define AGENT_ROOT (-1)

enum watch_state {
    WATCH_NONE,  /* there is no process, or it is not watched any more */
    WATCH_LIVES, /* it has not ended, as far as known */
    WATCH_GONE,  /* it has ended, and `death` is set */
};

struct watched {
    struct agent *agent;
    int pid; /* BSP process number; AGENT_ROOT for the started program */
    pid_t ospid;
    int pidfd;
    uv_poll_t *poll;
    enum watch_state state;
    bool paused;   /* it is stopped for the owner of the host; see pause.h */
    bool in_group; /* ... in the control group that gives way */
    struct death death;
    void (*ended)(struct watched *process); /* NULL: the agent's `ended` call */
};

/* Watches the process; when it ends, sets `death` and calls the agent's `ended` from the loop.
 * `process` must not move meanwhile. 0 or -errno; -ESRCH: there is no such process. */
int agent_watch(struct agent *agent, struct watched *process, int pid, pid_t ospid);
/* Stops watching and closes the pidfd; `process` can be reused. */
void agent_unwatch(struct watched *process);
/* The same for one that has ended, which is reaped; `process` is empty then. */
void agent_bury(struct watched *process);
/* Moves a watched process to another struct. */
void agent_move_watched(struct watched *from, struct watched *to);

#endif
