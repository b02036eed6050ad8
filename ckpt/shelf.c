/* shelf.c - what snapshots there are, and whether they can be used; see store.h. */
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

/* ---- Which count ----------------------------------------------------------------------------- */

/* The last term goes back to a snapshot of an earlier one, that to one before: what lies on this
 * way counts. */
bool store_counts(const struct manifest_terms *terms, uint64_t superstep, uint32_t term)
{
    uint64_t limit = UINT64_MAX;
    uint32_t expected = 0;

    for (uint32_t i = terms->terms.count; i-- > 0;) {
        const struct manifest_term *began = &terms->terms.items[i];
        if (expected != 0 && began->term != expected)
            continue;
        if (began->term == term)
            return superstep <= limit;
        if (began->superstep < limit)
            limit = began->superstep;
        expected = began->from_term;
        if (expected == 0)
            return false;
    }
    return false;
}

/* ---- Manifests ------------------------------------------------------------------------------- */

int store_folder_manifest(const struct store *store, int folder, uint64_t superstep, uint32_t term,
                          struct manifest *manifest, char *error)
{
    void *bytes;
    size_t size;

    int status = store_io_load(&store->io, folder, MANIFEST_NAME, SEALED_FILE_MAX, &bytes, &size);
    if (status < 0)
        return wire_fail(error, MANIFEST_ERROR_SIZE, status, "manifest: %s",
                         store_error_text(status));
    status = manifest_decode(bytes, size, manifest, error);
    free(bytes);
    if (status == 0 && (manifest->superstep != superstep || manifest->term != term)) {
        manifest_free(manifest);
        return wire_fail(error, MANIFEST_ERROR_SIZE, -EBADMSG,
                         "manifest: it belongs to another snapshot");
    }
    return status;
}

static int open_snapshot(struct store *store, uint64_t superstep, uint32_t term, char *error)
{
    char name[SNAPSHOT_NAME];

    store_snapshot_name(name, superstep, term);
    int folder = store_open_folder(store, store->job, name);
    return folder < 0 ? store_fail_system(store, folder, error, "snapshot %s", name) : folder;
}

int store_manifest(struct store *store, uint64_t superstep, uint32_t term,
                   struct manifest *manifest, char *error)
{
    char text[MANIFEST_ERROR_SIZE];

    int folder = open_snapshot(store, superstep, term, error);
    if (folder < 0)
        return folder;
    int status = store_folder_manifest(store, folder, superstep, term, manifest, text);
    store->io.close(store->io.context, folder);
    return status < 0 ? store_fail(store, status, error, "snapshot %" PRIu64 ".%" PRIu32 ": %.300s",
                                   superstep, term, text)
                      : 0;
}

static int open_file(struct store *store, uint64_t superstep, uint32_t term, const char *name,
                     uint64_t *size, char *error)
{
    int folder = open_snapshot(store, superstep, term, error);
    if (folder < 0)
        return folder;
    int file = store_io_open(&store->io, folder, name, size);
    store->io.close(store->io.context, folder);
    return file < 0 ? store_fail_system(store, file, error, "snapshot %" PRIu64 ".%" PRIu32 ": %s",
                                        superstep, term, name)
                    : file;
}

int store_image_open(struct store *store, uint64_t superstep, uint32_t term, uint32_t pid,
                     uint64_t *size, char *error)
{
    char name[IMAGE_NAME];

    store_image_name(name, pid);
    return open_file(store, superstep, term, name, size, error);
}

int store_manifest_open(struct store *store, uint64_t superstep, uint32_t term, uint64_t *size,
                        char *error)
{
    return open_file(store, superstep, term, MANIFEST_NAME, size, error);
}

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
    if (store_manifest_copy(store, folder, entry->superstep, entry->term, &manifest) < 0)
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
    int status =
        store_folder_manifest(store, folder, entry->superstep, entry->term, &manifest, entry->why);
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

/* ---- Checking -------------------------------------------------------------------------------- */

/* An image file being looked at. */
struct looking {
    struct store *store;
    int file;
    void *scratch;
    struct bspz_image image;
    struct store_fault about;
};

static int read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
    struct looking *looking = context;

    return store_io_read(&looking->store->io, looking->file, offset, bytes, size);
}

/* Opens the image of that name and compares it with what is expected of it. */
static int look(struct looking *looking, const struct bspz_image_name *name,
                const struct manifest *manifest)
{
    struct bspz_image_source source = {.read = read_image, .context = looking};
    struct bspz_image_expected expected = {
        .job = manifest->job.data, .name = name, .nprocs = manifest->nprocs};
    struct bspz_image_fault *fault = &looking->about.fault;
    char text[MANIFEST_ERROR_SIZE];

    looking->about.superstep = name->superstep;
    looking->about.term = name->term;
    looking->about.pid = name->pid;
    *fault = (struct bspz_image_fault){0};
    looking->file = store_image_open(looking->store, name->superstep, name->term, name->pid,
                                     &source.size, text);
    if (looking->file < 0) {
        snprintf(fault->text, sizeof(fault->text), "%s", store_error_text(looking->file));
        return looking->file;
    }
    int status = bspz_image_open(&looking->image, &source, looking->scratch, fault);
    return status < 0 ? status : bspz_image_expect(&looking->image, &expected, fault);
}

