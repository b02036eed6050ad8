/* snapshot_write.c - writing a snapshot: its directory, its images, its manifest; see store.h.
 *
 * Order of durability: the directory's entry before anything in it counts, each image before its
 * name, all names before the manifest.  So an existing manifest refers to existing images. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/inside.h"

struct store_snapshot {
    struct store *store;
    struct bspz_snapshot_name which;
    int directory;
    bool alone; /* else other hosts write to it, too */
    char name[SNAPSHOT_NAME];
};

static int fail(const struct store_snapshot *snapshot, int status, char *error, const char *what)
{
    return store_fail_system(snapshot->store, status, error, "snapshot %s: %s", snapshot->name,
                             what);
}

/* Empties a directory that an interrupted snapshot left. */
static int clear_directory(const struct store_snapshot *snapshot)
{
    const struct store_io *io = &snapshot->store->io;
    char **names;
    size_t count;

    int status = store_names(snapshot->directory, &names, &count);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count && status == 0; i++)
        if (strcmp(names[i], MANIFEST_NAME) == 0)
            status = -EEXIST;
    for (size_t i = 0; i < count && status == 0; i++)
        status = io->unlink(io->context, snapshot->directory, names[i], 0);
    store_names_free(names, count);
    return status;
}

static int begin(struct store *store, struct bspz_snapshot_name name, bool alone,
                 struct store_snapshot **result, char *error)
{
    const struct store_io *io = &store->io;
    struct store_snapshot *snapshot = calloc(1, sizeof(*snapshot));

    if (!snapshot)
        return store_fail_system(store, -ENOMEM, error, "no snapshot");
    snapshot->store = store;
    snapshot->which = name;
    snapshot->directory = -1;
    snapshot->alone = alone;
    store_snapshot_name(snapshot->name, name);
    int status = io->make_directory(io->context, store->job, snapshot->name, 0700);
    if (status == 0 || status == -EEXIST)
        status = snapshot->directory = store_open_directory(store, store->job, snapshot->name);
    if (status >= 0 && alone)
        status = clear_directory(snapshot);
    if (status < 0) {
        fail(snapshot, status, error, "cannot be begun");
        if (snapshot->directory >= 0)
            io->close(io->context, snapshot->directory);
        free(snapshot);
        return status;
    }
    *result = snapshot;
    return 0;
}

int store_snapshot_begin(struct store *store, struct bspz_snapshot_name name,
                         struct store_snapshot **result, char *error)
{
    return begin(store, name, true, result, error);
}

int store_snapshot_join(struct store *store, struct bspz_snapshot_name name,
                        struct store_snapshot **result, char *error)
{
    return begin(store, name, false, result, error);
}

