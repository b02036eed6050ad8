/* shown.c - see shown.h. */
#include "bsprun/launcher/shown.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOWN     "shown."
#define NEW       ".tmp" /* store_sweep removes what is left of it */
#define NAME_SIZE 64u

static void name_of(char name[NAME_SIZE], struct bspz_snapshot_name snapshot, const char *end)
{
    snprintf(name, NAME_SIZE, SHOWN "%" PRIu64 ".%" PRIu32 "%s", snapshot.superstep, snapshot.term,
             end);
}

static int open_directory(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return directory < 0 ? -errno : directory;
}

static int write_file(int directory, const char *name, struct replay *replay,
                      struct bspz_snapshot_name snapshot)
{
    int descriptor =
        openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    int error;

    if (!file) {
        error = -errno;
        if (descriptor >= 0)
            close(descriptor);
        return error;
    }
    error = replay_save(replay, snapshot, file);
    if (!error && (fflush(file) != 0 || fsync(descriptor) != 0))
        error = -errno;
    if (fclose(file) != 0 && !error)
        error = -errno;
    return error;
}

static int replace(int directory, struct replay *replay, struct bspz_snapshot_name snapshot)
{
    char name[NAME_SIZE], new[NAME_SIZE];
    int error;

    name_of(name, snapshot, "");
    name_of(new, snapshot, NEW);
    error = write_file(directory, new, replay, snapshot);
    if (!error && (renameat(directory, new, directory, name) != 0 || fsync(directory) != 0))
        error = -errno;
    if (error)
        unlinkat(directory, new, 0);
    return error;
}

int shown_save(const char *job_directory, struct replay *replay, struct bspz_snapshot_name name)
{
    int directory, error;

    if (!replay_exceeds(replay, name))
        return 0;
    directory = open_directory(job_directory);
    if (directory < 0)
        return directory;
    error = replace(directory, replay, name);
    close(directory);
    return error;
}

int shown_load(const char *job_directory, struct replay *replay, struct bspz_snapshot_name name)
{
    int directory = open_directory(job_directory), descriptor, error;
    char file_name[NAME_SIZE];
    FILE *file;

    if (directory < 0)
        return directory;
    name_of(file_name, name, "");
    descriptor = openat(directory, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    error = -errno;
    close(directory);
    if (descriptor < 0)
        return error;
    file = fdopen(descriptor, "r");
    if (!file) {
        error = -errno;
        close(descriptor);
        return error;
    }
    error = replay_load(replay, name, file);
    fclose(file);
    return error;
}

void shown_sweep(const char *job_directory)
{
    int directory = open_directory(job_directory);
    DIR *listing = directory < 0 ? NULL : fdopendir(directory);
    struct dirent *entry;

    if (!listing && directory >= 0)
        close(directory);
    while (listing && (entry = readdir(listing)))
        if (strncmp(entry->d_name, SHOWN, sizeof SHOWN - 1) == 0 &&
            faccessat(directory, entry->d_name + sizeof SHOWN - 1, F_OK, 0) != 0 && errno == ENOENT)
            unlinkat(directory, entry->d_name, 0);
    if (listing)
        closedir(listing);
}
