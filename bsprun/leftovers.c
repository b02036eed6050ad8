/* leftovers.c - see leftovers.h.
 *
 * A directory's owner writes its process id to `lock` and keeps that file locked until it ends.  So
 * an unlocked directory has no owner, unless it is just being made, which its age tells. */
#include "bsprun/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/temporary.h"

#define YOUNG       60 /* seconds for which a new one may not be locked yet */
#define DESCRIPTORS 8

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)where;
    if (kind == FTW_DP || kind == FTW_D)
        rmdir(path);
    else
        unlink(path);
    return 0;
}

void leftovers_remove(const char *path)
{
    nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool is_own_directory(const char *path, struct stat *about)
{
    return lstat(path, about) == 0 && S_ISDIR(about->st_mode) && about->st_uid == geteuid();
}

/* Takes the lock, so that no process can begin to use the directory; -1: it has an owner, or may
 * get one. */
static int take(const char *path)
{
    char lock[PATH_MAX];
    struct stat directory, about;
    int file;

    if (!is_own_directory(path, &directory) ||
        snprintf(lock, sizeof lock, "%s/lock", path) >= (int)sizeof lock)
        return -1;
    file = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && directory.st_mtime + YOUNG < time(NULL))
        file = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return -1;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &about) == 0 &&
        (about.st_size > 0 || directory.st_mtime + YOUNG < time(NULL)))
        return file;
    close(file);
    return -1;
}

/* Removes what hosts have kept for jobs that cannot be restarted. */
static void sweep_store(const char *path)
{
    char job[PATH_MAX], mark[PATH_MAX];
    DIR *stream = opendir(path);
    struct dirent *entry;
    struct stat about;

    while (stream && (entry = readdir(stream)))
        if (entry->d_name[0] != '.' &&
            snprintf(job, sizeof job, "%s/%s", path, entry->d_name) < (int)sizeof job &&
            is_own_directory(job, &about) &&
            snprintf(mark, sizeof mark, "%s/" LEFTOVERS_MARK, job) < (int)sizeof mark &&
            access(mark, F_OK) == 0)
            leftovers_remove(job);
    if (stream)
        closedir(stream);
}

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

void leftovers_sweep(void)
{
    char path[PATH_MAX], store[48];
    DIR *stream = opendir(bspz_temporary_root());
    struct dirent *entry;

    snprintf(store, sizeof store, LEFTOVERS_STORE "%u-", (unsigned)getuid());
    while (stream && (entry = readdir(stream))) {
        bool is_job = begins_with(entry->d_name, LEFTOVERS_JOB);
        int lock = -1;

        if ((is_job || begins_with(entry->d_name, store)) &&
            snprintf(path, sizeof path, "%s/%s", bspz_temporary_root(), entry->d_name) <
                (int)sizeof path)
            lock = take(path);
        if (lock < 0)
            continue;
        if (is_job)
            leftovers_remove(path);
        else
            sweep_store(path);
        close(lock);
    }
    if (stream)
        closedir(stream);
}
