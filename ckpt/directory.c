/* directory.c - the directory of a store: names, what a directory of it holds, removing one; see
 * inside.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/inside.h"
#include "lib/base/buffer.h"

void store_snapshot_name(char name[SNAPSHOT_NAME], struct bspz_snapshot_name snapshot)
{
    snprintf(name, SNAPSHOT_NAME, "%" PRIu64 ".%" PRIu32, snapshot.superstep, snapshot.term);
}

bool store_parse_snapshot(const char *name, struct bspz_snapshot_name *snapshot)
{
    char again[SNAPSHOT_NAME];
    char *end;

    if (name[0] < '0' || name[0] > '9')
        return false;
    errno = 0;
    snapshot->superstep = strtoull(name, &end, 10);
    if (errno != 0 || *end != '.')
        return false;
    unsigned long long number = strtoull(end + 1, &end, 10);
    if (errno != 0 || *end != '\0' || number > UINT32_MAX)
        return false;
    snapshot->term = (uint32_t)number;
    /* Rejects leading signs, spaces and zeros: each snapshot has exactly one name. */
    store_snapshot_name(again, *snapshot);
    return strcmp(name, again) == 0;
}

void store_image_name(char name[IMAGE_NAME], uint32_t pid)
{
    snprintf(name, IMAGE_NAME, "%" PRIu32 ".img", pid);
}

/* ---- Directories ----------------------------------------------------------------------------- */

int store_check_directory(int directory)
{
    struct stat about;

    if (fstat(directory, &about) < 0)
        return -errno;
    if (!S_ISDIR(about.st_mode))
        return -ENOTDIR;
    if (about.st_uid != geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return -EPERM;
    return 0;
}

int store_open_directory(const struct store *store, int parent, const char *name)
{
    const struct store_io *io = &store->io;

    int directory = io->open(io->context, parent, name, O_RDONLY | O_DIRECTORY, 0);
    if (directory < 0)
        return directory == -ELOOP ? -EPERM : directory;
    int status = store_check_directory(directory);
    if (status < 0) {
        io->close(io->context, directory);
        return status;
    }
    return directory;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int store_names(int directory, char ***names, size_t *count)
{
    char **list = NULL;
    size_t found = 0;
    int status = 0;

    int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = own >= 0 ? fdopendir(own) : NULL;
    if (!listing) {
        status = -errno;
        if (own >= 0)
            close(own);
        return status;
    }
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(listing);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *name = strdup(entry->d_name);
        if (!name || !BSPZ_GROW(list, found)) {
            free(name);
            status = -ENOMEM;
            break;
        }
        list[found++] = name;
    }
    if (status == 0 && errno != 0)
        status = -errno;
    closedir(listing);
    if (status < 0) {
        store_names_free(list, found);
        return status;
    }
    if (found > 0)
        qsort(list, found, sizeof(*list), by_name);
    *names = list;
    *count = found;
    return 0;
}

int store_walk(const struct store *store, store_visit *visit, void *context)
{
    char **names;
    size_t count;

    int status = store_names(store->job, &names, &count);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count && status == 0; i++) {
        struct store_visited at = {.name = names[i]};
        if (!store_parse_snapshot(names[i], &at.snapshot))
            continue;
        at.directory = store_open_directory(store, store->job, names[i]);
        status = visit(store, &at, context);
        if (at.directory >= 0)
            store->io.close(store->io.context, at.directory);
    }
    store_names_free(names, count);
    return status;
}

void store_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

bool store_has_file(int directory, const char *name)
{
    return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_image(const char *name)
{
    char again[IMAGE_NAME];
    unsigned pid;

    if (sscanf(name, "%u", &pid) != 1)
        return false;
    store_image_name(again, pid);
    return strcmp(name, again) == 0;
}

size_t store_images_in(int directory)
{
    char **names;
    size_t count, images = 0;

    if (store_names(directory, &names, &count) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        images += is_image(names[i]);
    store_names_free(names, count);
    return images;
}

static bool is_snapshot(int job, const char *name)
{
    struct bspz_snapshot_name snapshot;

    if (!store_parse_snapshot(name, &snapshot))
        return false;
    int directory = openat(job, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return false;
    bool is_one = store_has_file(directory, MANIFEST_NAME) ||
                  store_has_file(directory, MANIFEST_COPY) || store_images_in(directory) > 0;
    close(directory);
    return is_one;
}

bool store_is_job(int directory)
{
    char **names;
    size_t count;
    bool is_one = store_has_file(directory, TERM_NAME) || store_has_file(directory, TERM_COPY);

    if (is_one || store_names(directory, &names, &count) < 0)
        return is_one;
    for (size_t i = 0; i < count && !is_one; i++)
        is_one = is_snapshot(directory, names[i]);
    store_names_free(names, count);
    return is_one;
}

/* ---- Removing -------------------------------------------------------------------------------- */

int store_find_directory(int directory, bool but_snapshots, char found[NAME_MAX + 1])
{
    struct bspz_snapshot_name snapshot;
    struct stat about;
    char **names;
    size_t count;

    int status = store_names(directory, &names, &count);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count && status == 0; i++)
        if (!(but_snapshots && store_parse_snapshot(names[i], &snapshot)) &&
            fstatat(directory, names[i], &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(about.st_mode)) {
            snprintf(found, NAME_MAX + 1, "%s", names[i]);
            status = 1;
        }
    store_names_free(names, count);
    return status;
}

/* Another process may be removing the same directory: what is gone by now is removed. */
static int unlink_if_there(const struct store *store, int directory, const char *name)
{
    int status = store->io.unlink(store->io.context, directory, name, 0);

    return status == -ENOENT ? 0 : status;
}

/* Removes the file of that name, durably, if the directory has it. */
static int remove_named(const struct store *store, int directory, char **names, size_t count,
                        const char *name)
{
    const struct store_io *io = &store->io;
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++)
        if (strcmp(names[i], name) == 0) {
            status = unlink_if_there(store, directory, name);
            if (status == 0)
                status = io->sync(io->context, directory);
        }
    return status;
}

static bool is_manifest(const char *name)
{
    return strcmp(name, MANIFEST_NAME) == 0 || strcmp(name, MANIFEST_COPY) == 0;
}

int store_remove_directory(const struct store *store, int parent, const char *name)
{
    const struct store_io *io = &store->io;
    char foreign[NAME_MAX + 1], **names;
    size_t count;

    int directory = store_open_directory(store, parent, name);
    if (directory < 0)
        return directory;
    int status = store_find_directory(directory, false, foreign);
    if (status == 0)
        status = store_names(directory, &names, &count);
    else if (status > 0)
        status = -EISDIR;
    if (status < 0) {
        io->close(io->context, directory);
        return status;
    }
    /* A copy without its manifest would allow its repair: it must go first. */
    status = remove_named(store, directory, names, count, MANIFEST_COPY);
    if (status == 0)
        status = remove_named(store, directory, names, count, MANIFEST_NAME);
    for (size_t i = 0; i < count && status == 0; i++)
        if (!is_manifest(names[i]))
            status = unlink_if_there(store, directory, names[i]);
    store_names_free(names, count);
    io->close(io->context, directory);
    return status < 0 ? status : io->unlink(io->context, parent, name, AT_REMOVEDIR);
}
