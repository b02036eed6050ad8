/* trust.c - an image goes on only on a processor that can, in its own program, with its own
 * libraries. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/identity.h"
#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"

#define ELF_START 4096 /* of a file: headers and notes */

struct identity {
    uint64_t size;
    uint64_t modified;
    struct bspz_build_id id;
};

static int identify_file(const char *path, struct identity *identity)
{
    char start[ELF_START] __attribute__((aligned(16)));
    int file = bspz_sys_open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    long bytes;

    if (file < 0)
        return file;
    bytes = bspz_sys_read_all(file, start, sizeof start);
    if (bspz_sys2(SYS_fstat, file, &status) != 0)
        bytes = -EIO;
    bspz_sys_close(file);
    if (bytes < 0)
        return (int)bytes;
    identity->size = (uint64_t)status.st_size;
    identity->modified =
        (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    bspz_build_id_find(&identity->id, start, (size_t)bytes);
    return 0;
}

/* Build ids decide where there are any; else size and time of the last change. */
static bool is_same(const struct bspz_image_region *region, const struct identity *file)
{
    if (region->file_size != file->size || region->build_id_size != file->id.size)
        return false;
    if (region->build_id_size)
        return memcmp(region->build_id, file->id.bytes, file->id.size) == 0;
    return region->modified == file->modified;
}

static const struct bspz_image_region *program_of(const struct bspz_restore *restore)
{
    uint64_t code = restore->thread->layout.start_code;

    for (uint64_t i = 0; i < restore->image->end.regions; i++) {
        const struct bspz_image_region *region = restore->image->regions[i];

        if (region->address <= code && code - region->address < region->length)
            return region;
    }
    return NULL;
}

static int trust_program(struct bspz_restore *restore)
{
    const struct bspz_image_region *program = program_of(restore);
    struct identity own;
    int error = identify_file("/proc/self/exe", &own);

    if (error)
        return bspz_restore_fail(restore, error, "/proc/self/exe", NULL, NULL);
    if (!program || !is_same(program, &own))
        return bspz_restore_fail(restore, -ESTALE, "the image is of another program",
                                 program ? bspz_image_region_path(program) : NULL,
                                 "this one is different or has been rebuilt");
    return 0;
}

static int trust_files(struct bspz_restore *restore)
{
    const char *last = "";

    for (uint64_t i = 0; i < restore->image->end.regions; i++) {
        const struct bspz_image_region *region = restore->image->regions[i];
        const char *path = bspz_image_region_path(region);
        struct identity file;
        int error;

        if (region->kind != BSPZ_REGION_FILE || strcmp(path, last) == 0)
            continue;
        last = path;
        error = identify_file(path, &file);
        if (error)
            return bspz_restore_fail(restore, error, "the program needs", path,
                                     "it cannot be read");
        if (!is_same(region, &file))
            return bspz_restore_fail(restore, -ESTALE, "the program needs", path,
                                     "it is not the file that the image was made with");
    }
    return 0;
}

int bspz_restore_trust(struct bspz_restore *restore)
{
    uint64_t features[8];
    const char *lack;

    if (restore->image->header.arch != BSPZ_IMAGE_X86_64 ||
        restore->image->header.page_size != BSPZ_PAGE)
        return bspz_restore_fail(restore, -ESTALE, "the image is of another kind of machine", NULL,
                                 NULL);
    bspz_cpu_features(features);
    lack = bspz_cpu_lacks(restore->image->header.cpu_features, features);
    if (lack)
        return bspz_restore_fail(restore, -ESTALE, "this processor lacks", lack,
                                 "the image was made on one that has it");
    if (trust_program(restore) != 0)
        return -ESTALE;
    return trust_files(restore);
}
