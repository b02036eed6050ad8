/* capture.c - writes the image of this process.
 *
 * Happy path: bspz_capture_write saves the registers on the program's stack and leaves it -> reads
 * the kernel's state of the process -> checks that it can be captured -> writes tables and pages,
 * or has a forked copy do so -> returns 0.  In the restored process bspz_switch_stack returns
 * again, and the call returns 1.  What can fail: something cannot be captured, no memory for
 * tables, no process for the copy, the write function. */
#include "ckpt/capture/capture.h"

#include <errno.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "ckpt/capture/identity.h"
#include "ckpt/capture/linux.h"
#include "ckpt/capture/restored.h"
#include "ckpt/capture/snapshot.h"
#include "ckpt/format/binary.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Identifies the file of a mapping.  The beginning of a program or library is mapped nearby. */
static void identify(const struct bspz_snapshot *snapshot, const struct bspz_piece *piece,
                     struct bspz_image_region *region)
{
    const struct bspz_map *map = piece->map;
    struct bspz_build_id id;
    struct stat file;

    if (bspz_sys4(SYS_newfstatat, AT_FDCWD, map->path, &file, 0) == 0) {
        region->file_size = (uint64_t)file.st_size;
        region->modified =
            (uint64_t)file.st_mtim.tv_sec * 1000000000 + (uint64_t)file.st_mtim.tv_nsec;
    }
    for (;; map--) {
        if (map->inode != piece->map->inode || map->device != piece->map->device)
            return;
        if (map->offset == 0 && map->prot & PROT_READ)
            break;
        if (map == snapshot->maps.map)
            return;
    }
    bspz_build_id_find(&id, (const void *)map->start, map->end - map->start);
    region->build_id_size = id.size;
    memcpy(region->build_id, id.bytes, sizeof id.bytes);
}

static uint32_t region_flags(uint32_t flags)
{
    static const struct {
        uint32_t map, region;
    } pairs[] = {
        {BSPZ_MAP_SHARED, BSPZ_REGION_IS_SHARED},
        {BSPZ_MAP_GROWS_DOWN, BSPZ_REGION_GROWS_DOWN},
        {BSPZ_MAP_DONT_FORK, BSPZ_REGION_DONT_FORK},
        {BSPZ_MAP_WIPE_FORK, BSPZ_REGION_WIPE_ON_FORK},
        {BSPZ_MAP_DONT_DUMP, BSPZ_REGION_DONT_DUMP},
        {BSPZ_MAP_HUGE_PAGES, BSPZ_REGION_HUGE},
        {BSPZ_MAP_NO_HUGE_PAGES, BSPZ_REGION_NO_HUGE},
        {BSPZ_MAP_LOCKED, BSPZ_REGION_LOCKED},
        {BSPZ_MAP_NO_RESERVE, BSPZ_REGION_NO_RESERVE},
        {BSPZ_MAP_MERGEABLE, BSPZ_REGION_MERGEABLE},
        {BSPZ_MAP_HUGETLB, BSPZ_REGION_HUGETLB},
    };
    uint32_t result = 0;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (flags & pairs[i].map)
            result |= pairs[i].region;
    return result;
}

static void describe_region(const struct bspz_snapshot *snapshot, const struct bspz_piece *piece,
                            struct bspz_image_region *region)
{
    const struct bspz_map *map = piece->map;

    *region = (struct bspz_image_region){
        .address = piece->start,
        .length = piece->end - piece->start,
        .protection = map->prot,
        .flags = region_flags(map->flags),
        .kind = piece->kind,
    };
    if (map->path[0] != '/' || piece->kind == BSPZ_REGION_ANON)
        return;
    region->offset = map->offset + (piece->start - map->start);
    region->device = map->device;
    region->inode = map->inode;
    if (piece->kind == BSPZ_REGION_FILE || piece->kind == BSPZ_REGION_SHARED_FILE)
        identify(snapshot, piece, region);
}

static int write_regions(struct bspz_snapshot *snapshot, struct bspz_image_writer *writer)
{
    for (uint32_t i = 0; i < snapshot->piece_count; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];
        struct bspz_image_region region;
        const char *path = piece->map->path;
        int error;

        describe_region(snapshot, piece, &region);
        error = bspz_image_region(writer, &region, *path ? path : NULL);
        if (error)
            return error;
    }
    return 0;
}

