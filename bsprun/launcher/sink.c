/* sink.c - a stream whose reader may be slow; see sink.h. */
#include "bsprun/launcher/sink.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define RETRY_MS 2
#define CHUNK    4096u /* what a writable pipe takes without blocking */

void sink_init(struct sink *sink, uv_loop_t *loop, int fd, void (*changed)(void *), void *context)
{
    memset(sink, 0, sizeof *sink);
    sink->fd = fd;
    sink->changed = changed;
    sink->context = context;
    uv_timer_init(loop, &sink->timer);
    sink->timer.data = sink;
}

static bool has_room(int fd)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};

    /* An error or a closed reader counts as room: the write will return the error. */
    return poll(&entry, 1, 0) > 0;
}

/* Writes while there is room.  Returns the number of bytes. */
static size_t write_some(struct sink *sink, const char *data, size_t size)
{
    size_t written = 0;

    while (written < size && !sink->error && has_room(sink->fd)) {
        size_t piece = size - written < CHUNK ? size - written : CHUNK;
        ssize_t got = write(sink->fd, data + written, piece);

        if (got >= 0)
            written += (size_t)got;
        else if (errno != EINTR && errno != EAGAIN)
            sink->error = -errno;
    }
    return written;
}

static void take_waiting(struct sink *sink)
{
    sink->start +=
        write_some(sink, (const char *)sink->waiting.data + sink->start, sink_waiting(sink));
    if (sink->error)
        sink_drop(sink);
    if (sink_waiting(sink) == 0) {
        sink->waiting.size = sink->start = 0;
        uv_timer_stop(&sink->timer);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct sink *sink = timer->data;

    take_waiting(sink);
    sink->changed(sink->context);
}

static int keep(struct sink *sink, const char *data, size_t size)
{
    if (sink->start > 0) {
        sink->waiting.size -= sink->start;
        memmove(sink->waiting.data, sink->waiting.data + sink->start, sink->waiting.size);
        sink->start = 0;
    }
    return bspz_buffer_add(&sink->waiting, data, size) ? 0 : -ENOMEM;
}

int sink_write(struct sink *sink, const char *data, size_t size)
{
    size_t written = 0;
    int error;

    if (sink->error || sink->dropping)
        return sink->error;
    if (sink_waiting(sink) == 0)
        written = write_some(sink, data, size);
    if (sink->error || written == size)
        return sink->error;
    error = keep(sink, data + written, size - written);
    if (!error && !uv_is_active((uv_handle_t *)&sink->timer))
        uv_timer_start(&sink->timer, on_timer, RETRY_MS, RETRY_MS);
    return error;
}

size_t sink_waiting(const struct sink *sink)
{
    return sink->waiting.size - sink->start;
}

void sink_drop(struct sink *sink)
{
    sink->dropping = true;
    sink->waiting.size = sink->start = 0;
    uv_timer_stop(&sink->timer);
}

void sink_close(struct sink *sink)
{
    sink_drop(sink);
    bspz_buffer_free(&sink->waiting);
    uv_close((uv_handle_t *)&sink->timer, NULL);
}
