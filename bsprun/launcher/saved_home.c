/* saved_home.c - lets agents check that they share the directory with bsprun; see saved.h.
 *
 * A host may have a directory of that path from an earlier run of the job or for another bsprun:
 * the path alone proves nothing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "bsprun/launcher/saved.h"

#define HOME "home."

/* Removes the files of earlier runs. */
static void remove_all(int directory)
{
    int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = own >= 0 ? fdopendir(own) : NULL;
    struct dirent *entry;

    if (!stream && own >= 0)
        close(own);
    while (stream && (entry = readdir(stream)))
        if (strncmp(entry->d_name, HOME, sizeof HOME - 1) == 0)
            unlinkat(directory, entry->d_name, 0);
    if (stream)
        closedir(stream);
}

int saved_make_home(struct saved *saved)
{
    int directory = open(saved->job_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), file = -1,
        error;
    uint64_t number;

    if (directory < 0)
        return errno;
    remove_all(directory);
    if (getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number) {
        snprintf(saved->home, sizeof saved->home, HOME "%016" PRIx64, number);
        file = openat(directory, saved->home, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600);
    }
    error = file < 0 ? errno : 0;
    if (file >= 0)
        close(file);
    close(directory);
    return error;
}

void saved_remove_home(struct saved *saved)
{
    char path[sizeof saved->job_directory + SAVED_HOME + 1];

    if (!saved->home[0])
        return;
    snprintf(path, sizeof path, "%s/%s", saved->job_directory, saved->home);
    unlink(path);
    saved->home[0] = '\0';
}