static uint32_t descriptor_kind(const struct bspz_snapshot *snapshot,
                                const struct bspz_descriptor *one)
{
    if (bspz_is_job_descriptor(snapshot->options, one->number) ||
        bspz_is_job_descriptor(snapshot->options, one->same_as))
        return BSPZ_DESCRIPTOR_JOB;
    if (bspz_rules_name(snapshot->options, one->number, one->path))
        return BSPZ_DESCRIPTOR_EXCLUDED;
    if (bspz_is_lost(snapshot->options, one))
        return BSPZ_DESCRIPTOR_LOST;
    return one->kind == BSPZ_FD_FILE        ? BSPZ_DESCRIPTOR_FILE
           : one->kind == BSPZ_FD_DIRECTORY ? BSPZ_DESCRIPTOR_DIRECTORY
                                            : BSPZ_DESCRIPTOR_DEVICE;
}

static int write_descriptors(struct bspz_snapshot *snapshot, struct bspz_image_writer *writer)
{
    for (uint32_t i = 0; i < snapshot->descriptors.count; i++) {
        const struct bspz_descriptor *one = &snapshot->descriptors.descriptor[i];
        const struct bspz_image_descriptor entry = {
            .number = (uint32_t)one->number,
            .kind = descriptor_kind(snapshot, one),
            .flags = (uint32_t)one->flags,
            .descriptor_flags = one->close_on_exec ? FD_CLOEXEC : 0,
            .offset = one->offset,
            .size = one->size,
            .device = one->device,
            .inode = one->inode,
            .modified = one->modified,
            .mode = one->mode,
            .same_as = (uint32_t)one->same_as,
            .shared = one->shared,
        };
        int error = bspz_image_descriptor(writer, &entry, one->path);

        if (error)
            return error;
    }
    return 0;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

struct page_writer {
    struct bspz_image_writer *writer;
    const struct bspz_piece *piece;
    struct bspz_still still;
};

static int write_run(void *context, uint64_t start, uint64_t end)
{
    const struct page_writer *to = context;
    const struct bspz_piece *piece = to->piece;
    int error = 0;

    while (start < end && !error) {
        uint64_t stop = end, address = piece->start + (start - piece->now_at);
        bool unwritten = bspz_track_unwritten(piece, start, &stop);
        const void *bytes = bspz_still_bytes(&to->still, piece, start, &stop);

        error = unwritten ? bspz_image_unchanged(to->writer, address, bytes, stop - start)
                : bspz_reads_as_zero(piece)
                    ? bspz_image_zeroed(to->writer, address, bytes, stop - start)
                    : bspz_image_data(to->writer, address, bytes, stop - start);
        start = stop;
    }
    return error;
}

static int write_pages(struct bspz_snapshot *snapshot, struct bspz_image_writer *writer)
{
    int pagemap = bspz_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    struct page_writer to = {.writer = writer};
    int error;

    if (pagemap < 0)
        return bspz_snapshot_fail(snapshot, "/proc/self/pagemap", pagemap);
    error = bspz_still_begin(&to.still, snapshot);
    for (uint32_t i = 0; i < snapshot->piece_count && !error; i++) {
        to.piece = &snapshot->piece[i];
        error = bspz_own_pages(to.piece, &snapshot->arena, pagemap, true, write_run, &to);
    }
    bspz_sys_close(pagemap);
    return error;
}

/* ---- The image ------------------------------------------------------------------------------- */

static void fill_header(const struct bspz_snapshot *snapshot, struct bspz_image_header *header)
{
    const struct bspz_thread *thread = &snapshot->thread;
    const struct bspz_map *program = bspz_maps_find(&snapshot->maps, thread->layout.start_code);
    struct bspz_image_region region = {0};

    header->arch = BSPZ_IMAGE_X86_64;
    header->page_size = BSPZ_PAGE;
    bspz_cpu_features(header->cpu_features);
    if (thread->vdso_size)
        bspz_hash_bytes(header->vdso_hash, (const void *)thread->vdso_address, thread->vdso_size);
    if (program) {
        const struct bspz_piece piece = {.map = program, .start = program->start};

        identify(snapshot, &piece, &region);
    }
    header->build_id_size = region.build_id_size;
    memcpy(header->build_id, region.build_id, sizeof header->build_id);
}

static int write_apart(const struct bspz_snapshot *snapshot, struct bspz_image_writer *writer)
{
    const struct bspz_capture_options *options = snapshot->options;

    if (!options->excluded_count)
        return 0;
    return bspz_image_opaque(writer, BSPZ_IMAGE_TAG_APART, BSPZ_APART_VERSION, options->excluded,
                             options->excluded_count * sizeof *options->excluded);
}

static int write_pending(const struct bspz_snapshot *snapshot, struct bspz_image_writer *writer)
{
    const struct bspz_pendings *pendings = &snapshot->pendings;

    if (!pendings->count)
        return 0;
    return bspz_image_opaque(writer, BSPZ_IMAGE_TAG_PENDING, BSPZ_PENDING_VERSION, pendings->list,
                             pendings->count * sizeof *pendings->list);
}

int bspz_snapshot_write(struct bspz_snapshot *snapshot, const struct bspz_image_config *wanted,
                        struct bspz_image_written *written)
{
    struct bspz_image_config config = *wanted;
    struct bspz_image_writer *writer;
    int error;

    fill_header(snapshot, &config.header);
    error = bspz_image_writer_open(&writer, snapshot->writer_scratch, &config);
    if (!error)
        error = bspz_image_opaque(writer, BSPZ_IMAGE_TAG_THREAD, BSPZ_THREAD_VERSION,
                                  &snapshot->thread, sizeof snapshot->thread);
    if (!error)
        error = write_apart(snapshot, writer);
    if (!error)
        error = write_pending(snapshot, writer);
    if (!error)
        error = bspz_image_opaque(writer, BSPZ_IMAGE_TAG_ATTRIBUTES, BSPZ_ATTRIBUTES_VERSION,
                                  &snapshot->attributes, sizeof snapshot->attributes);
    if (!error)
        error = write_regions(snapshot, writer);
    if (!error)
        error = write_descriptors(snapshot, writer);
    if (!error)
        error = write_pages(snapshot, writer);
    if (!error)
        error = bspz_image_writer_close(writer, written);
    return error ? bspz_snapshot_fail(snapshot, "the image cannot be written", error) : 0;
}

/* ---- Forked writers -------------------------------------------------------------------------- */

#define TENTH 10 /* steps of nice: the kernel's weights are 110 and 1024 */

struct file_limit {
    uint64_t soft, hard;
};

/* The program's limit on the size of files must not apply to its image. */
static void lift_file_limit(struct file_limit *before)
{
    struct file_limit most;

    if (bspz_sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, before) != 0)
        return;
    most = (struct file_limit){before->hard, before->hard};
    if (before->soft < before->hard)
        bspz_sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, &most, 0);
}

