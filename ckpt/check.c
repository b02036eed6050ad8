/* check.c - whether the images that a manifest names are there, and what they were; see store.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/inside.h"

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
    return status == 0
               ? 0
               : store_fail(store, status, error, "the image of process %" PRIu32 ": %s", name->pid,
                            looking.about.fault.text[0] ? looking.about.fault.text
                                                        : store_error_text(status));
}
