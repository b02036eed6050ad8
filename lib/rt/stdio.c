/* stdio.c - stdin belongs to pid 0, and the output of several processes keeps its lines and
 * order. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/rt/rt.h"
#include "lib/rt/save.h"

/* libgfortran's flush of all units, when the program is linked with it. */
extern void _gfortran_flush_i4(const int *unit) __attribute__((weak));
/* In the object that bspcc adds to a program with Fortran: whether this thread is inside a
 * statement of input or output, which calls a function that calls us.  Its unit is locked, and a
 * flush would wait for ever. */
extern int bspz_in_fortran_statement(void) __attribute__((weak));
/* The flush of libstdc++: std::cout, std::clog, ostream::flush and ios_base::sync_with_stdio. */
extern char _ZSt4cout[] __attribute__((weak)), _ZSt4clog[] __attribute__((weak));
extern void *_ZNSo5flushEv(void *stream) __attribute__((weak));
extern bool _ZNSt8ios_base15sync_with_stdioEb(bool on) __attribute__((weak));

#define HAND_OVER_PAUSE_NS 20000
#define HAND_OVER_PAUSES   10000

#define GLIBC_WRITING      0x0800 /* of FILE._flags: the buffer holds output */

static bool other_languages; /* may have streams with output to be flushed */
static bool made_line_buffered;
static int handed_on = -1;             /* --stdin PID: the job's stdin, until all are made */
static int own_terminal[2] = {-1, -1}; /* process 0's stdout and stderr in its SPMD part */

void bspz_stdio_find_languages(void)
{
    other_languages = _gfortran_flush_i4 || _ZNSo5flushEv;
}

/* Streams of C++ have buffers of their own only when this is off; `true` does not turn it on again.
 */
static bool has_cxx_buffers(void)
{
    return _ZNSo5flushEv && _ZNSt8ios_base15sync_with_stdioEb &&
           !_ZNSt8ios_base15sync_with_stdioEb(true);
}

static BSPZ_NOINLINE void flush_other_languages(bool with_cxx)
{
    if (_gfortran_flush_i4 && !(bspz_in_fortran_statement && bspz_in_fortran_statement()))
        _gfortran_flush_i4(NULL);
    if (with_cxx && has_cxx_buffers()) {
        _ZNSo5flushEv(_ZSt4cout);
        _ZNSo5flushEv(_ZSt4clog);
    }
}

void bspz_stdio_flush_languages(void)
{
    if (other_languages)
        flush_other_languages(true);
}

void bspz_stdio_flush_all(void)
{
    bspz_stdio_flush_languages();
    fflush(NULL);
}

void bspz_stdio_flush_output(void)
{
    /* These streams of C++ have no locks: another thread may be writing to them. */
    if (bspz_unlikely(other_languages))
        flush_other_languages(__libc_single_threaded);
    if (__fpending(stdout) > 0)
        fflush(stdout);
    if (__fpending(stderr) > 0)
        fflush(stderr);
}

/* Bytes that the reader of the descriptor has not taken yet; 0: unknown. */
static int on_its_way(int fd)
{
    int bytes;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

void bspz_stdio_hand_over(void)
{
    const struct timespec pause = {0, HAND_OVER_PAUSE_NS};

    for (int i = 0; i < HAND_OVER_PAUSES && !atomic_load(&bspz_rt.board->stop); i++) {
        if (on_its_way(STDOUT_FILENO) == 0 && on_its_way(STDERR_FILENO) == 0)
            return;
        nanosleep(&pause, NULL);
    }
}

static bool same_file(int one, int other)
{
    struct stat a, b;

    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Whether the descriptor is still the agent's terminal and not one that the program has put
 * there. */
static bool is_agents_terminal(int fd, uint64_t device)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == device;
}

/* The agent's terminals are only for process 0; the stream of all ranks identifies them and keeps
 * their order. */
static void write_to_relay(void)
{
    const struct bspz_board *board = bspz_rt.board;

    for (int i = 0; i < 2; i++) {
        int fd = STDOUT_FILENO + i, relay = board->relay_fd[i];
        struct stat status;

        if (relay <= 0 || fstat(relay, &status) != 0 || !S_ISSOCK(status.st_mode) ||
            !is_agents_terminal(fd, board->relay_terminal[i]))
            continue;
        if (bspz_rt.pid == 0 && (own_terminal[i] = fcntl(fd, F_DUPFD_CLOEXEC, relay)) < 0)
            continue;
        dup2(relay, fd);
    }
}

static void write_to_terminal(void)
{
    for (int i = 0; i < 2; i++) {
        if (own_terminal[i] < 0)
            continue;
        if (same_file(STDOUT_FILENO + i, bspz_rt.board->relay_fd[i]))
            dup2(own_terminal[i], STDOUT_FILENO + i);
        close(own_terminal[i]);
        own_terminal[i] = -1;
    }
}

/* A fully buffered stdout would be interleaved with that of other ranks in the middle of lines.  On
 * a terminal it is line-buffered anyway. */
void bspz_stdio_begin(void)
{
    bool terminal = isatty(STDOUT_FILENO);

    if (bspz_rt.nprocs <= 1)
        return;
    write_to_relay();
    if (!__flbf(stdout) && __fbufsize(stdout) != 1) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        made_line_buffered = !terminal;
    }
}

