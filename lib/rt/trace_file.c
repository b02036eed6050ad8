/* trace_file.c - writing PROF.bsp and STAT.bsp.
 *
 * What can fail: the directory cannot be written to, the disk is full, the file is too large for
 * `ulimit -f`.  One message says so, and the job goes on: its result matters more than its profile.
 */
#include "lib/rt/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/io.h"

#define DESCRIPTOR_MINIMUM 512 /* programs count on the small ones */

static void give_up(struct bspz_trace_file *file, int error)
{
    bspz_warn("bsp_sync", 0, NULL, "cannot write %s: %s; the job continues without it", file->name,
              strerror(error));
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

void bspz_trace_file_open(struct bspz_trace_file *file, const char *name)
{
    int moved;

    *file = (struct bspz_trace_file){.name = name};
    /* O_NONBLOCK, in case the name is that of a fifo. */
    file->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (file->fd < 0) {
        give_up(file, errno);
        return;
    }
    moved = fcntl(file->fd, F_DUPFD_CLOEXEC, DESCRIPTOR_MINIMUM);
    if (moved >= 0) {
        close(file->fd);
        file->fd = moved;
    }
}

/* 0 or an errno; suppresses the signal that comes with EFBIG: the limit must not end the job. */
static int write_quietly(int fd, const char *text, size_t bytes)
{
    const struct timespec now = {0, 0};
    sigset_t xfsz, before;
    int error;

    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &xfsz, &before);
    error = -bspz_write_all(fd, text, bytes);
    if (error == EFBIG && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&xfsz, NULL, &now);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

void bspz_trace_file_flush(struct bspz_trace_file *file)
{
    int error;

    if (file->fd < 0 || file->used == 0)
        return;
    error = write_quietly(file->fd, file->text, file->used);
    if (error) {
        /* Removes an incomplete line; fails for a device, which has no length. */
        if (ftruncate(file->fd, (off_t)file->good) != 0)
            file->good = 0;
        give_up(file, error);
        return;
    }
    file->good += file->used;
    file->used = 0;
}

void bspz_trace_file_add(struct bspz_trace_file *file, const char *format, ...)
{
    va_list arguments;
    int length;

    if (file->fd < 0)
        return;
    if (sizeof file->text - file->used <= BSPZ_TRACE_PIECE)
        bspz_trace_file_flush(file);
    va_start(arguments, format);
    length = vsnprintf(file->text + file->used, BSPZ_TRACE_PIECE, format, arguments);
    va_end(arguments);
    if (length > 0)
        file->used += (size_t)length < BSPZ_TRACE_PIECE ? (size_t)length : BSPZ_TRACE_PIECE - 1;
}

void bspz_trace_file_close(struct bspz_trace_file *file)
{
    if (file->fd < 0)
        return;
    bspz_trace_file_flush(file);
    if (file->fd >= 0 && close(file->fd) != 0 && errno != EINTR) {
        int error = errno;

        file->fd = -1;
        give_up(file, error);
    }
    file->fd = -1;
}

void bspz_trace_date(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm parts;

    if (!localtime_r(&now, &parts) || strftime(text, size, "%a %b %e %H:%M:%S %Y", &parts) == 0)
        snprintf(text, size, "unknown");
}