void store_snapshot_leave(struct store_snapshot *snapshot)
{
    if (!snapshot)
        return;
    snapshot->store->io.close(snapshot->store->io.context, snapshot->directory);
    free(snapshot);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void temporary_name(char name[IMAGE_NAME + 8], uint32_t pid)
{
    char image[IMAGE_NAME];

    store_image_name(image, pid);
    snprintf(name, IMAGE_NAME + 8, "%s%s", image, TEMPORARY);
}

int store_image_create(struct store_snapshot *snapshot, uint32_t pid, char *error)
{
    const struct store_io *io = &snapshot->store->io;
    char name[IMAGE_NAME + 8];

    temporary_name(name, pid);
    io->unlink(io->context, snapshot->directory, name, 0);
    int file = io->open(io->context, snapshot->directory, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    return file < 0 ? fail(snapshot, file, error, name) : file;
}

int store_image_path(struct store_snapshot *snapshot, uint32_t pid, char *path, size_t size,
                     char *error)
{
    const struct store *store = snapshot->store;
    const struct store_io *io = &store->io;
    char name[IMAGE_NAME + 8], full[PATH_MAX];

    temporary_name(name, pid);
    if (snapshot->alone)
        io->unlink(io->context, snapshot->directory, name, 0);
    /* The process may have another working directory. */
    if (!realpath(store->path, full))
        return fail(snapshot, -errno, error, name);
    int length = snprintf(path, size, "%s/%s/%s/%s", full, store->job_name, snapshot->name, name);
    return length >= 0 && (size_t)length < size ? 0 : fail(snapshot, -ENAMETOOLONG, error, name);
}

int store_image_finish(struct store_snapshot *snapshot, uint32_t pid, int descriptor, char *error)
{
    const struct store_io *io = &snapshot->store->io;
    char temporary[IMAGE_NAME + 8], name[IMAGE_NAME];

    temporary_name(temporary, pid);
    store_image_name(name, pid);
    bool durable = descriptor < 0;
    if (descriptor < 0)
        descriptor = store_io_open(io, snapshot->directory, temporary, NULL);
    if (descriptor < 0)
        return fail(snapshot, descriptor, error, name);
    int status = durable ? 0 : io->sync(io->context, descriptor);
    int closed = io->close(io->context, descriptor);
    if (status == 0)
        status = closed;
    if (status == 0)
        status = io->rename(io->context, snapshot->directory, temporary, name);
    return status < 0 ? fail(snapshot, status, error, name) : 0;
}

int store_image_take(struct store_snapshot *snapshot, uint32_t pid, uint64_t length, char *error)
{
    char name[IMAGE_NAME + 8];
    struct stat about;

    temporary_name(name, pid);
    if (fstatat(snapshot->directory, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(snapshot, -errno, error, name);
    if ((uint64_t)about.st_size != length)
        return store_fail(snapshot->store, -EINVAL, error,
                          "snapshot %s: %s has %jd bytes, and its writer has written %" PRIu64,
                          snapshot->name, name, (intmax_t)about.st_size, length);
    return store_image_finish(snapshot, pid, -1, error);
}

/* ---- The manifest ---------------------------------------------------------------------------- */

static int check_own_image(const struct store_snapshot *snapshot,
                           const struct manifest_image *image, char *error)
{
    char name[IMAGE_NAME];
    struct stat about;

    store_image_name(name, image->image_pid);
    if (fstatat(snapshot->directory, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(snapshot, -errno, error, name);
    if ((uint64_t)about.st_size != image->facts.size)
        return store_fail(snapshot->store, -EINVAL, error,
                          "snapshot %s: %s has %jd bytes, and the manifest says %" PRIu64,
                          snapshot->name, name, (intmax_t)about.st_size, image->facts.size);
    return 0;
}

/* The snapshots on which one is based, as far as they have been looked at. */
struct bases {
    struct bspz_snapshot_name found[4 * BSPZ_IMAGE_CHAIN_MAX];
    size_t count;
};

/* Once each, as long as there is room. */
static void add_base(struct bases *bases, struct bspz_snapshot_name name)
{
    for (size_t i = 0; i < bases->count; i++)
        if (bspz_snapshot_same(bases->found[i], name))
            return;
    if (bases->count < sizeof(bases->found) / sizeof(bases->found[0]))
        bases->found[bases->count++] = name;
}

/* Lists the bases of the images. */
static void add_bases(struct bases *bases, const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->images.count; i++) {
        const struct bspz_image_facts *facts = &manifest->images.items[i].facts;
        if (facts->generation > 0)
            add_base(bases, bspz_image_snapshot(&facts->base));
    }
}

/* Everything that the snapshot is based on must still be there: somebody may have removed it to get
 * room on the disk. */
static int check_bases(const struct store_snapshot *snapshot, const struct manifest *manifest,
                       char *error)
{
    struct bases bases = {.count = 0};
    char text[MANIFEST_ERROR_SIZE], name[SNAPSHOT_NAME];

    add_bases(&bases, manifest);
    for (size_t i = 0; i < bases.count; i++) {
        struct manifest base;
        int status = store_manifest(snapshot->store, bases.found[i], &base, text);
        store_snapshot_name(name, bases.found[i]);
        if (status == -ENOENT)
            return store_fail(snapshot->store, -ESTALE, error,
                              "snapshot %s: its base %s is not there any more", snapshot->name,
                              name);
        if (status < 0)
            return store_fail(snapshot->store, status == -EBADMSG ? -ESTALE : status, error,
                              "snapshot %s: its base: %.300s", snapshot->name, text);
        add_bases(&bases, &base);
        manifest_free(&base);
    }
    return 0;
}

int store_bases_are_there(struct store *store, struct bspz_snapshot_name name, char *error)
{
    struct store_snapshot of = {.store = store};
    struct manifest manifest;

    store_snapshot_name(of.name, name);
    int status = store_manifest(store, name, &manifest, error);
    if (status < 0)
        return status == -ENOENT || status == -EBADMSG ? -ESTALE : status;
    status = check_bases(&of, &manifest, error);
    manifest_free(&manifest);
    return status;
}

static int check_images(const struct store_snapshot *snapshot, const struct manifest *manifest,
                        char *error)
{
    if (!bspz_snapshot_same(manifest->name, snapshot->which))
        return store_fail(snapshot->store, -EINVAL, error,
                          "snapshot %s: the manifest of another one", snapshot->name);
    for (uint32_t i = 0; i < manifest->images.count; i++) {
        int status = check_own_image(snapshot, &manifest->images.items[i], error);
        if (status < 0)
            return status;
    }
    return check_bases(snapshot, manifest, error);
}

/* Creates the file `counts`, valid until a term begins from an older snapshot.  That may already
 * have happened if the writer was cut off; see terms.c. */
static int mark_counting(const struct store_snapshot *snapshot)
{
    const struct store *store = snapshot->store;
    const struct store_io *io = &store->io;
    struct manifest_terms terms;

    if (store_load_terms(store, store->job, &terms, NULL) < 0)
        return 0; /* the snapshot is valid, but cannot be repaired */
    bool counts = store_counts(&terms, snapshot->which);
    manifest_terms_free(&terms);
    if (!counts)
        return 0;
    int file = io->open(io->context, snapshot->directory, COUNTS_NAME, O_WRONLY | O_CREAT, 0600);
    return file < 0 ? file : io->close(io->context, file);
}

/* For bspckpt repair, should the manifest be lost.  The snapshot does not need the copy, so it is
 * not synced, and errors are ignored. */
static void copy_manifest(const struct store_snapshot *snapshot, const void *bytes, size_t size)
{
    const struct store_io *io = &snapshot->store->io;

    io->unlink(io->context, snapshot->directory, MANIFEST_COPY, 0);
    int file = io->open(io->context, snapshot->directory, MANIFEST_COPY,
                        O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0)
        return;
    store_io_write(io, file, bytes, size);
    io->close(io->context, file);
}

/* Commits the snapshot.  The manifest's bytes are synced first: a journaling file system then
 * writes the names as well. */
static int publish(const struct store_snapshot *snapshot, const void *bytes, size_t size,
                   char *error)
{
    const struct store_io *io = &snapshot->store->io;

    int status = store_io_stage(io, snapshot->directory, MANIFEST_NAME, bytes, size);
    if (status == 0)
        status = mark_counting(snapshot);
    if (status == 0)
        status = io->sync(io->context, snapshot->store->job);
    if (status == 0)
        status = io->sync(io->context, snapshot->directory);
    if (status == 0)
        status = store_io_publish(io, snapshot->directory, MANIFEST_NAME);
    if (status < 0)
        return fail(snapshot, status, error, "the manifest");
    copy_manifest(snapshot, bytes, size);
    return 0;
}

static int commit(struct store_snapshot *snapshot, const struct manifest *manifest, bool whole,
                  char *error)
{
    struct bspz_buffer buffer = {0};

    int status = manifest_encode(manifest, &buffer, error);
    if (status == 0 && whole)
        status = check_images(snapshot, manifest, error);
    if (status == 0)
        status = publish(snapshot, buffer.data, buffer.size, error);
    bspz_buffer_free(&buffer);
    if (status == 0)
        store_snapshot_leave(snapshot);
    return status;
}

int store_snapshot_commit(struct store_snapshot *snapshot, const struct manifest *manifest,
                          char *error)
{
    return commit(snapshot, manifest, true, error);
}

int store_snapshot_commit_part(struct store_snapshot *snapshot, const struct manifest *manifest,
                               char *error)
{
    return commit(snapshot, manifest, false, error);
}

int store_snapshot_take_manifest(struct store_snapshot *snapshot, const void *bytes, size_t size,
                                 char *error)
{
    struct manifest manifest;
    int status = manifest_decode(bytes, size, &manifest, error);

    if (status < 0)
        return status;
    bool same = bspz_snapshot_same(manifest.name, snapshot->which);
    manifest_free(&manifest);
    if (!same)
        return store_fail(snapshot->store, -EBADMSG, error,
                          "snapshot %s: the manifest of another one", snapshot->name);
    return publish(snapshot, bytes, size, error);
}

void store_snapshot_abandon(struct store_snapshot *snapshot)
{
    if (!snapshot)
        return;
    const struct store_io *io = &snapshot->store->io;
    io->close(io->context, snapshot->directory);
    store_remove_directory(snapshot->store, snapshot->store->job, snapshot->name);
    free(snapshot);
}