void bspz_stdio_end(void)
{
    write_to_terminal();
    if (!made_line_buffered || !__flbf(stdout)) /* or the program has chosen something else */
        return;
    fflush(stdout);
    setvbuf(stdout, NULL, _IOFBF, 0);
#ifdef __GLIBC__
    /* glibc considers the buffer full until its next flush, which would split the first line while
     * other ranks still print in their exit handlers. */
    if (stdout->_flags & GLIBC_WRITING && stdout->_IO_write_ptr == stdout->_IO_write_base)
        stdout->_IO_write_end = stdout->_IO_buf_end;
#endif
    made_line_buffered = false;
}

int bspz_stdio_relays(int fds[BSPZ_RELAYS])
{
    int count = 0;

    for (int i = 0; i < 2; i++) {
        if (bspz_rt.board->relay_fd[i] > 0)
            fds[count++] = bspz_rt.board->relay_fd[i];
        if (own_terminal[i] >= 0)
            fds[count++] = own_terminal[i];
    }
    if (handed_on >= 0)
        fds[count++] = handed_on;
    return count;
}

void bspz_stdio_attach(void)
{
    if (bspz_rt.board->stdin_fd <= 0)
        return;
    handed_on = bspz_rt.board->stdin_fd;
    fcntl(handed_on, F_SETFD, FD_CLOEXEC);
}

void bspz_stdio_made(void)
{
    if (handed_on >= 0)
        close(handed_on);
    handed_on = -1;
}

void bspz_stdio_forget_terminal(void)
{
    handed_on = -1;
    own_terminal[0] = own_terminal[1] = -1;
}

/* A process that was not cloned from process 0 here has it already. */
static void take_stdin(void)
{
    __fpurge(stdin);
    clearerr(stdin);
    if (handed_on >= 0) {
        dup2(handed_on, STDIN_FILENO);
        bspz_inherited_stdin();
    }
}

static void empty_stdin(void)
{
    int null = open("/dev/null", O_RDONLY);

    __fpurge(stdin);
    if (null < 0)
        return;
    if (null != STDIN_FILENO) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
}

/* A description shared with pid 0 shares its offset: an exit() here would rewind it there. */
static void reopen_privately(int fd)
{
    char path[64];
    struct stat status;
    int mode = fcntl(fd, F_GETFL);
    int close_on_exec = fcntl(fd, F_GETFD);
    off_t offset;
    int own;

    if (mode < 0 || (mode & O_ACCMODE) != O_RDONLY || mode & O_PATH || fstat(fd, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return;
    offset = lseek(fd, 0, SEEK_CUR);
    if (offset < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    own = open(path, O_RDONLY | O_CLOEXEC | (mode & (O_NONBLOCK | O_DIRECT)));
    if (own < 0)
        return;
    lseek(own, offset, SEEK_SET);
    dup3(own, fd, close_on_exec & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(own);
}

void bspz_stdio_clone(void)
{
    DIR *directory;
    struct dirent *entry;

    if (bspz_rt.pid == bspz_rt.board->stdin_pid)
        take_stdin();
    else
        empty_stdin();
    bspz_stdio_made();
    directory = opendir("/proc/self/fd");
    if (!directory)
        return;
    while ((entry = readdir(directory))) {
        int fd = atoi(entry->d_name);

        if (fd > STDIN_FILENO && fd != dirfd(directory) && fd != bspz_rt.board_fd)
            reopen_privately(fd);
    }
    closedir(directory);
}
