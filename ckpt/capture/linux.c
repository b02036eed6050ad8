/* linux.c - system calls that take more than one step. */
#include "ckpt/capture/linux.h"

#include <errno.h>
#include <string.h>

long bspz_sys_read_all(int fd, void *to, size_t bytes)
{
    size_t got = 0;

    while (got < bytes) {
        long more = bspz_sys3(SYS_read, fd, (char *)to + got, bytes - got);

        if (more == -EINTR)
            continue;
        if (more < 0)
            return more;
        if (more == 0)
            break;
        got += (size_t)more;
    }
    return (long)got;
}

long bspz_sys_slurp(const char *path, char *to, size_t room)
{
    int fd = bspz_sys_open(path, O_RDONLY | O_CLOEXEC);
    long bytes;

    if (fd < 0)
        return fd;
    bytes = bspz_sys_read_all(fd, to, room);
    bspz_sys_close(fd);
    if (bytes < 0)
        return bytes;
    if ((size_t)bytes >= room)
        return -EFBIG;
    to[bytes] = '\0';
    return bytes;
}

uint64_t bspz_number(const char **at, unsigned base)
{
    uint64_t value = 0;

    for (;; (*at)++) {
        char c = **at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;

        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

const char *bspz_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    if (!at)
        return NULL;
    for (at += strlen(name); *at == ' ' || *at == '\t'; at++)
        continue;
    return at;
}

uint64_t bspz_number_behind(const char *text, const char *name, unsigned base)
{
    const char *at = bspz_behind(text, name);

    return at ? bspz_number(&at, base) : 0;
}
