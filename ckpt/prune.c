/* prune.c - removes what is not needed any more, or never became anything; see store.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/inside.h"

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);

    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* Temporary files of a folder, which nobody writes any more. */
static int sweep_folder(struct store *store, int folder, size_t *removed)
{
    char **names;
    size_t count;

    int status = store_names(folder, &names, &count);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count && status == 0; i++)
        if (ends_with(names[i], TEMPORARY)) {
            status = store->io.unlink(store->io.context, folder, names[i], 0);
            *removed += status == 0;
        }
    store_names_free(names, count);
    return status;
}

static int sweep_entry(struct store *store, const struct store_entry *entry, size_t *removed)
{
    char name[SNAPSHOT_NAME];

    store_snapshot_name(name, entry->superstep, entry->term);
    if (entry->state == STORE_UNFINISHED) {
        int status = store_remove_folder(store, store->job, name);
        *removed += status == 0;
        return status;
    }
    int folder = store_open_folder(store, store->job, name);
    if (folder < 0)
        return 0; /* not ours: reported when it is listed */
    int status = sweep_folder(store, folder, removed);
    store->io.close(store->io.context, folder);
    return status;
}

int store_sweep(struct store *store, size_t *removed, char *error)
{
    struct store_entry *entries;
    size_t count, swept = 0;

    int status = store_list(store, &entries, &count, error);
    if (status < 0)
        return status;
    status = sweep_folder(store, store->job, &swept);
    for (size_t i = 0; i < count && status == 0; i++)
        status = sweep_entry(store, &entries[i], &swept);
    free(entries);
    if (status < 0)
        return store_fail_system(store, status, error, "job %s: leftovers cannot be removed",
                                 store->job_name);
    if (removed)
        *removed = swept;
    return 0;
}

int store_job_discard(struct store *store, char *error)
{
    struct store_entry *entries;
    size_t count;

    int status = store_sweep(store, NULL, error);
    if (status == 0)
        status = store_list(store, &entries, &count, error);
    if (status < 0)
        return status;
    free(entries);
    if (count > 0)
        return 0;
    status = store_remove_folder(store, store->base, store->job_name);
    return status < 0 ? store_fail_system(store, status, error, "job %s cannot be removed",
                                          store->job_name)
                      : 0;
}

/* ---- Pruning --------------------------------------------------------------------------------- */

static size_t find(const struct store_entry *entries, size_t count, uint64_t superstep,
                   uint32_t term)
{
    size_t i = 0;

    while (i < count && (entries[i].superstep != superstep || entries[i].term != term))
        i++;
    return i;
}

/* Marks what the images of a kept snapshot are based on.  Bases are older, so going through the
 * list from the newest to the oldest finds the bases of bases, too. */
static int keep_bases(struct store *store, const struct store_entry *entries, size_t count,
                      size_t index, bool *kept, char *error)
{
    struct manifest manifest;

    int status =
        store_manifest(store, entries[index].superstep, entries[index].term, &manifest, error);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < manifest.images.count; i++) {
        const struct manifest_image *image = &manifest.images.items[i];
        if (image->generation == 0)
            continue;
        size_t base = find(entries, count, image->base_superstep, image->base_term);
        if (base < count)
            kept[base] = true;
    }
    manifest_free(&manifest);
    return 0;
}

/* What is kept: the newest committed ones and the bases beneath them. */
static int choose(struct store *store, const struct store_entry *entries, size_t count,
                  uint32_t keep, bool *kept, char *error)
{
    for (size_t i = count; i-- > 0;) {
        if (entries[i].state == STORE_UNFINISHED)
            kept[i] = true; /* perhaps in the making: for store_sweep */
        if (entries[i].state == STORE_DAMAGED && entries[i].status != -EBADMSG)
            kept[i] = true; /* of another version, or not ours: not for us to judge */
        if (entries[i].state == STORE_COMMITTED && keep > 0) {
            kept[i] = true;
            keep--;
        }
        if (kept[i] && (entries[i].state == STORE_COMMITTED || entries[i].state == STORE_RETIRED)) {
            int status = keep_bases(store, entries, count, i, kept, error);
            if (status < 0)
                return status;
        }
    }
    return 0;
}

int store_prune(struct store *store, uint32_t keep, size_t *removed, char *error)
{
    struct store_entry *entries;
    size_t count, gone = 0;
    char name[SNAPSHOT_NAME];

    if (keep == 0)
        return store_fail(store, -EINVAL, error, "at least one snapshot must be kept");
    int status = store_list(store, &entries, &count, error);
    if (status < 0)
        return status;
    bool *kept = calloc(count + 1, sizeof(*kept));
    if (!kept) {
        free(entries);
        return store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    }
    status = choose(store, entries, count, keep, kept, error);
    /* From the newest: what is based on another goes before it. */
    for (size_t i = count; i-- > 0 && status == 0;) {
        if (kept[i])
            continue;
        store_snapshot_name(name, entries[i].superstep, entries[i].term);
        status = store_remove_folder(store, store->job, name);
        if (status < 0)
            store_fail_system(store, status, error, "snapshot %s cannot be removed", name);
        gone += status == 0;
    }
    free(kept);
    free(entries);
    if (status == 0 && removed)
        *removed = gone;
    return status;
}
