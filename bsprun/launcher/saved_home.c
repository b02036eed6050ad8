/* saved_home.c - how agents know that they see the same directory as bsprun; see saved.h.
 *
 * A folder of that path may be on a host from an earlier life of the job, which began there or was kept
 * there for another bsprun: its name alone says nothing. */
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

/* Those of earlier lives. */
static void remove_all(int folder)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = own >= 0 ? fdopendir(own) : NULL;
    struct dirent *entry;

    if (!stream && own >= 0)
        close(own);
    while (stream && (entry = readdir(stream)))
        if (strncmp(entry->d_name, HOME, sizeof HOME - 1) == 0)
            unlinkat(folder, entry->d_name, 0);
    if (stream)
        closedir(stream);
}

int saved_make_home(struct saved *saved)
{
    int folder = open(saved->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), file = -1, error;
    uint64_t number;

    if (folder < 0)
        return errno;
    remove_all(folder);
    if (getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number) {
        snprintf(saved->home, sizeof saved->home, HOME "%016" PRIx64, number);
        file = openat(folder, saved->home, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600);
    }
    error = file < 0 ? errno : 0;
    if (file >= 0)
        close(file);
    close(folder);
    return error;
}

void saved_remove_home(struct saved *saved)
{
    char path[sizeof saved->folder + SAVED_HOME + 1];

    if (!saved->home[0])
        return;
    snprintf(path, sizeof path, "%s/%s", saved->folder, saved->home);
    unlink(path);
    saved->home[0] = '\0';
}
