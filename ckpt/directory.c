/* directory.c - the directory of a store: names, what a folder of it holds, removing one; see
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

void store_snapshot_name(char name[SNAPSHOT_NAME], uint64_t superstep, uint32_t term)
{
    snprintf(name, SNAPSHOT_NAME, "%" PRIu64 ".%" PRIu32, superstep, term);
}

bool store_parse_snapshot(const char *name, uint64_t *superstep, uint32_t *term)
{
    char again[SNAPSHOT_NAME];
    char *end;

    if (name[0] < '0' || name[0] > '9')
        return false;
    errno = 0;
    *superstep = strtoull(name, &end, 10);
    if (errno != 0 || *end != '.')
        return false;
    unsigned long long number = strtoull(end + 1, &end, 10);
    if (errno != 0 || *end != '\0' || number > UINT32_MAX)
        return false;
    *term = (uint32_t)number;
    /* No signs, spaces or zeros in front: one name for one snapshot. */
    store_snapshot_name(again, *superstep, *term);
    return strcmp(name, again) == 0;
}

void store_image_name(char name[IMAGE_NAME], uint32_t pid)
{
    snprintf(name, IMAGE_NAME, "%" PRIu32 ".img", pid);
}

/* ---- Folders --------------------------------------------------------------------------------- */

int store_check_folder(int folder)
{
    struct stat about;

    if (fstat(folder, &about) < 0)
        return -errno;
    if (!S_ISDIR(about.st_mode))
        return -ENOTDIR;
    if (about.st_uid != geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return -EPERM;
    return 0;
}

int store_open_folder(const struct store *store, int parent, const char *name)
{
    const struct store_io *io = &store->io;

    int folder = io->open(io->context, parent, name, O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0)
        return folder == -ELOOP ? -EPERM : folder;
    int status = store_check_folder(folder);
    if (status < 0) {
        io->close(io->context, folder);
        return status;
    }
    return folder;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(char ***names, size_t *count, size_t *room, const char *name)
{
    char **list = bspz_grow(*names, room, *count + 1, sizeof(*list));

    if (!list)
        return -ENOMEM;
    *names = list;
    (*names)[*count] = strdup(name);
    return (*names)[(*count)++] ? 0 : -ENOMEM;
}

int store_names(int folder, char ***names, size_t *count)
{
    char **list = NULL;
    size_t found = 0, room = 0;
    int status = 0;

    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = own >= 0 ? fdopendir(own) : NULL;
    if (!directory) {
        status = -errno;
        if (own >= 0)
            close(own);
        return status;
    }
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if ((status = add_name(&list, &found, &room, entry->d_name)) < 0)
            break;
    }
    if (status == 0 && errno != 0)
        status = -errno;
    closedir(directory);
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
        struct store_stop at = {.name = names[i]};
        if (!store_parse_snapshot(names[i], &at.superstep, &at.term))
            continue;
        at.folder = store_open_folder(store, store->job, names[i]);
        status = visit(store, &at, context);
        if (at.folder >= 0)
            store->io.close(store->io.context, at.folder);
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

bool store_has_file(int folder, const char *name)
{
    return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
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

size_t store_images_in(int folder)
{
    char **names;
    size_t count, images = 0;

    if (store_names(folder, &names, &count) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        images += is_image(names[i]);
    store_names_free(names, count);
    return images;
}

static bool is_snapshot(int job, const char *name)
{
    uint64_t superstep;
    uint32_t term;

    if (!store_parse_snapshot(name, &superstep, &term))
        return false;
    int folder = openat(job, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return false;
    bool is_one = store_has_file(folder, MANIFEST_NAME) || store_has_file(folder, MANIFEST_COPY) ||
                  store_images_in(folder) > 0;
    close(folder);
    return is_one;
}

bool store_is_job(int folder)
{
    char **names;
    size_t count;
    bool is_one = store_has_file(folder, TERM_NAME) || store_has_file(folder, TERM_COPY);

    if (is_one || store_names(folder, &names, &count) < 0)
        return is_one;
    for (size_t i = 0; i < count && !is_one; i++)
        is_one = is_snapshot(folder, names[i]);
    store_names_free(names, count);
    return is_one;
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* Removes a file of those in the folder, durably. */
static int remove_named(const struct store *store, int folder, char **names, size_t count,
                        const char *name)
{
    const struct store_io *io = &store->io;
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++)
        if (strcmp(names[i], name) == 0) {
            status = io->unlink(io->context, folder, name, 0);
            if (status == 0)
                status = io->sync(io->context, folder);
        }
    return status;
}

static bool is_manifest(const char *name)
{
    return strcmp(name, MANIFEST_NAME) == 0 || strcmp(name, MANIFEST_COPY) == 0;
}

int store_remove_folder(const struct store *store, int parent, const char *name)
{
    const struct store_io *io = &store->io;
    char **names;
    size_t count;

    int folder = store_open_folder(store, parent, name);
    if (folder < 0)
        return folder;
    int status = store_names(folder, &names, &count);
    if (status < 0) {
        io->close(io->context, folder);
        return status;
    }
    /* A copy without its manifest is there to make it again: it must not be left. */
    status = remove_named(store, folder, names, count, MANIFEST_COPY);
    if (status == 0)
        status = remove_named(store, folder, names, count, MANIFEST_NAME);
    for (size_t i = 0; i < count && status == 0; i++)
        if (!is_manifest(names[i]))
            status = io->unlink(io->context, folder, names[i], 0);
    store_names_free(names, count);
    io->close(io->context, folder);
    return status < 0 ? status : io->unlink(io->context, parent, name, AT_REMOVEDIR);
}
