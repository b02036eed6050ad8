/* history_file.c - the file of the history: its path, reading and writing; see history.h.
 *
 * Happy path: a line is one write at the end of the file, under a lock that appenders share.  When
 * the file has become too large, one of them takes the lock exclusively, writes the condensed
 * history to another file and renames that.  Others that waited for the lock notice that the path
 * leads to another file, and reopen it.
 *
 * What can fail: there is no directory and none can be made; the file belongs to another user, is
 * writable by others, a link, not a regular file, of another version or too large: it is not
 * touched.  The disk is full, or the process is killed in the middle: a line is cut, which the next
 * writer ends with a line feed, and readers skip.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/history/history.h"
#include "lib/base/io.h"

#define LEVELS   3   /* most levels of directories that are created */
#define TRIES    750 /* who waits for the end of the writing does so for 2 s */
#define PAUSE_NS 2000000
#define TAIL     ".new" /* of the file that takes the place of the old one */

/* ---- Where it is ----------------------------------------------------------------------------- */

static bool join(char path[HISTORY_PATH_MAX], const char *directory, const char *rest, char *why,
                 size_t size)
{
    if (snprintf(path, HISTORY_PATH_MAX, "%s%s", directory, rest) < (int)HISTORY_PATH_MAX - 8)
        return true;
    snprintf(why, size, "the path of the history is too long");
    return false;
}

bool history_path(const char *(*lookup)(const char *name), char path[HISTORY_PATH_MAX], char *why,
                  size_t size)
{
    const char *chosen = lookup("BSPZERO_HISTORY"), *state = lookup("XDG_STATE_HOME"),
               *home = lookup("HOME");

    why[0] = '\0';
    if (chosen && strcmp(chosen, "off") == 0)
        return false;
    if (chosen && *chosen)
        return join(path, chosen, "", why, size);
    /* A relative path is ignored, as specified for that variable. */
    if (state && state[0] == '/')
        return join(path, state, "/bspzero/history", why, size);
    if (home && home[0] == '/')
        return join(path, home, "/.local/state/bspzero/history", why, size);
    snprintf(why, size, "no history of earlier jobs: neither XDG_STATE_HOME nor HOME is set");
    return false;
}

/* Others use these directories, too: a user mask must not leave their owner without access. */
static int make_directory(const char *directory)
{
    return mkdir(directory, 0700) == 0 ? chmod(directory, 0700) : -1;
}

