/* sink.h - writes to a stream of the user's without ever blocking on its reader.
 *
 * The descriptor is shared with others (a terminal with the shell), so it is not made non-blocking:
 * it is polled before every write, and while it is not writable the data wait here, and a timer of
 * the loop retries.
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
    bool dropping; /* all data are discarded from now on */
    uv_timer_t timer;
    void (*changed)(void *context); /* waiting data were written, or there was an error */
    void *context;
    int error; /* of the stream, -errno; then nothing more is written */
};

void sink_init(struct sink *sink, uv_loop_t *loop, int fd, void (*changed)(void *), void *context);

/* Writes or queues the data. 0, or the error of the stream. */
int sink_write(struct sink *sink, const char *data, size_t size);

/* The number of waiting bytes. */
size_t sink_waiting(const struct sink *sink);

/* Discards waiting and future data. */
void sink_drop(struct sink *sink);

/* Closes the timer and frees waiting data. */
void sink_close(struct sink *sink);

#endif
