/* saved_private.c - a directory of snapshots that nobody asked for: on several hosts processes are
 * made of the image of process 0, which has to be somewhere; see saved.h.
 *
 * It lies in $TMPDIR and goes when the job ends.  What a bsprun that was killed has left goes when
 * the same user starts the next job there: nobody holds its lock any more.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/launcher/saved.h"

#define NAME        "bspzero-job-"
#define RANDOM      "XXXXXX"
#define YOUNG       60 /* seconds in which one that is being made may not be locked yet */
#define DESCRIPTORS 8

static const char *folder(void)
{
    const char *named = getenv("TMPDIR");

    return named && *named ? named : "/tmp";
}

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

void saved_remove_private(const char *path)
{
    nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool is_left_over(const char *path)
{
    struct stat status;
    struct store *store = NULL;

    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        status.st_mtime + YOUNG > time(NULL))
        return false;
    bool free = store_open(&store, path, STORE_WRITE, NULL, NULL) == 0;
    store_close(store);
    return free;
}

static void sweep(void)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *stream = opendir(folder());

    while (stream && (entry = readdir(stream)))
        if (strncmp(entry->d_name, NAME, sizeof NAME - 1) == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder(), entry->d_name) < (int)sizeof path &&
            is_left_over(path))
            saved_remove_private(path);
    if (stream)
        closedir(stream);
}

char *saved_make_private(char error[SAVED_TEXT])
{
    char *path;

    sweep();
    if (asprintf(&path, "%s/" NAME RANDOM, folder()) < 0)
        path = NULL;
    if (path && mkdtemp(path))
        return path;
    snprintf(error, SAVED_TEXT, "no directory for the job in %.300s: %s", folder(),
             strerror(errno));
    free(path);
    return NULL;
}