/* Creates only a few levels, so that a missing home directory is not created. */
static void make_directories(const char *path, int levels)
{
    char directory[HISTORY_PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path || levels == 0)
        return;
    snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    if (make_directory(directory) != 0 && errno == ENOENT) {
        make_directories(directory, levels - 1);
        make_directory(directory);
    }
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int wrong(char *why, size_t size, const char *path, const char *what)
{
    snprintf(why, size, "the history of earlier jobs, %.200s, is not used: %s", path, what);
    return -1;
}

/* Whether the file is safe to read and write. */
static int check_file(int fd, const char *path, struct stat *status, char *why, size_t size)
{
    if (fstat(fd, status) != 0)
        return wrong(why, size, path, strerror(errno));
    if (!S_ISREG(status->st_mode))
        return wrong(why, size, path, "it is not a regular file");
    if (status->st_uid != geteuid())
        return wrong(why, size, path, "it belongs to another user");
    if (status->st_mode & 022)
        return wrong(why, size, path, "it is writable by others");
    if (status->st_size > (off_t)HISTORY_READ_MAX)
        return wrong(why, size, path, "it is too large; remove it");
    return 0;
}

static int open_file(const char *path, int flags, char *why, size_t size)
{
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);

    if (fd < 0 && !(errno == ENOENT && !(flags & O_CREAT)))
        return wrong(why, size, path, errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    return fd;
}

/* The contents of the file, or NULL and `why`. */
static char *read_all(int fd, const char *path, size_t *size, char *why, size_t why_size)
{
    struct stat status;
    char *text;
    ssize_t got = 0;

    *size = 0;
    if (check_file(fd, path, &status, why, why_size) != 0)
        return NULL;
    text = malloc((size_t)status.st_size + 1);
    if (!text) {
        wrong(why, why_size, path, strerror(ENOMEM));
        return NULL;
    }
    while (*size < (size_t)status.st_size &&
           (got = pread(fd, text + *size, (size_t)status.st_size - *size, (off_t)*size)) > 0)
        *size += (size_t)got;
    if (got >= 0)
        return text;
    wrong(why, why_size, path, strerror(errno));
    free(text);
    return NULL;
}

static int load_from(int fd, const char *path, struct history *history, char *why, size_t why_size)
{
    size_t size;
    char *text = read_all(fd, path, &size, why, why_size);
    int state = text ? history_read(text, size, history) : 0;

    free(text);
    if (!text)
        return -1;
    if (state < 0)
        return wrong(why, why_size, path, strerror(-state));
    if (state == HISTORY_OTHER_VERSION)
        return wrong(why, why_size, path, "it was written by another version of bspzero");
    if (state == HISTORY_STRANGE)
        return wrong(why, why_size, path, "it is not a history file");
    return 0;
}

int history_load(const char *path, struct history *history, char *why, size_t size)
{
    int fd, result;

    *history = (struct history){0};
    why[0] = '\0';
    fd = open_file(path, O_RDONLY, why, size);
    if (fd < 0)
        return why[0] ? -1 : 0;
    result = load_from(fd, path, history, why, size);
    close(fd);
    return result;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool is_still_there(int fd, const char *path)
{
    struct stat open_one, named;

    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* Opens it for appending, with the lock, if the file system has locks.  -1 and `why`: failed. */
static int open_locked(const char *path, char *why, size_t size)
{
    const struct timespec pause = {0, PAUSE_NS};
    struct stat status;

    for (int i = 0; i < TRIES; i++) {
        int fd = open_file(path, O_RDWR | O_APPEND | O_CREAT, why, size);

        if (fd < 0)
            return -1;
        if (check_file(fd, path, &status, why, size) != 0) {
            close(fd);
            return -1;
        }
        if (status.st_size == 0)
            fchmod(fd, 0600); /* it may be new, and a user mask has had its part in it */
        bool locked = flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (locked && is_still_there(fd, path))
            return fd;
        close(fd);
        nanosleep(&pause, NULL);
    }
    return wrong(why, size, path, "another job holds its lock");
}

/* Writes what must precede the first line: the head of a new file, or the end of a cut line.  -1
 * and `why`: a file of another version or format. */
static int begin_lines(int fd, const char *path, char line[HISTORY_LINE_MAX], size_t *length,
                       char *why, size_t size)
{
    struct stat status;
    struct history history;
    char head[HISTORY_LINE_MAX], last = '\n';
    ssize_t got = pread(fd, head, sizeof head, 0);

    *length = 0;
    if (got == 0)
        *length = history_head(line);
    if (got <= 0)
        return got == 0 ? 0 : wrong(why, size, path, strerror(errno));
    const char *end = memchr(head, '\n', (size_t)got);
    int state = history_read(head, end ? (size_t)(end - head) + 1 : (size_t)got, &history);
    history_free(&history);
    if (state == HISTORY_OTHER_VERSION)
        return wrong(why, size, path, "it was written by another version of bspzero");
    if (state != HISTORY_GOOD)
        return wrong(why, size, path, "it is not a history file");
    if (fstat(fd, &status) == 0 && pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n') {
        line[0] = '\n';
        *length = 1;
    }
    return 0;
}

/* Writes each line by one call. 0 or an error number; lines after a failed one are not written. */
static int write_lines(int fd, const char *begin, size_t begin_length, const char *lines,
                       size_t length)
{
    char line[2 * HISTORY_LINE_MAX];

    for (const char *at = lines, *end; at < lines + length; at = end + 1) {
        end = memchr(at, '\n', length - (size_t)(at - lines));
        if (!end || (size_t)(end - at) >= HISTORY_LINE_MAX)
            return EINVAL;
        size_t size = begin_length + (size_t)(end - at) + 1;
        memcpy(line, begin, begin_length);
        memcpy(line + begin_length, at, size - begin_length);
        ssize_t put = write(fd, line, size);
        if (put != (ssize_t)size)
            return put < 0 ? errno : ENOSPC;
        begin_length = 0;
    }
    return 0;
}

/* ---- Making it smaller ----------------------------------------------------------------------- */

static int replace_file(const char *path, const char *text, size_t size)
{
    char other[HISTORY_PATH_MAX + sizeof TAIL];

    snprintf(other, sizeof other, "%s" TAIL, path);
    unlink(other);
    int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    fchmod(fd, 0600); /* a user mask has had its part in it, unless there are no modes */
    bool good = bspz_write_all(fd, text, size) == 0 && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    if (good && rename(other, path) == 0)
        return 0;
    unlink(other);
    return -1;
}

/* Condenses the file; if another process writes, or the disk is full, a later job tries again. */
static void make_smaller(int fd, const char *path)
{
    struct history history;
    char why[512];
    size_t size;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !is_still_there(fd, path) ||
        load_from(fd, path, &history, why, sizeof why) != 0)
        return;
    char *text = history_compact(&history, HISTORY_FILE_MAX / 2, &size);
    if (text)
        replace_file(path, text, size);
    free(text);
    history_free(&history);
}

/* Exceeding the limit on the size of files must be an ordinary error: the writing thread blocks and
 * consumes its signal. */
static void hold_limit(sigset_t *before)
{
    sigset_t limit;

    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, before);
}

static void let_limit_go(const sigset_t *before)
{
    const struct timespec now = {0, 0};
    sigset_t limit, pending;

    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ) && sigpending(&pending) == 0 &&
        sigismember(&pending, SIGXFSZ))
        sigtimedwait(&limit, NULL, &now);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int history_append(const char *path, const char *lines, size_t length, char *why, size_t size)
{
    char begin[HISTORY_LINE_MAX];
    sigset_t before;
    struct stat status;
    size_t begin_length;
    int error;

    why[0] = '\0';
    make_directories(path, LEVELS);
    int fd = open_locked(path, why, size);
    if (fd < 0)
        return -1;
    hold_limit(&before);
    error = begin_lines(fd, path, begin, &begin_length, why, size);
    if (error == 0) {
        error = write_lines(fd, begin, begin_length, lines, length);
        if (error)
            wrong(why, size, path, strerror(error));
    }
    if (error == 0 && fstat(fd, &status) == 0 && status.st_size > (off_t)HISTORY_FILE_MAX)
        make_smaller(fd, path);
    let_limit_go(&before);
    close(fd);
    return error ? -1 : 0;
}
