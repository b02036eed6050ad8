/* feed.h - reads bsprun's own stdin, as much as is asked for and not before.
 *
 * The descriptor is shared with others, so it is not made non-blocking: it is read when it has
 * something.  In the background nothing is read from a terminal, which would stop bsprun.
 */
#ifndef BSPRUN_FEED_H
#define BSPRUN_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct feed {
    uv_loop_t *loop;
    int epoll; /* whose readiness is that of stdin; -1: stdin can always be read */
    uv_poll_t poll;
    uv_timer_t timer;              /* until bsprun is in the foreground */
    size_t (*room)(void *context); /* how much to read now */
    /* What was read; size 0: the end, error then says whether it was one. */
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
