/* remote_start_inside.h - what the files of remote_start share.  Internal.
 *
 *   remote_start.c   whom to start when, what the caller is told, the interface
 *   remote_watch.c   one child: its streams, its end, its memory
 *   remote_child.c   how it is made
 */
#ifndef BSPRUN_REMOTE_START_INSIDE_H
#define BSPRUN_REMOTE_START_INSIDE_H

#include "bsprun/hosts/remote_child.h"
#include "bsprun/hosts/remote_start.h"

enum child_state { CHILD_QUEUED, CHILD_RUNNING, CHILD_ENDED, CHILD_TOLD, CHILD_CLOSING };
enum host_state { HOST_WAITED_FOR, HOST_READY, HOST_DONE };

struct target {
    uint32_t number;
    char *name;
    enum host_state state;
};

/* What a stream has brought. */
struct text {
    char *bytes;
    size_t size, room;
};

struct child {
    struct remote_start *start;
    struct child *next;
    enum child_state state;
    struct target *targets;
    uint32_t count;
    char **command;
    unsigned char *input;
    size_t input_size;

    struct remote_child process;
    bool alive;
    bool known;  /* how it ended */
    bool ending; /* it was told to */
    bool failed; /* it was never started */
    bool late;
    int wait_status;
    struct text said, output;
    unsigned handles;
    bool in_open, err_open, out_open;
    uv_poll_t exit;
    uv_pipe_t in, err, out;
    uv_timer_t timer;
    uv_write_t write;
};

struct remote_start {
    uv_loop_t *loop;
    struct remote_start_config config;
    void *context;
    char *launcher;
    char **words;
    struct child *children; /* in the order they were added */
    uv_timer_t tick;
    bool closing, tick_closed;
    void (*closed)(void *context);
    /* News of the watch over a child. */
    void (*changed)(struct remote_start *start); /* something is to be done for a child, soon */
    void (*gone)(struct child *child);           /* closed, and not freed */
};

/* ---- remote_watch.c ---- */

/* It is started, or has failed to: said why. */
void remote_watch_begin(struct child *child);
/* It is told to end, and made to. */
void remote_watch_end(struct child *child);
void remote_watch_end_input(struct child *child);
/* Closes it, then start->gone. */
void remote_watch_close(struct child *child);
void remote_watch_free(struct child *child);

#endif
