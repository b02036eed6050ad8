/* list.c - which snapshots a job has, and the newest that can be used; see store.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/inside.h"
#include "lib/wire/schema.h"

/* ---- Listing --------------------------------------------------------------------------------- */

static uint64_t bytes_in(int folder)
{
    char **names;
    size_t count;
    uint64_t bytes = 0;
    struct stat about;

    if (store_names(folder, &names, &count) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (fstatat(folder, names[i], &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
            bytes += (uint64_t)about.st_size;
    store_names_free(names, count);
    return bytes;
}

/* Without a manifest: is there one to be had? */
static void describe_unfinished(struct store *store, int folder, struct store_entry *entry)
{
    struct manifest manifest;

    entry->state = STORE_UNFINISHED;
    if (store_load_manifest(store, folder, MANIFEST_COPY, entry->superstep, entry->term, &manifest,
                            NULL) < 0)
        return;
    manifest_free(&manifest);
    entry->state = STORE_DAMAGED;
    entry->status = -EBADMSG;
    snprintf(entry->why, sizeof(entry->why),
             "manifest: missing; bspckpt repair puts it back from its copy");
}

/* terms: NULL when nobody knows. */
static void describe(struct store *store, const struct manifest_terms *terms, const char *name,
                     struct store_entry *entry)
{
    struct manifest manifest;

    int folder = store_open_folder(store, store->job, name);
    if (folder < 0) {
        entry->state = STORE_DAMAGED;
        entry->status = folder;
        snprintf(entry->why, sizeof(entry->why), "%s", store_error_text(folder));
        return;
    }
    entry->bytes = bytes_in(folder);
    int status = store_load_manifest(store, folder, MANIFEST_NAME, entry->superstep, entry->term,
                                     &manifest, entry->why);
    entry->state = STORE_DAMAGED;
    entry->status = status;
    if (status == -ENOENT)
        describe_unfinished(store, folder, entry);
    store->io.close(store->io.context, folder);
    if (status < 0)
        return;
    entry->state = !terms ? STORE_UNKNOWN
                   : store_counts(terms, entry->superstep, entry->term) ? STORE_COMMITTED
                                                                        : STORE_RETIRED;
    entry->why[0] = '\0';
    entry->nprocs = manifest.nprocs;
    entry->created = manifest.created;
    for (uint32_t i = 0; i < manifest.images.count; i++)
        if (manifest.images.items[i].generation > entry->generation)
            entry->generation = manifest.images.items[i].generation;
    manifest_free(&manifest);
}

static int by_age(const void *a, const void *b)
{
    const struct store_entry *left = a, *right = b;

    if (left->superstep != right->superstep)
        return left->superstep < right->superstep ? -1 : 1;
    return left->term < right->term ? -1 : left->term > right->term;
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
        if (store_parse_snapshot(names[i], &found_ones[found].superstep, &found_ones[found].term))
            describe(store, terms, names[i], &found_ones[found++]);
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

/* Keeps the first fault in words. */
static void note_fault(void *context, const struct store_fault *fault)
{
    char *text = context;

    if (text[0])
        return;
    snprintf(text, MANIFEST_ERROR_SIZE,
             "the image of process %" PRId64 " in snapshot %" PRIu64 ".%" PRIu32 ": %s", fault->pid,
             fault->superstep, fault->term, fault->fault.text);
}

/* Where hosts shared no directory, the rest is in theirs. */
static bool may_be_elsewhere(const struct manifest *manifest, int status)
{
    return status == -ENOENT && manifest->hosts.count > 1;
}

static int try_entry(struct store *store, const struct store_entry *entry,
                     struct manifest *manifest, char *why)
{
    char text[MANIFEST_ERROR_SIZE] = "";

    if (entry->state == STORE_DAMAGED) {
        snprintf(why, MANIFEST_ERROR_SIZE, "%s", entry->why);
        return -EBADMSG;
    }
    int status = store_manifest(store, entry->superstep, entry->term, manifest, text);
    if (status == 0) {
        status = store_check(store, manifest, false, note_fault, text);
        if (may_be_elsewhere(manifest, status))
            status = 0;
        if (status < 0)
            manifest_free(manifest);
    }
    if (status < 0)
        snprintf(why, MANIFEST_ERROR_SIZE, "%s", text[0] ? text : store_error_text(status));
    return status;
}

static void add_note(char *note, const struct store_entry *entry, const char *why)
{
    size_t used = strlen(note);

    snprintf(note + used, MANIFEST_ERROR_SIZE - used,
             "%ssnapshot %" PRIu64 ".%" PRIu32 " cannot be used: %s", used > 0 ? "; " : "",
             entry->superstep, entry->term, why);
}

int store_newest(struct store *store, uint64_t superstep, uint64_t before,
                 struct manifest *manifest, char *note, char *error)
{
    struct manifest_terms terms;
    struct store_entry *entries;
    size_t count;
    char why[MANIFEST_ERROR_SIZE];
    bool found = false;

    note[0] = '\0';
    int status = store_list(store, &entries, &count, error);
    if (status < 0)
        return status;
    if ((status = store_terms(store, &terms, error)) < 0) {
        free(entries);
        return status;
    }
    for (size_t i = count; i-- > 0 && !found;) {
        const struct store_entry *entry = &entries[i];
        if (entry->state == STORE_UNFINISHED || entry->superstep >= before ||
            (superstep != WIRE_NEVER && entry->superstep != superstep) ||
            !store_counts(&terms, entry->superstep, entry->term))
            continue;
        if (try_entry(store, entry, manifest, why) == 0)
            found = true;
        else
            add_note(note, entry, why);
    }
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
