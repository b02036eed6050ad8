/* watch_inquiry.c - see watch_inquiry.h. */
#include "bsprun/status/watch_inquiry.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"

#define KEPT_BYTES (1u << 20) /* of memory, for the next answer */

bool watch_inquiry_ask(struct watch_inquiry *inquiry, pid_t job, const char *request,
                       enum jobs_silence *why)
{
    watch_inquiry_drop(inquiry);
    inquiry->asked_ns = bspz_now_ns();
    inquiry->fd = jobs_ask(job, request, 0, why);
    return inquiry->fd >= 0;
}

enum watch_progress watch_inquiry_read(struct watch_inquiry *inquiry)
{
    char bytes[16384];
    ssize_t got;

    /* The connection stays open until what was requested has happened. */
    while ((got = recv(inquiry->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0 ||
           (got < 0 && errno == EINTR))
        if (got > 0 && !bspz_buffer_add(&inquiry->text, bytes, (size_t)got))
            return WATCH_NO_MEMORY;
    return got < 0 && errno == EAGAIN ? WATCH_COMES : WATCH_COMPLETE;
}

const char *watch_inquiry_text(struct watch_inquiry *inquiry)
{
    if (!bspz_buffer_reserve(&inquiry->text, 1))
        return NULL;
    inquiry->text.data[inquiry->text.size] = '\0';
    return (const char *)inquiry->text.data;
}

char *watch_inquiry_line(struct watch_inquiry *inquiry, unsigned number)
{
    const char *line = watch_inquiry_text(inquiry), *end = line ? strchr(line, '\n') : NULL;

    for (; end && number > 0; number--) {
        line = end + 1;
        end = strchr(line, '\n');
    }
    return end ? strndup(line, (size_t)(end - line)) : NULL;
}

void watch_inquiry_drop(struct watch_inquiry *inquiry)
{
    if (inquiry->fd >= 0)
        close(inquiry->fd);
    inquiry->fd = -1;
    bspz_buffer_clear(&inquiry->text, KEPT_BYTES);
}
