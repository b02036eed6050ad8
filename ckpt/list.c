/* list.c - the snapshots of a job, and the newest usable one; see store.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/inside.h"

/* ---- Listing --------------------------------------------------------------------------------- */

static uint64_t bytes_in(int directory)
{
    char **names;
    size_t count;
    uint64_t bytes = 0;
    struct stat about;

    if (store_names(directory, &names, &count) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (fstatat(directory, names[i], &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode))
            bytes += (uint64_t)about.st_size;
    store_names_free(names, count);
    return bytes;
}

static bool has_usable_copy(struct store *store, int directory, const struct store_entry *entry)
{
    struct manifest manifest;

    if (store_load_manifest(store, directory, MANIFEST_COPY, entry->name, &manifest, NULL) < 0)
        return false;
    manifest_free(&manifest);
    return true;
}

/* Loads the manifest; sets `state` and `why` if it cannot be.  The copy is written after it: where
 * only the copy was found, the snapshot may just have been committed, and in the time between the
 * two looks, however short, nobody may take it for a damaged one, which is removed. */
static int load(struct store *store, int directory, struct store_entry *entry,
                struct manifest *manifest)
{
    int status =
        store_load_manifest(store, directory, MANIFEST_NAME, entry->name, manifest, entry->why);
    bool has_copy = status == -ENOENT && has_usable_copy(store, directory, entry);

    if (has_copy) {
        status =
            store_load_manifest(store, directory, MANIFEST_NAME, entry->name, manifest, entry->why);
        has_copy = status == -ENOENT && has_usable_copy(store, directory, entry);
    }
    entry->state = status == -ENOENT && !has_copy ? STORE_UNFINISHED : STORE_DAMAGED;
    entry->status = status;
    if (has_copy) {
        entry->status = -EBADMSG;
        snprintf(entry->why, sizeof(entry->why),
                 "manifest: missing; bspckpt repair puts it back from its copy");
    }
    return status;
}

/* terms: NULL when unknown.  False: it has been removed meanwhile. */
static bool describe(struct store *store, const struct manifest_terms *terms, const char *name,
                     struct store_entry *entry)
{
    struct manifest manifest;

    int directory = store_open_directory(store, store->job, name);
    if (directory == -ENOENT)
        return false;
    if (directory < 0) {
        entry->state = STORE_DAMAGED;
        entry->status = directory;
        snprintf(entry->why, sizeof(entry->why), "%s", store_error_text(directory));
        return true;
    }
    entry->bytes = bytes_in(directory);
    int status = load(store, directory, entry, &manifest);
    store->io.close(store->io.context, directory);
    if (status < 0)
        return true;
    entry->state = !terms                             ? STORE_UNKNOWN
                   : store_counts(terms, entry->name) ? STORE_COMMITTED
                                                      : STORE_RETIRED;
    entry->why[0] = '\0';
    entry->nprocs = manifest.nprocs;
    entry->created = manifest.created;
    for (uint32_t i = 0; i < manifest.images.count; i++)
        if (manifest.images.items[i].facts.generation > entry->generation)
            entry->generation = manifest.images.items[i].facts.generation;
    manifest_free(&manifest);
    return true;
}

static int by_age(const void *a, const void *b)
{
    const struct store_entry *left = a, *right = b;

    return bspz_snapshot_order(left->name, right->name);
}

static int list(struct store *store, const struct manifest_terms *terms,
                struct store_entry **entries, size_t *count, char *error)
{
    char **names;
    size_t name_count, found = 0;

    int status = store_names(store->job, &names, &name_count);
    if (status < 0)
        return store_fail_system(store, status, error, "job %s", store->job_name);
    struct store_entry *found_ones = calloc(name_count + 1, sizeof(*found_ones));
    for (size_t i = 0; found_ones && i < name_count; i++)
        if (store_parse_snapshot(names[i], &found_ones[found].name))
            found += describe(store, terms, names[i], &found_ones[found]);
    store_names_free(names, name_count);
    if (!found_ones)
        return store_fail_system(store, -ENOMEM, error, "job %s", store->job_name);
    qsort(found_ones, found, sizeof(*found_ones), by_age);
    *entries = found_ones;
    *count = found;
    return 0;
}

int store_list(struct store *store, struct store_entry **entries, size_t *count, char *error)
{
    struct manifest_terms terms;

    int status = store_terms(store, &terms, error);
    if (status < 0)
        return status;
    status = list(store, &terms, entries, count, error);
    manifest_terms_free(&terms);
    return status;
}

int store_list_all(struct store *store, struct store_entry **entries, size_t *count, char *error)
{
    struct manifest_terms terms;

    if (store_terms(store, &terms, NULL) < 0)
        return list(store, NULL, entries, count, error);
    int status = list(store, &terms, entries, count, error);
    manifest_terms_free(&terms);
    return status;
}

/* ---- The newest ------------------------------------------------------------------------------ */

/* Keeps the text of the first fault. */
static void note_fault(void *context, const struct store_fault *fault)
{
    char *text = context;

    if (text[0])
        return;
    snprintf(text, MANIFEST_ERROR_SIZE,
             "the image of process %" PRId64 " in snapshot %" PRIu64 ".%" PRIu32 ": %s", fault->pid,
             fault->name.superstep, fault->name.term, fault->fault.text);
}

/* Where hosts share no directory, missing images may be in theirs. */
static bool may_be_elsewhere(const struct manifest *manifest, int status)
{
    return status == -ENOENT && manifest->hosts.count > 1;
}

/* Of what is damaged here they may have whole copies. */
static bool may_be_whole_elsewhere(const struct manifest *manifest, int status)
{
    return (status == -EBADMSG || status == -ESTALE) && manifest->hosts.count > 1;
}

/* damaged_too: 0 also where other hosts may have whole what is damaged here.  why: what is wrong
 * with it, or empty. */
static int try_entry(struct store *store, const struct store_entry *entry, bool damaged_too,
                     struct manifest *manifest, char *why)
{
    char text[MANIFEST_ERROR_SIZE] = "";
    bool whole_elsewhere = false;

    why[0] = '\0';
    if (entry->state == STORE_DAMAGED) {
        snprintf(why, MANIFEST_ERROR_SIZE, "cannot be used: %.400s", entry->why);
        return -EBADMSG;
    }
    int status = store_manifest(store, entry->name, manifest, text);
    if (status == 0) {
        status = store_check(store, manifest, false, note_fault, text);
        if (may_be_elsewhere(manifest, status))
            return 0;
        whole_elsewhere = may_be_whole_elsewhere(manifest, status);
        if (status < 0 && !(whole_elsewhere && damaged_too))
            manifest_free(manifest);
    }
    if (status < 0)
        snprintf(why, MANIFEST_ERROR_SIZE, "cannot be used%s: %.400s",
                 whole_elsewhere ? " unless another host has it whole" : "",
                 text[0] ? text : store_error_text(status));
    return whole_elsewhere && damaged_too ? 0 : status;
}

static void add_note(char *note, const struct store_entry *entry, const char *why)
{
    size_t used = strlen(note);

    snprintf(note + used, MANIFEST_ERROR_SIZE - used, "%ssnapshot %" PRIu64 ".%" PRIu32 " %s",
             used > 0 ? "; " : "", entry->name.superstep, entry->name.term, why);
}

/* What store_newest looks for. */
struct search {
    const struct manifest_terms *terms;
    uint64_t superstep, before;
    bool damaged_too; /* as for try_entry */
};

static bool find_newest(struct store *store, const struct search *search,
                        const struct store_entry *entries, size_t count, struct manifest *manifest,
                        char *note)
{
    char why[MANIFEST_ERROR_SIZE];
    bool found = false;

    note[0] = '\0';
    for (size_t i = count; i-- > 0 && !found;) {
        const struct store_entry *entry = &entries[i];
        if (entry->state == STORE_UNFINISHED || entry->name.superstep >= search->before ||
            (search->superstep != WIRE_NEVER && entry->name.superstep != search->superstep) ||
            !store_counts(search->terms, entry->name))
            continue;
        found = try_entry(store, entry, search->damaged_too, manifest, why) == 0;
        if (why[0])
            add_note(note, entry, why);
    }
    return found;
}

int store_newest(struct store *store, uint64_t superstep, uint64_t before,
                 struct manifest *manifest, char *note, char *error)
{
    struct manifest_terms terms;
    struct store_entry *entries;
    size_t count;

    note[0] = '\0';
    int status = store_list(store, &entries, &count, error);
    if (status < 0)
        return status;
    if ((status = store_terms(store, &terms, error)) < 0) {
        free(entries);
        return status;
    }
    struct search search = {.terms = &terms, .superstep = superstep, .before = before};
    bool found = find_newest(store, &search, entries, count, manifest, note);
    /* Whether hosts share the directory cannot be seen here: one that is whole is preferred. */
    search.damaged_too = true;
    found = found || find_newest(store, &search, entries, count, manifest, note);
    manifest_terms_free(&terms);
    free(entries);
    if (found)
        return 0;
    if (note[0])
        return store_fail(store, -ENOENT, error, "job %s: no snapshot can be used: %.300s",
                          store->job_name, note);
    if (superstep != WIRE_NEVER)
        return store_fail(store, -ENOENT, error, "job %s has no snapshot of superstep %" PRIu64,
                          store->job_name, superstep);
    return store_fail(store, -ENOENT, error, "job %s has no snapshot", store->job_name);
}
