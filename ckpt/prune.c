/* prune.c - removes snapshots that are no longer needed or were never committed; see store.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/inside.h"

#define FOREIGN_NAME (SNAPSHOT_NAME + NAME_MAX + 2) /* "<superstep>.<term>/<name>" */

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);

    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* Agents on hosts that share the directory, and bsprun, may remove the same at the same time: one
 * whose job goes on without it, say, and one in its place. */
static int unless_gone(int status)
{
    return status == -ENOENT ? 0 : status;
}

/* When bsprun was killed, its agents may be clearing up too, or have a last image written: what is
 * gone by now is swept, and what has come by now is left to the next sweep. */
static int unless_shared(int status)
{
    return status == -ENOTEMPTY ? 0 : unless_gone(status);
}

/* Temporary files of a directory, which nobody writes any more. */
static int sweep_directory(struct store *store, int directory, size_t *removed)
{
    char **names;
    size_t count;

    int status = store_names(directory, &names, &count);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count && status == 0; i++)
        if (ends_with(names[i], TEMPORARY)) {
            status = store->io.unlink(store->io.context, directory, names[i], 0);
            *removed += status == 0;
            status = unless_shared(status);
        }
    store_names_free(names, count);
    return status;
}

static int sweep_entry(struct store *store, const struct store_entry *entry, size_t *removed)
{
    char name[SNAPSHOT_NAME];

    store_snapshot_name(name, entry->name);
    if (entry->state == STORE_UNFINISHED) {
        int status = store_remove_directory(store, store->job, name);
        *removed += status == 0;
        return unless_shared(status);
    }
    int directory = store_open_directory(store, store->job, name);
    if (directory < 0)
        return 0; /* not the caller's: reported by store_list */
    int status = sweep_directory(store, directory, removed);
    store->io.close(store->io.context, directory);
    return status;
}

int store_sweep(struct store *store, size_t *removed, char *error)
{
    struct store_entry *entries;
    size_t count, swept = 0;

    int status = store_list(store, &entries, &count, error);
    if (status < 0)
        return status;
    status = sweep_directory(store, store->job, &swept);
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
    status = unless_gone(store_remove_directory(store, store->base, store->job_name));
    return status < 0 ? store_fail_system(store, status, error, "job %s cannot be removed",
                                          store->job_name)
                      : 0;
}

/* ---- What is not of the job ------------------------------------------------------------------ */

/* Writes where a directory in that of a snapshot is. */
static int find_inside(const struct store *store, const struct store_visited *at, void *context)
{
    char *found = context, name[NAME_MAX + 1];

    (void)store;
    int status = at->directory < 0 ? 0 : store_find_directory(at->directory, false, name);
    if (status > 0)
        snprintf(found, FOREIGN_NAME, "%s/%s", at->name, name);
    return status;
}

/* Says why a snapshot cannot be removed. */
static int not_removed(const struct store *store, const char *name, int status, char *error)
{
    char found[NAME_MAX + 1];
    int directory = status == -EISDIR ? store_open_directory(store, store->job, name) : -1;
    bool foreign = directory >= 0 && store_find_directory(directory, false, found) > 0;

    if (directory >= 0)
        store->io.close(store->io.context, directory);
    return foreign ? store_fail(store, status, error,
                                "snapshot %s cannot be removed: the directory %s in it is no part "
                                "of it; move it away",
                                name, found)
                   : store_fail_system(store, status, error, "snapshot %s cannot be removed", name);
}

/* Fails if there is a directory in the job's, or in a snapshot's, that is no part of the job: with
 * half of its files gone the job would not be what it was, and still be there. */
static int refuse_foreign(struct store *store, char *error)
{
    char found[FOREIGN_NAME];

    int status = store_find_directory(store->job, true, found);
    if (status == 0)
        status = store_walk(store, find_inside, found);
    if (status < 0)
        return store_fail_system(store, status, error, "job %s cannot be removed", store->job_name);
    return status == 0 ? 0
                       : store_fail(store, -ENOTEMPTY, error,
                                    "job %s cannot be removed: the directory %s is no part of it; "
                                    "move it away",
                                    store->job_name, found);
}

/* ---- Removing a job -------------------------------------------------------------------------- */

int store_job_remove(struct store *store, char *error)
{
    struct store_entry *entries;
    size_t count;
    char name[SNAPSHOT_NAME];

    int status = refuse_foreign(store, error);
    if (status == 0)
        status = store_list_all(store, &entries, &count, error);
    if (status < 0)
        return status;
    /* From the newest: what is based on another goes before it. */
    for (size_t i = count; i-- > 0 && status == 0;) {
        store_snapshot_name(name, entries[i].name);
        status = unless_gone(store_remove_directory(store, store->job, name));
    }
    free(entries);
    if (status == 0)
        status = unless_gone(store_remove_directory(store, store->base, store->job_name));
    return status < 0 ? store_fail_system(store, status, error, "job %s cannot be removed",
                                          store->job_name)
                      : 0;
}

/* ---- Pruning --------------------------------------------------------------------------------- */

int store_prune(struct store *store, uint32_t keep, size_t *removed, char *error)
{
    return store_prune_but(store, keep, (struct bspz_snapshot_name){0, 0}, removed, error);
}

int store_prune_but(struct store *store, uint32_t keep, struct bspz_snapshot_name but,
                    size_t *removed, char *error)
{
    struct store_entry *entries;
    size_t count, gone = 0;
    char name[SNAPSHOT_NAME];

    if (keep == 0)
        return store_fail(store, -EINVAL, error, "at least one snapshot must be kept");
    int status = store_list(store, &entries, &count, error);
    if (status < 0)
        return status;
    enum store_role *roles = calloc(count + 1, sizeof(*roles));
    if (!roles) {
        free(entries);
        return store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    }
    status = store_roles(store, entries, count, keep, roles, error);
    if (status == 0)
        status = store_roles_with(store, entries, count, but, roles, error);
    if (status == -ENOENT) { /* somebody else removes some, and may know of newer ones to be kept */
        status = 0;
        count = 0;
    }
    /* From the newest: what is based on another goes before it. */
    for (size_t i = count; i-- > 0 && status == 0;) {
        if (roles[i] != STORE_UNNEEDED)
            continue;
        store_snapshot_name(name, entries[i].name);
        status = store_remove_directory(store, store->job, name);
        gone += status == 0;
        status = unless_gone(status);
        if (status < 0)
            not_removed(store, name, status, error);
    }
    free(roles);
    free(entries);
    if (status == 0 && removed)
        *removed = gone;
    return status;
}
