/* retention.c - which snapshots are retained, and why; see store.h.
 *
 * The newest ones and their bases are retained.  A damaged full image makes all increments based on
 * it useless: so a second snapshot that shares no image with the newest one, as soon as there is
 * any, is retained with its bases, too.
 *
 * What can fail: a manifest cannot be read, this time or until it is repaired.  What the snapshot
 * is based on is unknown then: where it is retained so is everything older. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/inside.h"

/* The direct bases of each snapshot of a list. */
struct bases {
    size_t **of; /* indices into the list, ended by `count`; NULL: unknown */
    size_t count;
};

static size_t find(const struct store_entry *entries, size_t count, struct bspz_snapshot_name name)
{
    size_t i = 0;

    while (i < count && !bspz_snapshot_same(entries[i].name, name))
        i++;
    return i;
}

/* Adds a base of the snapshot to the list of them, once. */
static void add_base(size_t *list, size_t base, size_t count)
{
    size_t i = 0;

    while (list[i] != count && list[i] != base)
        i++;
    if (list[i] == count) {
        list[i] = base;
        list[i + 1] = count;
    }
}

static int read_bases(struct store *store, const struct store_entry *entries, size_t index,
                      struct bases *bases, char *error)
{
    struct manifest manifest;
    size_t count = bases->count;

    int status = store_manifest(store, entries[index].name, &manifest, error);
    if (status < 0)
        return status;
    size_t *list = calloc((size_t)manifest.images.count + 1, sizeof(*list));
    if (list)
        list[0] = count;
    for (uint32_t i = 0; list && i < manifest.images.count; i++) {
        const struct manifest_image *image = &manifest.images.items[i];
        size_t base = image->facts.generation == 0
                          ? count
                          : find(entries, count, bspz_image_snapshot(&image->facts.base));
        if (base < index)
            add_base(list, base, count);
    }
    manifest_free(&manifest);
    bases->of[index] = list;
    return list ? 0 : store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
}

static void free_bases(struct bases *bases)
{
    for (size_t i = 0; bases->of && i < bases->count; i++)
        free(bases->of[i]);
    free(bases->of);
}

static bool can_be_read(const struct store_entry *entry)
{
    return entry->state == STORE_COMMITTED || entry->state == STORE_RETIRED;
}

static int read_all_bases(struct store *store, const struct store_entry *entries, size_t count,
                          struct bases *bases, char *error)
{
    int status = 0;

    *bases = (struct bases){.of = calloc(count + 1, sizeof(*bases->of)), .count = count};
    if (!bases->of)
        return store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    for (size_t i = 0; i < count && status == 0; i++)
        if (can_be_read(&entries[i]))
            status = read_bases(store, entries, i, bases, error);
    return status;
}

/* Marks the snapshot and all that may be its bases, direct and indirect.  Bases are older, so one
 * pass from the newest to the oldest suffices. */
static void mark_chain(const struct bases *bases, size_t index, bool *marks)
{
    memset(marks, 0, bases->count * sizeof(*marks));
    marks[index] = true;
    for (size_t i = index + 1; i-- > 0;) {
        if (!marks[i])
            continue;
        for (size_t k = 0; k < i && !bases->of[i]; k++)
            marks[k] = true;
        for (const size_t *base = bases->of[i]; base && *base != bases->count; base++)
            marks[*base] = true;
    }
}

static void keep_chain(const struct bases *bases, size_t index, bool *marks, enum store_role *roles)
{
    mark_chain(bases, index, marks);
    for (size_t i = 0; i < bases->count; i++)
        if (marks[i] && roles[i] == STORE_UNNEEDED)
            roles[i] = STORE_BASE;
}

/* The newest snapshot that shares no image with the newest of all; bases->count: there is none. */
static size_t find_second(const struct store_entry *entries, const struct bases *bases,
                          size_t newest, bool *first, bool *second)
{
    mark_chain(bases, newest, first);
    for (size_t i = newest; i-- > 0;) {
        bool apart = entries[i].state == STORE_COMMITTED;
        if (apart)
            mark_chain(bases, i, second);
        for (size_t k = 0; k <= i && apart; k++)
            apart = !(first[k] && second[k]);
        if (apart)
            return i;
    }
    return bases->count;
}

static void choose(const struct store_entry *entries, const struct bases *bases, uint32_t keep,
                   enum store_role *roles, bool *marks)
{
    size_t count = bases->count, newest = count;
    uint32_t left = keep;

    for (size_t i = count; i-- > 0;) {
        if (entries[i].state == STORE_UNFINISHED)
            roles[i] = STORE_LEFT_ALONE; /* possibly being written: left to store_sweep */
        if (entries[i].state == STORE_DAMAGED && entries[i].status != -EBADMSG)
            roles[i] = STORE_LEFT_ALONE; /* of another version, or not the caller's */
        if (entries[i].state != STORE_COMMITTED || left == 0)
            continue;
        newest = newest == count ? i : newest;
        roles[i] = STORE_NEWEST;
        left--;
        keep_chain(bases, i, marks, roles);
    }
    if (keep < 2 || newest == count)
        return;
    size_t second = find_second(entries, bases, newest, marks, marks + count);
    if (second == count)
        return;
    if (roles[second] != STORE_NEWEST)
        roles[second] = STORE_SECOND;
    keep_chain(bases, second, marks, roles);
}

int store_roles(struct store *store, const struct store_entry *entries, size_t count, uint32_t keep,
                enum store_role *roles, char *error)
{
    bool *marks = calloc(2 * count + 1, sizeof(*marks));
    struct bases bases = {0};

    for (size_t i = 0; i < count; i++)
        roles[i] = STORE_UNNEEDED;
    int status = marks ? read_all_bases(store, entries, count, &bases, error)
                       : store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    if (status == 0)
        choose(entries, &bases, keep, roles, marks);
    free_bases(&bases);
    free(marks);
    return status;
}

int store_roles_with(struct store *store, const struct store_entry *entries, size_t count,
                     struct bspz_snapshot_name name, enum store_role *roles, char *error)
{
    size_t at = find(entries, count, name);
    struct bases bases = {0};
    bool *marks;

    if (at == count ||
        (entries[at].state != STORE_COMMITTED && entries[at].state != STORE_DAMAGED) ||
        (roles[at] != STORE_UNNEEDED && roles[at] != STORE_LEFT_ALONE))
        return 0;
    marks = calloc(count + 1, sizeof(*marks));
    int status = marks ? read_all_bases(store, entries, count, &bases, error)
                       : store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    if (status == 0)
        keep_chain(&bases, at, marks, roles);
    free_bases(&bases);
    free(marks);
    return status;
}