static void put_file_limit(const struct file_limit *before)
{
    if (before->soft < before->hard)
        bspz_sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, before, 0);
}

static void lower_priority(enum bspz_writer_share share)
{
    const struct {
        int32_t priority;
    } none = {0};

    switch (share) {
    case BSPZ_SHARE_IDLE:
        bspz_sys3(SYS_sched_setscheduler, 0, SCHED_IDLE, &none);
        break;
    case BSPZ_SHARE_TENTH: /* the kernel returns 20 - nice, and takes 19 for what is above */
        bspz_sys3(SYS_setpriority, PRIO_PROCESS, 0,
                  20 - bspz_sys2(SYS_getpriority, PRIO_PROCESS, 0) + TENTH);
        break;
    case BSPZ_SHARE_EQUAL:
        break;
    }
}

/* A writer runs on any of the job's cores, and takes no more time from the ranks than it may. */
static void prepare_writer(const struct bspz_capture_plan *plan)
{
    struct file_limit before;
    uint64_t all[16];

    lift_file_limit(&before);
    memset(all, 0xff, sizeof all);
    bspz_sys3(SYS_sched_setaffinity, 0, plan->cores ? plan->cores_bytes : sizeof all,
              plan->cores ? plan->cores : all);
    lower_priority(plan->share);
}

void bspz_snapshot_finish(struct bspz_capture_plan *plan, int error,
                          const struct bspz_image_written *written)
{
    if (plan->finished)
        plan->finished(plan->finished_context, error, error ? NULL : written, plan->why);
}

void bspz_snapshot_write_and_end(struct bspz_snapshot *snapshot, struct bspz_capture_plan *plan)
{
    struct bspz_image_written written;
    int error;

    snapshot->why = plan->why;
    bspz_show_as_copy(snapshot);
    prepare_writer(plan);
    error = bspz_snapshot_confirm(snapshot);
    if (!error)
        error = bspz_snapshot_write(snapshot, &plan->image, &written);
    bspz_snapshot_finish(plan, error, &written);
    bspz_sys1(SYS_exit_group, error ? 1 : 0);
    __builtin_unreachable();
}

