/* save_inherited.c - inherited descriptors, which are not the program's own.
 *
 * Descriptors 0 to 2 are the agent's.  Those open before bsprun was started (the lock of a
 * flock(1), a file of a batch system) are not the program's, and pipes, sockets, terminals and the
 * like that were open before the program began (inherited from make, leaked by a shell) lead to
 * processes outside of the job: they are not saved, and a process restored by the same bsprun
 * inherits them again.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/rt/save.h"

static struct inherited {
    int fd;
    dev_t device;
    ino_t inode;
} inherited[BSPZ_INHERITED_MAX];
static int inherited_count;

/* The job's own descriptors are listed elsewhere. */
static bool is_jobs_own(int fd)
{
    const struct bspz_board *board = bspz_rt.board;

    return fd == bspz_rt.board_fd || fd == board->relay_fd[0] || fd == board->relay_fd[1] ||
           fd == board->share_fd || (board->stdin_fd > 0 && fd == board->stdin_fd);
}

/* Can be reopened by its path, and is saved like files the program opens. */
static bool has_a_name(const struct stat *status)
{
    mode_t mode = status->st_mode;

    if (S_ISCHR(mode)) /* null, zero and so on; "tty" is any terminal */
        return major(status->st_rdev) == 1 || status->st_rdev == makedev(5, 0);
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode) || S_ISLNK(mode);
}

/* Whether the descriptor was open before bsprun was started and has not changed. */
static bool is_from_outside(int fd, const struct stat *status)
{
    const struct bspz_board *board = bspz_rt.board;

    for (uint32_t i = 0; i < board->outside_count && i < BSPZ_OUTSIDE_MAX; i++)
        if (board->outside[i].fd == fd)
            return board->outside[i].device == status->st_dev &&
                   board->outside[i].inode == status->st_ino;
    return false;
}

static void note(int fd)
{
    struct stat status;

    if (inherited_count == BSPZ_INHERITED_MAX || fstat(fd, &status) != 0)
        return;
    if (fd > 2 && (is_jobs_own(fd) || (has_a_name(&status) && !is_from_outside(fd, &status))))
        return;
    inherited[inherited_count++] = (struct inherited){fd, status.st_dev, status.st_ino};
}

void bspz_inherited_note(int but)
{
    struct dirent *entry;
    DIR *directory;

    inherited_count = 0;
    for (int fd = 0; fd <= 2; fd++)
        note(fd);
    directory = opendir("/proc/self/fd");
    while (directory && (entry = readdir(directory))) {
        int fd = atoi(entry->d_name);

        if (fd > 2 && fd != dirfd(directory) && fd != but)
            note(fd);
    }
    if (directory)
        closedir(directory);
}

void bspz_inherited_stdin(void)
{
    struct stat status;

    for (int i = 0; i < inherited_count; i++)
        if (inherited[i].fd == 0 && fstat(0, &status) == 0)
            inherited[i] = (struct inherited){0, status.st_dev, status.st_ino};
}

static bool is_file(int fd, dev_t device, ino_t inode)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/* Whether it is stdout or stderr, replaced by the common stream of all ranks. */
static bool is_relay(int fd)
{
    int relay = fd == 1 || fd == 2 ? bspz_rt.board->relay_fd[fd - 1] : 0;
    struct stat status;

    return relay > 0 && fstat(relay, &status) == 0 && is_file(fd, status.st_dev, status.st_ino);
}

int bspz_inherited_list(int fds[BSPZ_INHERITED_MAX], bool inherited_only)
{
    int count = 0;

    for (int i = 0; i < inherited_count; i++) {
        int fd = inherited[i].fd;

        if (inherited_only && fd <= 2)
            continue;
        if (is_file(fd, inherited[i].device, inherited[i].inode) || is_relay(fd))
            fds[count++] = fd;
    }
    return count;
}
