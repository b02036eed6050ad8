/* retention.c - which snapshots are kept, and why; see store.h.
 *
 * The newest ones, and what their images are based on.  A full image that is damaged takes with it
 * all that is based on it: so there is always a second snapshot kept that shares no image with the
 * newest one, as soon as there is any, and what that is based on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/inside.h"

#define NO_BASE UINT32_MAX

/* An image of a snapshot: the process whose file it is, and the image that it adds to. */
struct link {
    uint32_t file;
    uint32_t base; /* index of the snapshot, or NO_BASE */
    uint32_t base_pid;
};

/* The images of the snapshots of a list.  The processes of a job begin their chains each at a
 * snapshot of its own, those of another host at another one: so what a snapshot builds on is found
 * image by image. */
struct links {
    struct link **of; /* by snapshot and process; NULL: it cannot be read */
    uint32_t *nprocs;
    size_t count;
    uint32_t widest; /* the most processes that any of them has */
};

static uint32_t find(const struct store_entry *entries, size_t count, uint64_t superstep,
                     uint32_t term)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].superstep == superstep && entries[i].term == term)
            return (uint32_t)i;
    return NO_BASE;
}

static int read_links(struct store *store, const struct store_entry *entries, size_t index,
                      struct links *links, char *error)
{
    struct manifest manifest;
    int status =
        store_manifest(store, entries[index].superstep, entries[index].term, &manifest, error);

    if (status < 0)
        return status;
    uint32_t nprocs = manifest.images.count;
    struct link *list = calloc((size_t)nprocs + 1, sizeof(*list));
    for (uint32_t pid = 0; list && pid < nprocs; pid++) {
        const struct manifest_image *image = &manifest.images.items[pid];

        list[pid] = (struct link){image->image_pid, NO_BASE, image->base_pid};
        /* Bases are older: no damaged manifest leads in a circle. */
        if (image->generation > 0)
            list[pid].base = find(entries, index, image->base_superstep, image->base_term);
    }
    manifest_free(&manifest);
    links->of[index] = list;
    links->nprocs[index] = nprocs;
    links->widest = nprocs > links->widest ? nprocs : links->widest;
    return list ? 0 : store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
}

static void free_links(struct links *links)
{
    for (size_t i = 0; links->of && i < links->count; i++)
        free(links->of[i]);
    free(links->of);
    free(links->nprocs);
}

static bool can_be_read(const struct store_entry *entry)
{
    return entry->state == STORE_COMMITTED || entry->state == STORE_RETIRED;
}

static int read_all_links(struct store *store, const struct store_entry *entries, size_t count,
                          struct links *links, char *error)
{
    int status = 0;

    *links = (struct links){.of = calloc(count + 1, sizeof(*links->of)),
                            .nprocs = calloc(count + 1, sizeof(*links->nprocs)),
                            .count = count};
    if (!links->of || !links->nprocs)
        return store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    for (size_t i = 0; i < count && status == 0; i++)
        if (can_be_read(&entries[i]))
            status = read_links(store, entries, i, links, error);
    return status;
}

/* ---- Chains ------------------------------------------------------------------------------- */

typedef bool visit_fn(void *context, uint32_t snapshot, uint32_t file);

/* Every image that a snapshot consists of, its own and those beneath, until the visitor returns
 * false: then false.  What cannot be read has no base that is known. */
static bool for_each_image(const struct links *links, size_t snapshot, visit_fn *visit,
                           void *context)
{
    for (uint32_t first = 0; first < links->nprocs[snapshot]; first++) {
        uint32_t index = (uint32_t)snapshot, pid = first;

        while (index != NO_BASE && pid < links->widest) {
            bool known = links->of[index] && pid < links->nprocs[index];
            struct link link =
                known ? links->of[index][pid] : (struct link){.file = pid, .base = NO_BASE};

            if (link.file < links->widest && !visit(context, index, link.file))
                return false;
            index = link.base;
            pid = link.base_pid;
        }
    }
    return true;
}

static bool keep_image(void *context, uint32_t snapshot, uint32_t file)
{
    enum store_role *roles = context;

    (void)file;
    if (roles[snapshot] == STORE_UNNEEDED)
        roles[snapshot] = STORE_BASE;
    return true;
}

static void keep_chains(const struct links *links, size_t snapshot, enum store_role *roles)
{
    for_each_image(links, snapshot, keep_image, roles);
}

struct marks {
    bool *of; /* by snapshot and file */
    uint32_t widest;
};

static bool mark_image(void *context, uint32_t snapshot, uint32_t file)
{
    const struct marks *marks = context;

    marks->of[(size_t)snapshot * marks->widest + file] = true;
    return true;
}

static bool is_unmarked(void *context, uint32_t snapshot, uint32_t file)
{
    const struct marks *marks = context;

    return !marks->of[(size_t)snapshot * marks->widest + file];
}

/* The newest snapshot that shares nothing with the newest of all; links->count: there is none.  -1:
 * no memory. */
static ssize_t find_second(const struct store_entry *entries, const struct links *links,
                           size_t newest)
{
    struct marks marks = {calloc((newest + 1) * links->widest + 1, sizeof(*marks.of)),
                          links->widest};
    size_t second = links->count;

    if (!marks.of)
        return -1;
    for_each_image(links, newest, mark_image, &marks);
    for (size_t i = newest; i-- > 0 && second == links->count;)
        if (entries[i].state == STORE_COMMITTED && for_each_image(links, i, is_unmarked, &marks))
            second = i;
    free(marks.of);
    return (ssize_t)second;
}

/* 0 or -ENOMEM. */
static int choose(const struct store_entry *entries, const struct links *links, uint32_t keep,
                  enum store_role *roles)
{
    size_t count = links->count, newest = count;
    uint32_t left = keep;

    for (size_t i = count; i-- > 0;) {
        if (entries[i].state == STORE_UNFINISHED)
            roles[i] = STORE_LEFT_ALONE; /* perhaps in the making: for store_sweep */
        if (entries[i].state == STORE_DAMAGED && entries[i].status != -EBADMSG)
            roles[i] = STORE_LEFT_ALONE; /* of another version, or not ours: not for us to judge */
        if (entries[i].state != STORE_COMMITTED || left == 0)
            continue;
        newest = newest == count ? i : newest;
        roles[i] = STORE_NEWEST;
        left--;
        keep_chains(links, i, roles);
    }
    if (keep < 2 || newest == count)
        return 0;
    ssize_t second = find_second(entries, links, newest);
    if (second < 0)
        return -ENOMEM;
    if ((size_t)second == count)
        return 0;
    if (roles[second] != STORE_NEWEST)
        roles[second] = STORE_SECOND;
    keep_chains(links, (size_t)second, roles);
    return 0;
}

int store_roles(struct store *store, const struct store_entry *entries, size_t count, uint32_t keep,
                enum store_role *roles, char *error)
{
    struct links links = {0};

    for (size_t i = 0; i < count; i++)
        roles[i] = STORE_UNNEEDED;
    int status = read_all_links(store, entries, count, &links, error);
    if (status == 0 && choose(entries, &links, keep, roles) < 0)
        status = store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    free_links(&links);
    return status;
}
