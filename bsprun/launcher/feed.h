/* feed.h - reads bsprun's own stdin on demand.
 *
 * The descriptor is shared with other processes, so it is not made non-blocking: it is read when it
 * is readable.  A terminal is not read in the background, which would stop bsprun.
 */
#ifndef BSPRUN_FEED_H
#define BSPRUN_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct feed {
    int epoll; /* ready when stdin is; -1: stdin is always readable */
    uv_poll_t poll;
    uv_timer_t timer;              /* until bsprun is in the foreground */
    size_t (*room)(void *context); /* number of bytes to read now */
    /* Takes the bytes read; size 0: the end, or error. */
    void (*got)(void *context, const char *data, size_t size, int error);
    void *context;
    bool open, ended, reading;
    char data[65536];
};

/* 0 or -errno. */
int feed_open(struct feed *feed, uv_loop_t *loop, size_t (*room)(void *context),
              void (*got)(void *context, const char *data, size_t size, int error), void *context);

/* There may be room now. */
void feed_wake(struct feed *feed);

void feed_close(struct feed *feed);

#endif
