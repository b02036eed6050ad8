/* io.c - see io.h. */
#include "lib/base/io.h"

#include <errno.h>
#include <unistd.h>

int bspz_write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t done = write(fd, at, size);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        at += done;
        size -= (size_t)done;
    }
    return 0;
}
