/* names.c - names in the store, and what goes by them: listing and removing folders. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/inside.h"

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

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(char ***names, size_t *count, size_t *room, const char *name)
{
    if (*count == *room) {
        size_t more = *room ? 2 * *room : 16;
        char **list = realloc(*names, more * sizeof(*list));
        if (!list)
            return -ENOMEM;
        *names = list;
        *room = more;
    }
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
