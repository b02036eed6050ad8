/* restore.c - turns a fresh process of the program into the one in the image.
 *
 * Happy path: images opened, their tables checked -> processor, program and files checked -> memory
 * staged and every byte checked -> files opened -> all processes of the job have STAGED -> files
 * truncated and moved to their numbers -> the restorer takes over and does not return.  What can
 * fail: anything up to STAGED, with a line that says what; nothing has been touched then. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"

/* ---- Reading --------------------------------------------------------------------------------- */

static int read_descriptor(void *context, uint64_t offset, void *bytes, size_t size)
{
    int fd = (int)(intptr_t)context;

    while (size > 0) {
        long got = bspz_sys4(SYS_pread64, fd, bytes, size, offset);

        if (got == -EINTR)
            continue;
        if (got <= 0)
            return got ? (int)got : -EIO;
        bytes = (char *)bytes + got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

/* After a short read the rest is read place by place. */
static int scatter_descriptor(void *context, uint64_t offset, const struct iovec *places,
                              uint32_t count)
{
    long got = bspz_sys5(SYS_preadv, (int)(intptr_t)context, places, count, offset, 0);
    size_t there = got > 0 ? (size_t)got : 0;
    int error = 0;

    for (uint32_t i = 0; i < count && !error; i++) {
        size_t whole = places[i].iov_len, part = there < whole ? there : whole;

        if (part < whole)
            error = read_descriptor(context, offset + part, (char *)places[i].iov_base + part,
                                    whole - part);
        there -= part;
        offset += whole;
    }
    return error;
}

int bspz_restore_source(struct bspz_image_source *source, int fd)
{
    struct stat status;
    long error = bspz_sys2(SYS_fstat, fd, &status);

    if (error)
        return (int)error;
    *source = (struct bspz_image_source){
        .read = read_descriptor,
        .scatter = scatter_descriptor,
        .context = (void *)(intptr_t)fd,
        .size = (uint64_t)status.st_size,
    };
    return 0;
}

static void *fresh_memory(size_t bytes)
{
    long at = bspz_sys_map(0, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return bspz_failed(at) ? NULL : (void *)at;
}

/* Adds the plan's images to the chain, before those that are there. */
static int open_images(struct bspz_restore *restore)
{
    struct bspz_restore_plan *plan = restore->plan;
    struct bspz_restore_chain *chain = &restore->chain;
    struct bspz_image *images = &chain->images[chain->count];
    struct bspz_image_fault fault = {0};
    int error = 0;

    if (plan->chain_count == 0 || plan->chain_count > BSPZ_IMAGE_CHAIN_MAX - chain->count)
        return bspz_restore_fail(restore, -EINVAL, "the restore was asked for wrongly", NULL, NULL);
    if (!chain->scratch)
        chain->scratch = fresh_memory(BSPZ_IMAGE_READER_SCRATCH);
    if (!chain->scratch)
        error = -ENOMEM;
    memmove(&chain->newest[plan->chain_count], chain->newest, chain->count * sizeof *chain->newest);
    for (uint32_t i = 0; i < plan->chain_count && !error; i++) {
        chain->newest[i] = &images[i];
        plan->image_index = i;
        error = bspz_image_open(&images[i], &plan->chain[i], chain->scratch, &fault);
    }
    if (!error) {
        plan->image_index = 0;
        error = bspz_image_expect(&images[0], &plan->expected, &fault);
    }
    for (uint32_t i = 0; i < plan->chain_count && !error; i++) {
        void *tables = fresh_memory(bspz_image_memory(&images[i]));

        plan->image_index = i;
        error = tables ? bspz_image_load(&images[i], tables, &fault) : -ENOMEM;
    }
    plan->image_at_fault = error && error != -ENOMEM;
    if (error)
        return bspz_restore_fail(restore, error, fault.text, NULL, NULL);
    chain->count += plan->chain_count;
    restore->image = chain->newest[0];
    return 0;
}

/* An image without them, or with fewer, is of an earlier libbsp; one with more, of a later. */
static int read_attributes(struct bspz_restore *restore)
{
    struct bspz_attributes *attributes = &restore->attributes;
    uint32_t version = 0;
    size_t size = 0;
    const void *bytes = bspz_image_find(restore->image, BSPZ_IMAGE_TAG_ATTRIBUTES, &version, &size);

    memset(attributes, 0, sizeof *attributes);
    if (!bytes)
        return 0;
    memcpy(attributes, bytes, size < sizeof *attributes ? size : sizeof *attributes);
    if (version != BSPZ_ATTRIBUTES_VERSION || attributes->own >> BSPZ_ATTRIBUTE_COUNT)
        return bspz_restore_fail(restore, -EPROTO,
                                 "the process has attributes that this version of the library does "
                                 "not know",
                                 NULL, NULL);
    return 0;
}

static int read_state(struct bspz_restore *restore)
{
    uint32_t version = 0, apart = 0, pending = BSPZ_PENDING_VERSION;
    size_t size = 0, apart_size = 0, pending_size = 0;

    restore->thread = bspz_image_find(restore->image, BSPZ_IMAGE_TAG_THREAD, &version, &size);
    restore->apart = bspz_image_find(restore->image, BSPZ_IMAGE_TAG_APART, &apart, &apart_size);
    restore->apart_count = (uint32_t)(apart_size / sizeof *restore->apart);
    restore->pending =
        bspz_image_find(restore->image, BSPZ_IMAGE_TAG_PENDING, &pending, &pending_size);
    restore->pending_count = (uint32_t)(pending_size / sizeof *restore->pending);
    if (!restore->thread || version != BSPZ_THREAD_VERSION || size != sizeof *restore->thread ||
        (restore->apart && apart != BSPZ_APART_VERSION) || pending != BSPZ_PENDING_VERSION ||
        restore->thread->auxv_size > sizeof restore->thread->auxv)
        return bspz_restore_fail(
            restore, -EPROTO, "the image was made by another version of the library", NULL, NULL);
    return read_attributes(restore);
}

/* ---- Taking over ----------------------------------------------------------------------------- */

static void *take(uint64_t *at, size_t bytes)
{
    void *result = (void *)*at;

    *at += (bytes + 15) & ~(uint64_t)15;
    return result;
}

static void list_moves(struct bspz_restore *restore, struct bspz_restorer *restorer, uint64_t *at)
{
    struct bspz_move *home = take(at, restore->staged_count * sizeof *home);
    uint64_t vdso = restore->same_kernel ? restore->thread->vdso_address : 0;

    restorer->home = home;
    for (uint32_t i = 0; i < restore->staged_count; i++) {
        const struct bspz_staged *staged = &restore->staged[i];

        /* Under the same kernel the present vdso goes there instead. */
        if (!staged->at || (vdso && staged->home == vdso))
            continue;
        home[restorer->home_count++] = (struct bspz_move){staged->at, staged->home, staged->bytes};
    }
}

/* The kernel's mappings move one by one and keep their distances. */
static void list_kernel_pages(struct bspz_restore *restore, struct bspz_restorer *restorer,
                              const struct bspz_maps *maps, uint64_t *at)
{
    uint64_t length = restore->kernel.end - restore->kernel.start;
    uint64_t home = restore->thread->vdso_address - (restore->vdso - restore->kernel.start);
    struct bspz_move *park = take(at, 16 * sizeof *park);
    struct bspz_move *settle = take(at, 16 * sizeof *settle);

    restorer->park = park;
    restorer->settle = settle;
    for (uint32_t i = 0; i < maps->count && restorer->park_count < 16; i++) {
        const struct bspz_map *map = &maps->map[i];
        uint64_t offset = map->start - restore->kernel.start;

        if (map->start < restore->kernel.start || offset >= length)
            continue;
        park[restorer->park_count++] =
            (struct bspz_move){map->start, restore->park + offset, map->end - map->start};
        if (restore->same_kernel)
            settle[restorer->settle_count++] =
                (struct bspz_move){restore->park + offset, home + offset, map->end - map->start};
    }
}

static void list_unmaps(struct bspz_restore *restore, struct bspz_restorer *restorer,
                        const struct bspz_maps *maps, uint64_t *at)
{
    struct bspz_range *unmap = (struct bspz_range *)*at;

    restorer->unmap = unmap;
    for (uint32_t i = 0; i < maps->count; i++) {
        const struct bspz_map *map = &maps->map[i];

        if (strcmp(map->path, "[vsyscall]") == 0 || strcmp(map->path, "[uprobes]") == 0 ||
            (map->start >= restore->place.start && map->end <= restore->place.end))
            continue;
        if (restorer->unmap_count && unmap[restorer->unmap_count - 1].end == map->start)
            unmap[restorer->unmap_count - 1].end = map->end;
        else
            unmap[restorer->unmap_count++] = (struct bspz_range){map->start, map->end};
    }
    take(at, restorer->unmap_count * sizeof *unmap);
}

static void fill_thread(struct bspz_restore *restore, struct bspz_restorer *restorer)
{
    struct bspz_thread *thread = &restorer->thread;
    const struct bspz_layout *layout = &restore->thread->layout;
    uint64_t sizes[4] = {0}, fs, rseq;

    memcpy(thread, restore->thread, sizeof *thread);
    restorer->layout = bspz_layout_map(layout, thread->auxv, thread->auxv_size);
    bspz_sys2(SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */, &fs);
    rseq = bspz_rseq_area(fs, sizes);
    for (int i = 0; rseq && sizes[i] && !restorer->old_rseq_address; i++) {
        if (!bspz_rseq_registered(rseq, sizes[i]))
            continue;
        restorer->old_rseq_address = rseq;
        restorer->old_rseq_size = sizes[i];
    }
}

static void fill_restored(struct bspz_restore *restore, struct bspz_restorer *restorer,
                          uint64_t *at)
{
    static const char text[] = "bspzero: restoring a process failed at step ?\n";
    const struct bspz_restore_plan *plan = restore->plan;
    struct bspz_restored *restored = &restorer->restored;
    void *handover = take(at, plan->handover_size);
    struct bspz_pending *pending = take(at, restore->pending_count * sizeof *pending);

    memcpy(handover, plan->handover, plan->handover_size);
    if (restore->pending_count)
        memcpy(pending, restore->pending, restore->pending_count * sizeof *pending);
    restored->pending = pending;
    restored->pending_count = restore->pending_count;
    restored->block = (void *)restore->block;
    restored->block_size = restore->block_bytes + BSPZ_PAGE; /* with its guard page */
    restored->handover = handover;
    restored->handover_size = plan->handover_size;
    restored->job_count = plan->job_count;
    restored->attributes = restore->attributes;
    memcpy(restored->job_descriptors, restore->job_descriptors, sizeof restored->job_descriptors);
    memcpy(restorer->failure, text, sizeof text);
    restorer->failure_length = sizeof text - 1;
    restorer->failure_at = sizeof text - 3;
}

static int take_over(struct bspz_restore *restore)
{
    uint64_t code_bytes, entry, at = restore->block, stack_top;
    const void *code = bspz_restorer_code(&code_bytes, &entry);
    struct bspz_restorer *restorer;
    struct bspz_maps maps;
    int error;

    memcpy((void *)at, code, code_bytes);
    at += (code_bytes + BSPZ_PAGE - 1) & ~(uint64_t)(BSPZ_PAGE - 1);
    error =
        (int)bspz_sys3(SYS_mprotect, restore->block, at - restore->block, PROT_READ | PROT_EXEC);
    if (!error)
        error = bspz_maps_read(&maps, false, &restore->self->arena);
    if (error)
        return bspz_restore_fail(restore, error, "the restorer", NULL, NULL);
    restorer = take(&at, sizeof *restorer);
    memset(restorer, 0, sizeof *restorer);
    fill_thread(restore, restorer);
    fill_restored(restore, restorer, &at);
    list_moves(restore, restorer, &at);
    list_kernel_pages(restore, restorer, &maps, &at);
    list_unmaps(restore, restorer, &maps, &at);
    stack_top = restore->block + restore->block_bytes;
    if (at + 16384 > stack_top)
        return bspz_restore_fail(restore, -ENOMEM, "the restorer", NULL, NULL);
    /* The vdso of another kernel stays where it was parked. */
    restorer->leftovers.start = restore->park;
    if (!restore->same_kernel)
        restorer->leftovers.start += restore->kernel.end - restore->kernel.start;
    restorer->leftovers.end = restore->place.end;
    bspz_leave_for((void *)stack_top, (void (*)(void *))(restore->block + entry), restorer);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static enum bspz_attributes_place place_of(const struct bspz_restore *restore)
{
    char boot[BSPZ_BOOT_SIZE];

    if (restore->plan->elsewhere)
        return BSPZ_SAVED_BESIDE;
    bspz_boot_id(boot);
    return boot[0] && strcmp(boot, restore->thread->boot) == 0 ? BSPZ_SAVED_HERE
                                                               : BSPZ_SAVED_ANYWHERE;
}

/* Opens the plan's images and checks that their process can be restored here. */
static int read_images(struct bspz_restore *restore)
{
    int error = open_images(restore);

    if (!error)
        error = read_state(restore);
    if (!error)
        error = bspz_attributes_check(&restore->attributes, place_of(restore), restore->plan->why);
    if (!error)
        error = bspz_restore_check_compatible(restore);
    if (error)
        return error;
    error = bspz_maps_read(&restore->self->maps, false, &restore->self->arena);
    return error ? bspz_restore_fail(restore, error, "/proc/self/maps", NULL, NULL) : 0;
}

/* Follows the process from image to image, until the plan's function says that no more come. */
static int follow(struct bspz_restore *restore)
{
    struct bspz_restore_plan *plan = restore->plan;
    int newer, error = 0;

    while (!error && plan->more && (newer = plan->more(plan->context)) != 0) {
        if (newer < 0)
            return bspz_restore_fail(restore, newer, "the restore was given up", NULL, NULL);
        plan->note[0] = '\0';
        error = read_images(restore);
        if (!error)
            error = bspz_stage_again(restore, plan->chain_count);
    }
    return error;
}

static int prepare(struct bspz_restore *restore)
{
    uint32_t size;
    int error = bspz_snapshot_one_thread(restore->self);

    if (!error && bspz_sys5(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) != 0)
        error = bspz_restore_fail(restore, -ENOSYS,
                                  "this kernel was built without CONFIG_CHECKPOINT_RESTORE", NULL,
                                  NULL);
    if (!error)
        error = read_images(restore);
    /* Without more images to come, files that are missing are found before memory is read. */
    if (!error && !restore->plan->more)
        error = bspz_files_open(restore);
    if (!error)
        error = bspz_stage(restore);
    if (!error && restore->plan->more)
        error = follow(restore);
    if (!error && restore->plan->more)
        error = bspz_files_open(restore);
    return error ? error : bspz_stage_finish(restore);
}

int bspz_restore_main(struct bspz_restore_plan *plan)
{
    static const struct bspz_capture_options none;
    static struct bspz_restore restore;
    int error;

    restore = (struct bspz_restore){.plan = plan, .directory = -1};
    plan->why[0] = plan->note[0] = '\0';
    if (plan->job_count > BSPZ_JOB_DESCRIPTORS || plan->handover_size > BSPZ_HANDOVER_MAX)
        return bspz_restore_fail(&restore, -EINVAL, "the restore was asked for wrongly", NULL,
                                 NULL);
    restore.self = bspz_snapshot_begin(&none, plan->why);
    if (!restore.self)
        return bspz_restore_fail(&restore, -ENOMEM, "no address space for tables", NULL, NULL);
    memcpy(restore.job_descriptors, plan->job_descriptors, plan->job_count * sizeof(int));
    error = prepare(&restore);
    if (!error && plan->staged) {
        error = -plan->staged(plan->context);
        if (error)
            bspz_restore_fail(&restore, error, "the restore was given up", NULL, NULL);
    }
    if (error)
        return error;
    bspz_signals_block();
    error = bspz_files_place(&restore);
    return error ? error : take_over(&restore);
}
