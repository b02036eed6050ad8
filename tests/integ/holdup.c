/* holdup.c - for LD_PRELOAD: a process that is late, at a place that a test chooses: with a file,
 * or behind what it says.
 *
 * HOLDUP is the end of the file's path; HOLDUP_SKIP how many times it is to be made before.  Files
 * are made as NAME.tmp and renamed.  When the process is about to make NAME.tmp it stops itself
 * (SIGSTOP), and once more when the file has its name; so with a directory, before and after it is
 * made.
 *
 * HOLDUP_SAID is the end of a line of its stderr, which is a regular file: it stops itself when it
 * has said that.
 *
 * HOLDUP_SENT: it stops itself before it first writes to a socket.
 *
 * HOLDUP_DETACH is a file: the first copy of a rank that is about to leave its process group when
 * that is there removes it, and stops itself.
 *
 * HOLDUP_CAPTURE is a file: the first rank that is about to make its image when that is there
 * removes it, and stops itself.
 *
 * HOLDUP_MUTE is a file: a thread that opens it for writing gets no further, as where a server does
 * not answer.
 *
 * SIGCONT lets a process that has stopped itself go on.  What it starts does not know of this.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char wanted[128], said[128], detach[PATH_MAX], capture[PATH_MAX], mute[PATH_MAX];
static int skip;
static bool stopped, before_sending;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("HOLDUP"), *number = getenv("HOLDUP_SKIP");
    const char *line = getenv("HOLDUP_SAID"), *file = getenv("HOLDUP_DETACH");
    const char *image = getenv("HOLDUP_CAPTURE"), *server = getenv("HOLDUP_MUTE");

    if (text)
        snprintf(wanted, sizeof wanted, "/%s", text);
    if (line)
        snprintf(said, sizeof said, "%s\n", line);
    if (file)
        snprintf(detach, sizeof detach, "%s", file);
    if (image)
        snprintf(capture, sizeof capture, "%s", image);
    if (server)
        snprintf(mute, sizeof mute, "%s", server);
    skip = number ? atoi(number) : 0;
    unsetenv("HOLDUP");
    unsetenv("HOLDUP_SKIP");
    before_sending = getenv("HOLDUP_SENT");
    unsetenv("HOLDUP_SAID");
    unsetenv("HOLDUP_SENT");
    unsetenv("HOLDUP_DETACH");
    unsetenv("HOLDUP_CAPTURE");
    unsetenv("HOLDUP_MUTE");
    unsetenv("LD_PRELOAD");
}

/* Whether the path ends with what is wanted and `ending`. */
static bool is_wanted(int directory, const char *name, const char *ending)
{
    char link[64], path[PATH_MAX + NAME_MAX + 2], end[sizeof wanted + 8];
    ssize_t size;

    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    size = wanted[0] ? readlink(link, path, PATH_MAX) : -1;
    if (size < 0)
        return false;
    size += snprintf(path + size, NAME_MAX + 2, "/%.*s", NAME_MAX, name);
    snprintf(end, sizeof end, "%s%s", wanted, ending);
    return (size_t)size >= strlen(end) && strcmp(path + size - strlen(end), end) == 0;
}

static void stop_before(void)
{
    if (stopped || skip > 0)
        return;
    stopped = true;
    kill(getpid(), SIGSTOP);
}

static void stop_behind(void)
{
    if (skip-- > 0)
        return;
    wanted[0] = '\0';
    kill(getpid(), SIGSTOP);
}

/* An older NAME.tmp is removed before it is made. */
int unlinkat(int directory, const char *name, int flags)
{
    if (is_wanted(directory, name, ".tmp"))
        stop_before();
    return (int)syscall(SYS_unlinkat, directory, name, flags);
}

int renameat(int from, const char *old, int to, const char *new)
{
    bool ours = is_wanted(to, new, "");
    int result;

    if (ours)
        stop_before();
    result = (int)syscall(SYS_renameat, from, old, to, new);
    if (ours)
        stop_behind();
    return result;
}

int mkdirat(int directory, const char *name, mode_t mode)
{
    bool ours = is_wanted(directory, name, "");
    int result;

    if (ours)
        stop_before();
    result = (int)syscall(SYS_mkdirat, directory, name, mode);
    if (ours)
        stop_behind();
    return result;
}

static bool has_said(void)
{
    char end[sizeof said];
    size_t size = strlen(said);
    int file = size > 0 ? open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC) : -1;
    off_t length = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
    bool is = length >= (off_t)size &&
              pread(file, end, size, length - (off_t)size) == (ssize_t)size &&
              memcmp(end, said, size) == 0;

    if (file >= 0)
        close(file);
    return is;
}

int fputs(const char *text, FILE *stream)
{
    static int (*next)(const char *, FILE *);
    int result;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fputs");
    result = next(text, stream);
    if (stream == stderr && has_said()) {
        said[0] = '\0';
        kill(getpid(), SIGSTOP);
    }
    return result;
}

/* A new copy does not die with its parent yet, in contrast to what it is a copy of. */
int setpgid(pid_t pid, pid_t group)
{
    int signal = -1;

    if (pid == 0 && group == 0 && detach[0])
        prctl(PR_GET_PDEATHSIG, &signal);
    if (signal == 0 && unlink(detach) == 0)
        syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
    return (int)syscall(SYS_setpgid, pid, group);
}

/* An image is made by its path, which no other file of a rank is. */
int open(const char *path, int flags, ...)
{
    const int image = O_CREAT | O_EXCL | O_NOFOLLOW;
    mode_t mode = 0;
    va_list more;

    va_start(more, flags);
    if (flags & O_CREAT)
        mode = va_arg(more, mode_t);
    va_end(more);
    if (capture[0] && (flags & image) == image && unlink(capture) == 0)
        kill(getpid(), SIGSTOP);
    while (mute[0] && (flags & O_ACCMODE) != O_RDONLY && strcmp(path, mute) == 0)
        pause();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void stop_before_sending(int fd)
{
    struct stat status;

    if (!before_sending || fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode))
        return;
    before_sending = false;
    kill(getpid(), SIGSTOP);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    stop_before_sending(fd);
    return syscall(SYS_write, fd, bytes, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    stop_before_sending(fd);
    return syscall(SYS_writev, fd, parts, count);
}
