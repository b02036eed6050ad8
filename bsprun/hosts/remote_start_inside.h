/* remote_start_inside.h - what the files of remote_start share.  Internal.
 *
 *   remote_start.c   order of starts, callbacks, the interface
 *   remote_watch.c   one child: its streams, its end, its memory
 *   remote_child.c   creating it
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

/* Output collected from a stream. */
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
    bool known;  /* whether its wait status is known */
    bool ending; /* it was told to end */
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
    void (*changed)(struct remote_start *start); /* a child needs attention soon */
    void (*gone)(struct child *child);           /* closed, but not freed */
};

/* ---- remote_watch.c ---- */

/* Starts it; reports a failure. */
void remote_watch_begin(struct child *child);
/* Tells it to end, and kills it if it does not. */
void remote_watch_end(struct child *child);
/* The same, if it does not end by itself soon. */
void remote_watch_part(struct child *child);
void remote_watch_end_input(struct child *child);
/* Closes it, then start->gone. */
void remote_watch_close(struct child *child);
void remote_watch_free(struct child *child);

#endif