static long write_in_copy(struct bspz_snapshot *snapshot, struct bspz_capture_plan *plan)
{
    int error = bspz_snapshot_copy_lost(snapshot);
    int side;

    if (error)
        return bspz_snapshot_fail(snapshot, "memory that a forked process lacks", error);
    bspz_track(snapshot, &plan->image);
    side = bspz_fork_copy(snapshot, plan->forked, 0, BSPZ_FORK_AWAITED);
    if (side <= 0) {
        bspz_snapshot_drop_copies(snapshot);
        return side < 0 ? bspz_snapshot_fail(snapshot, "a copy of the process", side) : 0;
    }
    bspz_snapshot_write_and_end(snapshot, plan);
}

/* ---- The call -------------------------------------------------------------------------------- */

struct capture_call {
    struct bspz_snapshot *snapshot;
    struct bspz_capture_plan *plan;
};

static long capture_on_own_stack(void *argument)
{
    const struct capture_call *call = argument;
    struct bspz_snapshot *snapshot = call->snapshot;
    struct bspz_capture_plan *plan = call->plan;
    struct bspz_image_written written;
    struct file_limit before;
    int error = bspz_snapshot_read(snapshot, plan->forked || plan->just_frozen || plan->guess);

    if (error)
        return error;
    if (plan->forked)
        return write_in_copy(snapshot, plan);
    lift_file_limit(&before);
    bspz_track(snapshot, &plan->image);
    error = bspz_snapshot_write(snapshot, &plan->image, &written);
    put_file_limit(&before);
    if (!error && plan->guess && !plan->just_frozen) {
        bspz_sys4(SYS_sync_file_range, plan->file, 0, 0, SYNC_FILE_RANGE_WRITE);
        error = bspz_snapshot_verify(snapshot);
    }
    if (error == -EAGAIN)
        return error; /* another one is to be written in its place */
    bspz_snapshot_finish(plan, error, &written);
    return error;
}

int bspz_snapshot_arrive(struct bspz_capture_plan *plan, void *block)
{
    struct bspz_restored *restored = block;
    size_t bytes = restored->handover_size;

    bspz_snapshot_forget();
    if (bspz_pendings_put(restored->pending, restored->pending_count)) {
        static const char text[] = "bspzero: pending signals cannot be queued again: see "
                                   "ulimit -i\n";

        bspz_sys3(SYS_write, 2, text, sizeof text - 1);
        bspz_sys1(SYS_exit_group, 1);
    }
    plan->attributes = restored->attributes;
    if (bytes > plan->handover_room)
        bytes = plan->handover_room;
    if (bytes)
        memcpy(plan->handover, restored->handover, bytes);
    plan->handover_size = bytes;
    plan->job_count = restored->job_count;
    memcpy(plan->job_descriptors, restored->job_descriptors, sizeof plan->job_descriptors);
    bspz_sys2(SYS_munmap, restored->block, restored->block_size);
    return 1;
}

int bspz_capture_write(struct bspz_capture_plan *plan)
{
    struct bspz_snapshot *snapshot;
    struct capture_call call;
    uint64_t mask;
    long result, dumpable;

    /* The reference links the code of the restore into every program that can be captured. */
    __asm__ volatile("" : : "r"(&bspz_restore_main));
    snapshot = bspz_snapshot_begin(&plan->options, plan->why);
    if (!snapshot) {
        strcpy(plan->why, "no address space for the tables of a snapshot");
        return -ENOMEM;
    }
    mask = bspz_signals_block();
    dumpable = bspz_dumpable_begin();
    snapshot->mask = mask;
    snapshot->dumpable = dumpable;
    call.snapshot = snapshot;
    call.plan = plan;
    result = bspz_switch_stack(&snapshot->thread.context, snapshot->stack_top, capture_on_own_stack,
                               &call);
    if (result > 0)
        result = bspz_snapshot_arrive(plan, (void *)result);
    bspz_dumpable_end(dumpable);
    bspz_signals_set(mask);
    return (int)result;
}

int bspz_capture_check(const struct bspz_capture_options *options, char why[BSPZ_WHY_SIZE])
{
    struct bspz_snapshot *snapshot = bspz_snapshot_begin(options, why);
    uint64_t mask;
    int error;

    if (!snapshot) {
        strcpy(why, "no address space for the tables of a snapshot");
        return -ENOMEM;
    }
    mask = bspz_signals_block();
    snapshot->mask = mask;
    snapshot->dumpable = bspz_dumpable_begin();
    error = bspz_snapshot_read(snapshot, false);
    bspz_dumpable_end(snapshot->dumpable);
    bspz_signals_set(mask);
    return error;
}
