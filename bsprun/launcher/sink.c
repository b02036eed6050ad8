/* sink.c - a stream whose reader may be slow; see sink.h. */
#include "bsprun/launcher/sink.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_MS 2
#define CHUNK    4096u /* what a pipe takes without waiting once it says that there is room */

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

    /* An error or a closed reader counts as room: the write will say what it is. */
    return poll(&entry, 1, 0) > 0;
}

/* Writes while there is room.  Returns how much it was. */
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
    size_t written = write_some(sink, sink->data + sink->start, sink->size);

    sink->start += written;
    sink->size -= written;
    if (sink->error)
        sink_drop(sink);
    if (sink->size == 0) {
        sink->start = 0;
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
        memmove(sink->data, sink->data + sink->start, sink->size);
        sink->start = 0;
    }
    if (sink->size + size > sink->capacity) {
        size_t capacity = 2 * (sink->size + size);
        char *more = realloc(sink->data, capacity);

        if (!more)
            return -ENOMEM;
        sink->data = more;
        sink->capacity = capacity;
    }
    memcpy(sink->data + sink->size, data, size);
    sink->size += size;
    return 0;
}

int sink_write(struct sink *sink, const char *data, size_t size)
{
    size_t written = 0;
    int error;

    if (sink->error || sink->dropping)
        return sink->error;
    if (sink->size == 0)
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
    return sink->size;
}

void sink_drop(struct sink *sink)
{
    sink->dropping = true;
    sink->start = sink->size = 0;
    uv_timer_stop(&sink->timer);
}

void sink_close(struct sink *sink)
{
    sink_drop(sink);
    free(sink->data);
    sink->data = NULL;
    sink->capacity = 0;
    uv_close((uv_handle_t *)&sink->timer, NULL);
}
