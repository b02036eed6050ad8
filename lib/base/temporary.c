/* temporary.c - see temporary.h. */
#include "lib/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *bspz_temporary_root(void)
{
    const char *named = getenv("TMPDIR");

    return named && named[0] == '/' ? named : "/tmp";
}

int bspz_temporary_file(void)
{
    char path[PATH_MAX];
    int file = open(bspz_temporary_root(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (file >= 0)
        return file;
    /* Some file systems have no files without a name. */
    if (!bspz_temporary_name(path, "bspzero-XXXXXX", 1))
        return -ENAMETOOLONG;
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return -errno;
    unlink(path);
    return file;
}

bool bspz_temporary_name(char *path, const char *stem, unsigned number)
{
    char suffix[16] = "";

    if (number > 1)
        snprintf(suffix, sizeof suffix, "-%u", number);
    return snprintf(path, PATH_MAX, "%s/%s%s", bspz_temporary_root(), stem, suffix) < PATH_MAX;
}

bool bspz_temporary_is_taken(const char *path)
{
    struct stat about;

    return lstat(path, &about) == 0 && (!S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
                                        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0);
}
