/* sink.h - writes to a stream of the user's without ever making bsprun wait for its reader.
 *
 * The descriptor is shared with others (a terminal with the shell), so it is not made non-blocking:
 * it is asked for room before every write, and while there is none what is to be written waits
 * here, looked after by a timer of the loop.
 */
#ifndef BSPRUN_SINK_H
#define BSPRUN_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "lib/base/buffer.h"

struct sink {
    int fd;
    struct bspz_buffer waiting; /* from `start` on */
    size_t start;
    bool dropping; /* everything is thrown away from now on */
    uv_timer_t timer;
    void (*changed)(void *context); /* some of what waited was written, or an error came */
    void *context;
    int error; /* of the stream, -errno; it is not written any more */
};

void sink_init(struct sink *sink, uv_loop_t *loop, int fd, void (*changed)(void *), void *context);

/* Writes or keeps.  0, or the error that the stream has had. */
int sink_write(struct sink *sink, const char *data, size_t size);

/* Bytes that wait. */
size_t sink_waiting(const struct sink *sink);

/* Throws away what waits and what will come. */
void sink_drop(struct sink *sink);

/* Closes the timer and frees what waits. */
void sink_close(struct sink *sink);

#endif
