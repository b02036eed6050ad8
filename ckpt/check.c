/* check.c - whether the images that a manifest names exist and are the ones it names; see
 * store.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/inside.h"

/* The check of an image file. */
struct image_check {
    struct store *store;
    int file;
    const _Atomic bool *stop; /* NULL: nobody does */
    void *scratch;
    struct bspz_image image;
    struct store_fault about;
    uint64_t units; /* saved by the newest image of the chain and its bases, at most; 0: unknown */
};

static int read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
    struct image_check *check = context;

    if (check->stop && atomic_load(check->stop))
        return -ECANCELED;
    return store_io_read(&check->store->io, check->file, offset, bytes, size);
}

/* Opens the image of that name and compares it with what is expected of it.  manifest: NULL: only
 * the name is. */
static int check_image(struct image_check *check, const struct bspz_image_name *name,
                       const struct manifest *manifest)
{
    struct bspz_image_source source = {.read = read_image, .context = check};
    struct bspz_image_expected expected = {.job = manifest ? manifest->job.data : NULL,
                                           .name = name,
                                           .nprocs = manifest ? manifest->nprocs : 0};
    struct bspz_image_fault *fault = &check->about.fault;
    char text[MANIFEST_ERROR_SIZE];

    check->about.name = bspz_image_snapshot(name);
    check->about.pid = name->pid;
    *fault = (struct bspz_image_fault){0};
    check->file =
        store_image_open(check->store, bspz_image_snapshot(name), name->pid, &source.size, text);
    if (check->file < 0) {
        snprintf(fault->text, sizeof(fault->text), "%s", store_error_text(check->file));
        return check->file;
    }
    int status = bspz_image_open(&check->image, &source, check->scratch, fault);
    return status < 0 ? status : bspz_image_expect(&check->image, &expected, fault);
}

static void leave(struct image_check *check)
{
    if (check->file >= 0)
        check->store->io.close(check->store->io.context, check->file);
    check->file = -1;
}

static int check_bytes(struct image_check *check)
{
    void *memory = malloc(bspz_image_memory(&check->image));

    if (!memory) {
        snprintf(check->about.fault.text, sizeof(check->about.fault.text), "out of memory");
        return -ENOMEM;
    }
    int status = bspz_image_load(&check->image, memory, &check->about.fault);
    if (status == 0)
        status = bspz_image_verify(&check->image, &check->about.fault);
    free(memory);
    return status;
}

static int wrong_header(struct image_check *check, const char *text)
{
    snprintf(check->about.fault.text, sizeof(check->about.fault.text), "%s", text);
    return -ESTALE;
}

/* The units of all blocks that the image names.  It names those of its bases, too. */
static uint64_t units_named(const struct bspz_image *image)
{
    return image->end.blocks * BSPZ_IMAGE_BLOCK_UNITS;
}

/* The units whose bytes are in the image itself; in version 1 that is not known before its blocks
 * are read. */
static uint64_t units_held(const struct bspz_image *image)
{
    return image->end.hashes > 0 ? image->end.hashes - 1 : units_named(image);
}

/* Checks the image and all its bases. */
static int check_chain(struct image_check *check, const struct manifest *manifest,
                       const struct manifest_image *image, bool deep)
{
    struct bspz_image_name name = {.superstep = manifest->name.superstep,
                                   .term = manifest->name.term,
                                   .pid = image->image_pid};
    const struct bspz_image_facts *facts = &image->facts;

    memcpy(name.digest, facts->digest, sizeof(name.digest));
    int status = check_image(check, &name, manifest);
    const struct bspz_image_header *header = &check->image.header;
    uint64_t named = status == 0 ? units_named(&check->image) : 0;
    uint64_t held = status == 0 ? units_held(&check->image) : 0;
    check->units = named;
    if (status == 0 && check->image.source.size != facts->size)
        status = wrong_header(check, "another size than the manifest says");
    if (status == 0 && (header->generation != facts->generation ||
                        memcmp(&header->base, &facts->base, sizeof(header->base)) != 0))
        status = wrong_header(check, "another base than the manifest says");
    if (status == 0 && deep)
        status = check_bytes(check);
    leave(check);
    for (uint32_t generation = facts->generation; status == 0 && generation > 0; generation--) {
        name = header->base;
        status = check_image(check, &name, manifest);
        held += status == 0 ? units_held(&check->image) : 0;
        if (status == 0 && header->generation != generation - 1)
            status = wrong_header(check, "a base out of order");
        leave(check);
    }
    /* Images that are missing here hold an unknown part of what is named. */
    if (status == 0 && held < named)
        check->units = held;
    return status;
}

/* Whether an earlier process of the manifest has the same image. */
static bool seen_before(const struct manifest *manifest, uint32_t i)
{
    const struct manifest_image *images = manifest->images.items;

    return images[i].image_pid < i &&
           images[images[i].image_pid].image_pid == images[i].image_pid &&
           bspz_image_same(&images[images[i].image_pid].facts, &images[i].facts);
}

static int check_all(struct store *store, const struct manifest *manifest, bool deep,
                     store_fault_function *tell, void *context, uint64_t *needs)
{
    struct image_check check = {.store = store, .file = -1};
    int first = 0;

    check.scratch = aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH);
    if (!check.scratch)
        return -ENOMEM;
    for (uint32_t i = 0; i < manifest->images.count; i++) {
        if (needs)
            needs[i] = seen_before(manifest, i) ? needs[manifest->images.items[i].image_pid] : 0;
        if (seen_before(manifest, i))
            continue;
        int status = check_chain(&check, manifest, &manifest->images.items[i], deep);
        if (needs)
            needs[i] = check.units * BSPZ_IMAGE_UNIT;
        if (status == 0)
            continue;
        check.about.status = status;
        if (tell)
            tell(context, &check.about);
        if (first == 0)
            first = status;
    }
    free(check.scratch);
    return first;
}

int store_check(struct store *store, const struct manifest *manifest, bool deep,
                store_fault_function *tell, void *context)
{
    return check_all(store, manifest, deep, tell, context, NULL);
}

int store_check_needs(struct store *store, const struct manifest *manifest,
                      store_fault_function *tell, void *context, uint64_t *needs)
{
    return check_all(store, manifest, false, tell, context, needs);
}

int store_image_look(struct store *store, const struct bspz_image_name *name)
{
    struct image_check check = {.store = store, .file = -1};
    int status = -ENOMEM;

    check.scratch = aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH);
    if (check.scratch)
        status = check_image(&check, name, NULL);
    leave(&check);
    free(check.scratch);
    return status;
}

int store_image_check(struct store *store, int descriptor, const struct bspz_image_name *name,
                      const _Atomic bool *stop, char *error)
{
    struct image_check check = {.store = store, .file = descriptor, .stop = stop};
    struct bspz_image_source source = {.read = read_image, .context = &check};
    const struct bspz_image_expected expected = {.name = name};
    struct stat about;
    int status = fstat(descriptor, &about) == 0 ? 0 : -errno;

    source.size = status == 0 ? (uint64_t)about.st_size : 0;
    check.scratch = aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH);
    if (!check.scratch)
        status = -ENOMEM;
    if (status == 0)
        status = bspz_image_open(&check.image, &source, check.scratch, &check.about.fault);
    if (status == 0)
        status = bspz_image_expect(&check.image, &expected, &check.about.fault);
    if (status == 0)
        status = check_bytes(&check);
    free(check.scratch);
    return status == 0
               ? 0
               : store_fail(store, status, error, "the image of process %" PRIu32 ": %s", name->pid,
                            check.about.fault.text[0] ? check.about.fault.text
                                                      : store_error_text(status));
}
