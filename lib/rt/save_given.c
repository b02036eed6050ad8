/* save_given.c - descriptors that are not the program's: what it was started with.
 *
 * Descriptors 0 to 2 are the agent's.  What was open before bsprun was started (the lock of a
 * flock(1), a file of a batch system) is not the program's, and pipes, sockets, terminals and the
 * like that were open before the program began (a make that hands on its own, a shell that forgot
 * one) lead to processes outside of the job: they are kept as they are, and a process that is
 * restored below the same bsprun has them again.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/rt/save.h"

static struct given {
    int fd;
    dev_t device;
    ino_t inode;
} given[BSPZ_GIVEN_MAX];
static int given_count;

/* Of the job itself, and listed elsewhere. */
static bool is_jobs_own(int fd)
{
    const struct bspz_board *board = bspz_rt.board;

    return fd == bspz_rt.board_fd || fd == board->relay_fd[0] || fd == board->relay_fd[1] ||
           fd == board->share_fd;
}

/* Opened again by its path: saved like what the program opens itself. */
static bool has_a_name(const struct stat *status)
{
    mode_t mode = status->st_mode;

    if (S_ISCHR(mode)) /* null, zero and so on; "tty" is whichever terminal there is */
        return major(status->st_rdev) == 1 || status->st_rdev == makedev(5, 0);
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode) || S_ISLNK(mode);
}

/* Open before bsprun was started; where the number means something else by now, it does not count.
 */
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

    if (given_count == BSPZ_GIVEN_MAX || fstat(fd, &status) != 0)
        return;
    if (fd > 2 && (is_jobs_own(fd) || (has_a_name(&status) && !is_from_outside(fd, &status))))
        return;
    given[given_count++] = (struct given){fd, status.st_dev, status.st_ino};
}

void bspz_given_note(void)
{
    struct dirent *entry;
    DIR *folder;

    given_count = 0;
    for (int fd = 0; fd <= 2; fd++)
        note(fd);
    folder = opendir("/proc/self/fd");
    while (folder && (entry = readdir(folder))) {
        int fd = atoi(entry->d_name);

        if (fd > 2 && fd != dirfd(folder))
            note(fd);
    }
    if (folder)
        closedir(folder);
}

static bool is_file(int fd, dev_t device, ino_t inode)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/* stdout or stderr, when it was changed for the stream of all ranks. */
static bool is_relay(int fd)
{
    int relay = fd == 1 || fd == 2 ? bspz_rt.board->relay_fd[fd - 1] : 0;
    struct stat status;

    return relay > 0 && fstat(relay, &status) == 0 && is_file(fd, status.st_dev, status.st_ino);
}

int bspz_given_list(int fds[BSPZ_GIVEN_MAX], bool inherited_only)
{
    int count = 0;

    for (int i = 0; i < given_count; i++) {
        int fd = given[i].fd;

        if (inherited_only && fd <= 2)
            continue;
        if (is_file(fd, given[i].device, given[i].inode) || is_relay(fd))
            fds[count++] = fd;
    }
    return count;
}
