/* compatible.c - an image is restored only on a compatible processor, in its own program, with its
 * own libraries. */
#include <errno.h>
#include <string.h>

#include "ckpt/capture/identity.h"
#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"
#include "ckpt/format/binary.h"

static int identify_file(const char *path, struct bspz_binary *binary)
{
    char start[BSPZ_BINARY_START] __attribute__((aligned(16)));
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
    binary->size = (uint64_t)status.st_size;
    binary->modified =
        (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    bspz_build_id_find(&binary->id, start, (size_t)bytes);
    return 0;
}

/* Finds a copy in the directory of binaries.  Its name says which file it is; its size, whether it
 * is complete. */
static bool find_kept(const struct bspz_restore *restore, const struct bspz_binary *saved,
                      const char *path, char kept[BSPZ_KEPT_PATH])
{
    char name[BSPZ_BINARY_NAME];
    struct bspz_binary file;
    struct bspz_text text;

    if (!restore->plan->binaries)
        return false;
    bspz_binary_name(saved, path, name);
    bspz_text_begin(&text, kept, BSPZ_KEPT_PATH);
    bspz_text_add(&text, restore->plan->binaries);
    bspz_text_add(&text, "/");
    bspz_text_add(&text, name);
    if (identify_file(kept, &file) != 0)
        return false;
    file.modified = saved->modified; /* meaningless for a copy */
    return bspz_binary_same(saved, &file);
}

const char *bspz_restore_file(const struct bspz_restore *restore,
                              const struct bspz_image_region *region, char kept[BSPZ_KEPT_PATH],
                              int *error)
{
    const char *path = bspz_image_region_path(region);
    struct bspz_binary saved, file;

    bspz_binary_of(region, &saved);
    *error = identify_file(path, &file);
    if (*error == 0 && !bspz_binary_same(&saved, &file))
        *error = -ESTALE;
    if (*error == 0)
        return path;
    if (!find_kept(restore, &saved, path, kept))
        return NULL;
    *error = 0;
    return kept;
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

static int check_program(struct bspz_restore *restore)
{
    const struct bspz_image_region *program = program_of(restore);
    struct bspz_binary own, saved;
    int error = identify_file("/proc/self/exe", &own);

    if (error)
        return bspz_restore_fail(restore, error, "/proc/self/exe", NULL, NULL);
    if (program) {
        bspz_binary_of(program, &saved);
        if (saved.id.size == 0 && restore->plan->binaries)
            own.modified = saved.modified; /* it may be a copy */
    }
    if (!program || !bspz_binary_same(&saved, &own))
        return bspz_restore_fail(restore, -ESTALE, "the image is of another program",
                                 program ? bspz_image_region_path(program) : NULL,
                                 "this one is different or has been rebuilt");
    return 0;
}

static int check_files(struct bspz_restore *restore)
{
    const char *last = "";

    for (uint64_t i = 0; i < restore->image->end.regions; i++) {
        const struct bspz_image_region *region = restore->image->regions[i];
        const char *path = bspz_image_region_path(region);
        char kept[BSPZ_KEPT_PATH];
        int error;

        if (region->kind != BSPZ_REGION_FILE || strcmp(path, last) == 0)
            continue;
        last = path;
        if (bspz_restore_file(restore, region, kept, &error))
            continue;
        if (error == -ESTALE)
            return bspz_restore_fail(restore, -ESTALE, "the program needs", path,
                                     "it is not the file that the image was made with");
        return bspz_restore_fail(restore, error, "the program needs", path, "it cannot be read");
    }
    return 0;
}

int bspz_restore_check_compatible(struct bspz_restore *restore)
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
    if (check_program(restore) != 0)
        return -ESTALE;
    return check_files(restore);
}
