/* snapshot_read.c - opens the files of one snapshot: its manifest, the copy of it, its images; see
 * store.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "ckpt/inside.h"
#include "lib/base/error_text.h"

int store_load_manifest(const struct store *store, int directory, const char *name,
                        struct bspz_snapshot_name snapshot, struct manifest *manifest, char *error)
{
    void *bytes;
    size_t size;

    int status = store_io_load(&store->io, directory, name, SEALED_FILE_MAX, &bytes, &size);
    if (status < 0)
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, status, "manifest: %s",
                               store_error_text(status));
    status = manifest_decode(bytes, size, manifest, error);
    free(bytes);
    if (status == 0 && !bspz_snapshot_same(manifest->name, snapshot)) {
        manifest_free(manifest);
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -EBADMSG,
                               "manifest: it belongs to another snapshot");
    }
    return status;
}

static int open_snapshot(struct store *store, struct bspz_snapshot_name snapshot, char *error)
{
    char name[SNAPSHOT_NAME];

    store_snapshot_name(name, snapshot);
    int directory = store_open_directory(store, store->job, name);
    return directory < 0 ? store_fail_system(store, directory, error, "snapshot %s", name)
                         : directory;
}

int store_manifest(struct store *store, struct bspz_snapshot_name snapshot,
                   struct manifest *manifest, char *error)
{
    char text[MANIFEST_ERROR_SIZE];

    int directory = open_snapshot(store, snapshot, error);
    if (directory < 0)
        return directory;
    int status = store_load_manifest(store, directory, MANIFEST_NAME, snapshot, manifest, text);
    store->io.close(store->io.context, directory);
    return status < 0 ? store_fail(store, status, error, "snapshot %" PRIu64 ".%" PRIu32 ": %.300s",
                                   snapshot.superstep, snapshot.term, text)
                      : 0;
}

static int open_file(struct store *store, struct bspz_snapshot_name snapshot, const char *name,
                     uint64_t *size, char *error)
{
    int directory = open_snapshot(store, snapshot, error);
    if (directory < 0)
        return directory;
    int file = store_io_open(&store->io, directory, name, size);
    store->io.close(store->io.context, directory);
    return file < 0 ? store_fail_system(store, file, error, "snapshot %" PRIu64 ".%" PRIu32 ": %s",
                                        snapshot.superstep, snapshot.term, name)
                    : file;
}

int store_image_open(struct store *store, struct bspz_snapshot_name snapshot, uint32_t pid,
                     uint64_t *size, char *error)
{
    char name[IMAGE_NAME];

    store_image_name(name, pid);
    return open_file(store, snapshot, name, size, error);
}

int store_manifest_open(struct store *store, struct bspz_snapshot_name snapshot, uint64_t *size,
                        char *error)
{
    return open_file(store, snapshot, MANIFEST_NAME, size, error);
}

bool store_is_removed(struct store *store, struct bspz_snapshot_name snapshot)
{
    int file = store_manifest_open(store, snapshot, NULL, NULL);

    if (file >= 0)
        store->io.close(store->io.context, file);
    return file == -ENOENT;
}
