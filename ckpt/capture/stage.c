/* stage.c - stages the saved memory beside the restoring program: at addresses that are free in
 * both (staging_area.c), region by region (staged_regions.c). */
#include <errno.h>
#include <string.h>

#include "ckpt/capture/identity.h"
#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"
#include "ckpt/capture/vdso.h"

#define POPULATE_LEAST 32768
#define RESTORER_STACK (64u << 10)
#define CODE_BYTES     (64u << 10)
#define MANY           16384 /* regions */

/* ---- Contents -------------------------------------------------------------------------------- */

struct bspz_staged *bspz_staged_at(struct bspz_staged *staged, uint32_t count, uint64_t address)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (staged[middle].home + staged[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && staged[low].home <= address ? &staged[low] : NULL;
}

void *bspz_stage_bytes(void *context, uint64_t address, size_t length)
{
    struct bspz_restore *restore = context;
    struct bspz_staged *staged = bspz_staged_at(restore->staged, restore->staged_count, address);
    uint64_t offset, to;

    if (!staged || !staged->at)
        return NULL;
    offset = address - staged->home;
    if (length > staged->bytes - offset)
        return NULL;
    to = staged->at + offset;
    if (!bspz_staged_writable(staged))
        return NULL;
    /* One call replaces a fault for each page; single pages mostly exist from an older image. */
    if (length >= POPULATE_LEAST)
        bspz_sys3(SYS_madvise, to, length, 23 /* MADV_POPULATE_WRITE */);
    return (void *)to;
}

/* ---- The kernel's pages ---------------------------------------------------------------------- */

static void find_kernel_pages(struct bspz_restore *restore)
{
    const struct bspz_maps *maps = &restore->self->maps;

    for (uint32_t i = 0; i < maps->count; i++) {
        const struct bspz_map *map = &maps->map[i];
        bool is_vdso = strcmp(map->path, "[vdso]") == 0;

        if (!is_vdso && strncmp(map->path, "[vvar", 5) != 0)
            continue;
        if (!restore->kernel.end)
            restore->kernel.start = map->start;
        restore->kernel.end = map->end;
        if (is_vdso)
            restore->vdso = map->start;
    }
}

/* The vdso is the same and at the same distance from its data: it can go to the saved address. */
static bool is_same_kernel(const struct bspz_restore *restore)
{
    const struct bspz_thread *thread = restore->thread;
    uint64_t size = restore->kernel.end - restore->vdso, hash[2];

    if (!restore->vdso || restore->plan->other_kernel || thread->vdso_size != size ||
        restore->vdso - restore->kernel.start != thread->vdso_address - thread->vvar_address)
        return false;
    bspz_hash_bytes(hash, (const void *)restore->vdso, size);
    return memcmp(hash, restore->image->header.vdso_hash, sizeof hash) == 0;
}

static int redirect(struct bspz_restore *restore)
{
    struct bspz_staged *staged =
        bspz_staged_at(restore->staged, restore->staged_count, restore->thread->vdso_address);
    int result;

    if (restore->same_kernel || !restore->thread->vdso_address)
        return 0;
    if (!staged || !staged->at || !staged->writable)
        return bspz_restore_fail(restore, -EBADMSG, "the image lacks the kernel's functions", NULL,
                                 NULL);
    if (!restore->vdso)
        return bspz_restore_fail(restore, -ENOSYS, "this kernel has no vdso", NULL, NULL);
    result = bspz_vdso_redirect((void *)staged->at, staged->bytes, (const void *)restore->vdso,
                                restore->kernel.end - restore->vdso,
                                restore->park + (restore->vdso - restore->kernel.start));
    return result < 0 ? bspz_restore_fail(restore, result, "the image's vdso is not understood",
                                          NULL, NULL)
                      : 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

int bspz_stage_begin(struct bspz_restore *restore)
{
    int error = bspz_stage_list(restore);

    if (error)
        return bspz_restore_fail(restore, error, "too many regions", NULL, NULL);
    find_kernel_pages(restore);
    restore->same_kernel = is_same_kernel(restore);
    restore->block_bytes = CODE_BYTES + RESTORER_STACK + sizeof(struct bspz_restorer) +
                           BSPZ_HANDOVER_MAX + restore->pending_count * sizeof *restore->pending +
                           16 + restore->staged_count * sizeof(struct bspz_move) +
                           (restore->self->maps.count + 64) *
                               (sizeof(struct bspz_range) + 2 * sizeof(struct bspz_move));
    restore->block_bytes = (restore->block_bytes + BSPZ_PAGE - 1) & ~(uint64_t)(BSPZ_PAGE - 1);
    return bspz_stage_place(restore);
}

/* The space reserved between two regions counts as a mapping, of which Linux permits 65530.  Where
 * there are many it is given back: regions that are not adjacent do not merge either.  While a
 * process waits for more images it has other mappings made, and keeps the place to itself. */
static void open_gap(struct bspz_restore *restore, uint32_t index)
{
    const struct bspz_staged *staged = &restore->staged[index];
    uint64_t from = staged->at + staged->bytes;
    uint64_t to = index + 1 < restore->staged_count ? staged[1].at : restore->place.end;

    if (restore->staged_count >= MANY && !restore->plan->more && staged->at && to > from)
        bspz_sys2(SYS_munmap, from, to - from);
}

int bspz_stage(struct bspz_restore *restore)
{
    const struct bspz_restore_chain *chain = &restore->chain;
    struct bspz_image_fault fault = {0};
    uint32_t which = 0;
    int error = bspz_stage_begin(restore);

    for (uint32_t i = 0; i < restore->staged_count && !error; i++) {
        error = bspz_staged_map(restore, &restore->staged[i]);
        if (!error)
            open_gap(restore, i);
    }
    if (error)
        return error;
    bspz_stage_huge(restore);
    error =
        bspz_image_decode(chain->newest, chain->count, bspz_stage_bytes, restore, &which, &fault);
    restore->plan->image_at_fault = error && error != -ENOMEM;
    restore->plan->image_index = which;
    return error ? bspz_restore_fail(restore, error, fault.text, NULL, NULL) : 0;
}

int bspz_stage_finish(struct bspz_restore *restore)
{
    int error = redirect(restore);

    return error ? error : bspz_staged_protect(restore);
}
