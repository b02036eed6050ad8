/* snapshot_read.c - opens the files of one snapshot: its manifest, the copy of it, its images; see
 * store.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "ckpt/inside.h"
#include "lib/base/error_text.h"
#include "lib/wire/schema.h"

int store_load_manifest(const struct store *store, int folder, const char *name, uint64_t superstep,
                        uint32_t term, struct manifest *manifest, char *error)
{
    void *bytes;
    size_t size;

    int status = store_io_load(&store->io, folder, name, SEALED_FILE_MAX, &bytes, &size);
    if (status < 0)
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, status, "manifest: %s",
                               store_error_text(status));
    status = manifest_decode(bytes, size, manifest, error);
    free(bytes);
    if (status == 0 && (manifest->superstep != superstep || manifest->term != term)) {
        manifest_free(manifest);
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -EBADMSG,
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
    int status = store_load_manifest(store, folder, MANIFEST_NAME, superstep, term, manifest, text);
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
