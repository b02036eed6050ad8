/* feed.c - reads bsprun's own stdin; see feed.h.
 *
 * Happy path: feed_wake -> wait until stdin is readable -> read -> got -> ... -> the end.
 *
 * What can fail: stdin is a file, which is always readable (read at once); bsprun is in the
 * background of its terminal (checked again by the timer); an error counts as the end.
 */
#include "bsprun/launcher/feed.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define BACKGROUND_MS 300

int feed_open(struct feed *feed, uv_loop_t *loop, size_t (*room)(void *context),
              void (*got)(void *context, const char *data, size_t size, int error), void *context)
{
    struct epoll_event event = {.events = EPOLLIN};
    int error = 0;

    memset(feed, 0, offsetof(struct feed, data));
    feed->room = room;
    feed->got = got;
    feed->context = context;
    feed->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (feed->epoll < 0)
        return -errno;
    if (epoll_ctl(feed->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) {
        close(feed->epoll);
        feed->epoll = -1;
    }
    if (feed->epoll >= 0)
        error = uv_poll_init(loop, &feed->poll, feed->epoll);
    if (error) {
        close(feed->epoll);
        return error;
    }
    uv_timer_init(loop, &feed->timer);
    feed->poll.data = feed->timer.data = feed;
    feed->open = true;
    return 0;
}

static bool in_background(void)
{
    pid_t group = tcgetpgrp(STDIN_FILENO);

    return group >= 0 && group != getpgrp();
}

/* Reads once, as much as there is room for; false: nothing more is available now. */
static bool read_some(struct feed *feed)
{
    size_t room = feed->room(feed->context);
    ssize_t size;

    if (room == 0 || feed->ended)
        return false;
    size = read(STDIN_FILENO, feed->data, room < sizeof feed->data ? room : sizeof feed->data);
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return feed->epoll < 0;
    feed->ended = size <= 0;
    feed->got(feed->context, feed->data, size > 0 ? (size_t)size : 0, size < 0 ? -errno : 0);
    return true;
}

static void on_timer(uv_timer_t *timer)
{
    feed_wake(timer->data);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct feed *feed = poll->data;

    (void)status;
    (void)events;
    uv_poll_stop(poll);
    if (in_background())
        uv_timer_start(&feed->timer, on_timer, BACKGROUND_MS, 0);
    else if (read_some(feed))
        feed_wake(feed);
}

void feed_wake(struct feed *feed)
{
    if (!feed->open || feed->ended)
        return;
    if (feed->epoll >= 0) {
        if (feed->room(feed->context) > 0 && !uv_is_active((uv_handle_t *)&feed->timer))
            uv_poll_start(&feed->poll, UV_READABLE, on_readable);
    } else if (!feed->reading) {
        feed->reading = true; /* its result wakes us again */
        while (read_some(feed))
            continue;
        feed->reading = false;
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct feed *feed = handle->data;

    close(feed->epoll);
    feed->epoll = -1;
}

void feed_close(struct feed *feed)
{
    if (!feed->open)
        return;
    feed->open = false;
    uv_close((uv_handle_t *)&feed->timer, NULL);
    if (feed->epoll >= 0)
        uv_close((uv_handle_t *)&feed->poll, on_closed);
}