static void leave(struct looking *looking)
{
    if (looking->file >= 0)
        looking->store->io.close(looking->store->io.context, looking->file);
    looking->file = -1;
}

static int check_bytes(struct looking *looking)
{
    void *memory = malloc(bspz_image_memory(&looking->image));

    if (!memory) {
        snprintf(looking->about.fault.text, sizeof(looking->about.fault.text), "out of memory");
        return -ENOMEM;
    }
    int status = bspz_image_load(&looking->image, memory, &looking->about.fault);
    if (status == 0)
        status = bspz_image_verify(&looking->image, &looking->about.fault);
    free(memory);
    return status;
}

static int wrong_header(struct looking *looking, const char *text)
{
    snprintf(looking->about.fault.text, sizeof(looking->about.fault.text), "%s", text);
    return -ESTALE;
}

/* The image and everything beneath it. */
static int check_chain(struct looking *looking, const struct manifest *manifest,
                       const struct manifest_image *image, bool deep)
{
    struct bspz_image_name name = {
        .superstep = manifest->superstep, .term = manifest->term, .pid = image->image_pid};
    struct bspz_image_name base = {
        .superstep = image->base_superstep, .term = image->base_term, .pid = image->base_pid};

    memcpy(name.digest, image->digest.data, sizeof(name.digest));
    if (image->generation > 0)
        memcpy(base.digest, image->base_digest.data, sizeof(base.digest));
    int status = look(looking, &name, manifest);
    const struct bspz_image_header *header = &looking->image.header;
    if (status == 0 && looking->image.source.size != image->size)
        status = wrong_header(looking, "another size than the manifest says");
    if (status == 0 && (header->generation != image->generation ||
                        memcmp(&header->base, &base, sizeof(base)) != 0))
        status = wrong_header(looking, "another base than the manifest says");
    if (status == 0 && deep)
        status = check_bytes(looking);
    leave(looking);
    for (uint32_t generation = image->generation; status == 0 && generation > 0; generation--) {
        name = header->base;
        status = look(looking, &name, manifest);
        if (status == 0 && header->generation != generation - 1)
            status = wrong_header(looking, "a base out of order");
        leave(looking);
    }
    return status;
}

/* Whether an earlier process of the manifest has the same image. */
static bool seen_before(const struct manifest *manifest, uint32_t i)
{
    const struct manifest_image *images = manifest->images.items;

    return images[i].image_pid < i &&
           images[images[i].image_pid].image_pid == images[i].image_pid &&
           images[images[i].image_pid].size == images[i].size &&
           memcmp(images[images[i].image_pid].digest.data, images[i].digest.data,
                  MANIFEST_DIGEST) == 0;
}

int store_check(struct store *store, const struct manifest *manifest, bool deep,
                store_fault_function *tell, void *context)
{
    struct looking looking = {.store = store, .file = -1};
    int first = 0;

    looking.scratch = aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH);
    if (!looking.scratch)
        return -ENOMEM;
    for (uint32_t i = 0; i < manifest->images.count; i++) {
        if (seen_before(manifest, i))
            continue;
        int status = check_chain(&looking, manifest, &manifest->images.items[i], deep);
        if (status == 0)
            continue;
        looking.about.status = status;
        if (tell)
            tell(context, &looking.about);
        if (first == 0)
            first = status;
    }
    free(looking.scratch);
    return first;
}

int store_image_check(struct store *store, int descriptor, const struct bspz_image_name *name,
                      char *error)
{
    struct looking looking = {.store = store, .file = descriptor};
    struct bspz_image_source source = {.read = read_image, .context = &looking};
    const struct bspz_image_expected expected = {.name = name};
    struct stat about;
    int status = fstat(descriptor, &about) == 0 ? 0 : -errno;

    source.size = status == 0 ? (uint64_t)about.st_size : 0;
    looking.scratch = aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH);
    if (!looking.scratch)
        status = -ENOMEM;
    if (status == 0)
        status = bspz_image_open(&looking.image, &source, looking.scratch, &looking.about.fault);
    if (status == 0)
        status = bspz_image_expect(&looking.image, &expected, &looking.about.fault);
    if (status == 0)
        status = check_bytes(&looking);
    free(looking.scratch);
    return status == 0 ? 0
                       : store_fail(store, status, error, "the image of process %" PRIu32 ": %s",
                                    name->pid,
                                    looking.about.fault.text[0] ? looking.about.fault.text
                                                                : store_error_text(status));
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
