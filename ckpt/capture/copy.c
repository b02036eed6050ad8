/* copy.c - frozen copies: copies of a rank that wait, to replace it after a rollback.
 *
 * Happy path: the rank records what a fork loses -> a copy is made, which has an image written if
 * one is wanted, and waits on its word -> the rank is lost or rolled back and ends -> the word says
 * THAW -> the copy puts back what the process had (files, lost memory, timers), makes its own
 * replacement and returns as the rank.
 * What can fail: no memory or no process for the copy (the rank has none then), the copy of a copy
 * (the thawed rank goes on without one). */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

/* ---- Waiting --------------------------------------------------------------------------------- */

/* The kernel may end a frozen copy before it ends a rank. */
static void volunteer_for_oom(void)
{
    static const char most[] = "1000";
    int file = bspz_sys_open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file < 0)
        return;
    bspz_sys3(SYS_write, file, most, sizeof most - 1);
    bspz_sys_close(file);
}

/* Restores the score; that needs no privilege, as it is not below the one that the process started
 * with. */
static void withdraw_from_oom(const char *before)
{
    int file = bspz_sys_open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file < 0)
        return;
    bspz_sys3(SYS_write, file, before, strlen(before));
    bspz_sys_close(file);
}

static void wait_frozen(_Atomic uint32_t *word)
{
    uint32_t now;

    while ((now = atomic_load(word)) == BSPZ_COPY_FROZEN)
        bspz_sys6(SYS_futex, word, FUTEX_WAIT, BSPZ_COPY_FROZEN, 0, 0, 0);
    if (now != BSPZ_COPY_THAW)
        bspz_sys1(SYS_exit_group, 0);
}

/* ---- Putting back ---------------------------------------------------------------------------- */

/* Of the original's own files in /proc, which end with it, this process has its own. */
static long open_own(const struct bspz_descriptor *one)
{
    int from = one->same_as, cloexec = one->close_on_exec ? O_CLOEXEC : 0;
    bool first = from == one->number;
    long result;

    if (first)
        from = bspz_sys_open(one->path, one->flags | O_CLOEXEC);
    if (from < 0)
        return from;
    result = bspz_sys3(SYS_dup3, from, one->number, cloexec);
    if (first)
        bspz_sys_close(from);
    return result < 0 ? result : 0;
}

/* Offsets and flags belong to the description, which the original went on using. */
static int put_back_files(struct bspz_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->descriptors.count; i++) {
        const struct bspz_descriptor *one = &snapshot->descriptors.descriptor[i];
        int access = one->flags & O_ACCMODE;
        struct stat now;
        long error = 0;

        if (bspz_is_job_descriptor(snapshot->options, one->number) ||
            bspz_is_job_descriptor(snapshot->options, one->same_as) ||
            bspz_rules_name(snapshot->options, one->number, one->path))
            continue;
        if (bspz_is_own_file(one) && (error = open_own(one)) != 0)
            return bspz_snapshot_fail(snapshot, one->path, error);
        if (one->flags & O_PATH)
            continue;
        bspz_sys3(SYS_fcntl, one->number, F_SETFL, one->flags);
        if (one->kind == BSPZ_FD_DIRECTORY)
            bspz_sys3(SYS_lseek, one->number, one->offset, 0);
        if (one->kind != BSPZ_FD_FILE)
            continue;
        error = bspz_sys2(SYS_fstat, one->number, &now);
        if (!error && access == O_RDONLY && (uint64_t)now.st_size < one->size)
            error = -ENODATA;
        /* Whatever has changed the length since, the program will repeat. */
        if (!error && access != O_RDONLY && (uint64_t)now.st_size != one->size)
            error = bspz_sys2(SYS_ftruncate, one->number, one->size);
        if (!error && bspz_sys3(SYS_lseek, one->number, one->offset, 0) < 0)
            error = -EIO;
        if (error)
            return bspz_snapshot_fail(snapshot, one->path, error);
    }
    return 0;
}

struct writing {
    const struct bspz_piece *piece;
};

static int write_back_run(void *context, uint64_t start, uint64_t end)
{
    const struct bspz_piece *piece = ((const struct writing *)context)->piece;

    memcpy((void *)(piece->start + (start - piece->now_at)), (const void *)start, end - start);
    return 0;
}

static int make_place(const struct bspz_piece *piece)
{
    const struct bspz_map *map = piece->map;
    uint64_t length = piece->end - piece->start;
    int file = -1, flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE;
    long at;

    if (piece->kind == BSPZ_REGION_SHARED || piece->kind == BSPZ_REGION_COMMON) {
        /* Pages that were zero then become zero. */
        bspz_sys3(SYS_mprotect, piece->start, length, PROT_READ | PROT_WRITE);
        return (int)bspz_sys3(SYS_madvise, piece->start, length, MADV_REMOVE);
    }
    if (!(map->flags & BSPZ_MAP_DONT_FORK))
        return (int)bspz_sys3(SYS_mprotect, piece->start, length, PROT_READ | PROT_WRITE);
    if (piece->kind == BSPZ_REGION_FILE) {
        file = bspz_sys_open(map->path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return file;
    } else {
        flags |= MAP_ANONYMOUS | MAP_NORESERVE;
    }
    at = bspz_sys_map(piece->start, length, PROT_READ | PROT_WRITE, flags, file,
                      file < 0 ? 0 : map->offset + (piece->start - map->start));
    if (file >= 0)
        bspz_sys_close(file);
    return at == (long)piece->start ? 0 : bspz_failed(at) ? (int)at : -EEXIST;
}

/* The saved bytes stay: a replacement copy needs them again. */
static int put_back_memory(struct bspz_snapshot *snapshot)
{
    int pagemap = bspz_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int error = pagemap < 0 ? pagemap : 0;

    for (uint32_t i = 0; i < snapshot->piece_count && !error; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];
        struct writing writing = {piece};

        if (piece->now_at == piece->start)
            continue;
        error = make_place(piece);
        if (!error)
            error =
                bspz_own_pages(piece, &snapshot->arena, pagemap, false, write_back_run, &writing);
        if (error)
            break;
        bspz_sys3(SYS_mprotect, piece->start, piece->end - piece->start, piece->map->prot);
        if (piece->map->flags & BSPZ_MAP_DONT_FORK)
            bspz_sys3(SYS_madvise, piece->start, piece->end - piece->start, MADV_DONTFORK);
    }
    if (pagemap >= 0)
        bspz_sys_close(pagemap);
    return error ? bspz_snapshot_fail(snapshot, "memory that a forked process lacks", error) : 0;
}

/* A fork does not inherit memory locks. */
static void lock_again(const struct bspz_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->piece_count; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];

        if (piece->map->flags & BSPZ_MAP_LOCKED)
            bspz_sys3(SYS_mlock2, piece->start, piece->end - piece->start, 1 /* MLOCK_ONFAULT */);
    }
}

static int become_rank(struct bspz_snapshot *snapshot, const char *oom_before)
{
    struct bspz_thread *thread = &snapshot->thread;
    int error;

    /* Drops signals that arrived while the copy was frozen. */
    bspz_pendings_drop();
    withdraw_from_oom(oom_before);
    bspz_set_name(thread->name);
    bspz_set_layout(&thread->layout, thread->auxv, thread->auxv_size);
    bspz_sys2(SYS_set_robust_list, thread->robust_list, thread->robust_size);
    if (thread->rseq_address)
        bspz_sys4(SYS_rseq, thread->rseq_address, thread->rseq_size, 0, thread->rseq_signature);
    error = put_back_files(snapshot);
    if (!error)
        error = put_back_memory(snapshot);
    if (!error)
        lock_again(snapshot);
    if (!error)
        error = bspz_attributes_put_back(&snapshot->attributes, snapshot->why);
    if (!error)
        bspz_thread_put_timers(thread);
    if (error)
        return error;
    error = bspz_pendings_put(snapshot->pendings.list, snapshot->pendings.count);
    return error ? bspz_snapshot_fail(snapshot, "pending signals cannot be queued again", error)
                 : 0;
}

/* ---- Freezing -------------------------------------------------------------------------------- */

/* In the copy, for which nobody waits.  The writer confirms the guessed flags of mappings; without
 * that there is no snapshot, and the copy is never thawed. */
static void have_image_written(struct bspz_snapshot *snapshot, struct bspz_capture_plan *image)
{
    struct bspz_image_written written;
    int side =
        bspz_fork_copy(snapshot, image->forked, 0,
                       image->share == BSPZ_SHARE_IDLE ? BSPZ_FORK_IDLE_WRITER : BSPZ_FORK_WRITER);

    if (side > 0)
        bspz_snapshot_write_and_end(snapshot, image);
    snapshot->from_memory = side < 0 && snapshot->from_memory;
    if (side == 0)
        return;
    /* Without a process for it the copy writes by itself. */
    side = bspz_snapshot_confirm(snapshot);
    if (!side)
        side = bspz_snapshot_write(snapshot, &image->image, &written);
    memcpy(image->why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_snapshot_finish(image, side, &written);
    if (side == -EAGAIN)
        bspz_sys1(SYS_exit_group, 1);
}

/* 0: the copy is made, or none was wanted (*made false); 1 in the copy when it is thawed. */
static int make_copy(struct bspz_snapshot *snapshot, struct bspz_freeze_plan *plan,
                     struct bspz_capture_plan *image, bool *made)
{
    _Atomic uint32_t *word = plan->hooks.word(plan->hooks.context);
    int side;

    *made = word != NULL;
    if (!word)
        return 0;
    if (image)
        bspz_track(snapshot, &image->image);
    side = bspz_fork_copy(snapshot, &plan->hooks, snapshot->thread.tid_address, BSPZ_FORK_AWAITED);
    if (side <= 0) {
        *made = side == 0;
        return side;
    }
    /* The kernel has written the thread id where libc keeps it: an image must match that memory. */
    if (snapshot->thread.tid_address)
        snapshot->thread.tid = (int32_t)bspz_sys0(SYS_gettid);
    bspz_show_as_copy(snapshot);
    volunteer_for_oom();
    if (image)
        have_image_written(snapshot, image);
    else if (bspz_snapshot_confirm(snapshot) != 0)
        bspz_sys1(SYS_exit_group, 1);
    bspz_dumpable_end(snapshot->dumpable);
    wait_frozen(word);
    bspz_dumpable_begin();
    return 1;
}

static int freeze(struct bspz_snapshot *snapshot, struct bspz_freeze_plan *plan)
{
    char oom_before[16];
    bool made;
    int side;

    if (bspz_sys_slurp("/proc/self/oom_score_adj", oom_before, sizeof oom_before) < 0)
        strcpy(oom_before, "0");
    side = make_copy(snapshot, plan, plan->image, &made);
    if (side < 0)
        return bspz_snapshot_fail(snapshot, "a copy of the process", side);
    if (side == 0)
        return 0;
    /* A copy of a thawed copy arrives here, too, and goes on as the rank when thawed. */
    for (;;) {
        side = make_copy(snapshot, plan, NULL, &made);
        if (side != 1)
            break;
    }
    plan->replaced = made;
    plan->attributes = snapshot->attributes;
    side = become_rank(snapshot, oom_before);
    return side ? side : 1;
}

struct freeze_call {
    struct bspz_snapshot *snapshot;
    struct bspz_freeze_plan *plan;
};

static long freeze_on_own_stack(void *argument)
{
    const struct freeze_call *call = argument;
    int result = bspz_snapshot_read(call->snapshot, !call->plan->exact);

    if (!result)
        result = bspz_snapshot_copy_lost(call->snapshot);
    if (!result)
        result = freeze(call->snapshot, call->plan);
    bspz_snapshot_drop_copies(call->snapshot);
    return result;
}

int bspz_copy_freeze(struct bspz_freeze_plan *plan)
{
    struct bspz_snapshot *snapshot = bspz_snapshot_begin(&plan->options, plan->why);
    struct freeze_call call = {snapshot, plan};
    uint64_t mask;
    long result, dumpable;

    if (!snapshot) {
        strcpy(plan->why, "no address space for the tables of a snapshot");
        return -ENOMEM;
    }
    mask = bspz_signals_block();
    dumpable = snapshot->dumpable = bspz_dumpable_begin();
    snapshot->mask = mask;
    plan->replaced = false;
    result = bspz_switch_stack(&snapshot->thread.context, snapshot->stack_top, freeze_on_own_stack,
                               &call);
    if (result > 1)
        result = 1 + bspz_snapshot_arrive(plan->image, (void *)result);
    bspz_dumpable_end(dumpable);
    bspz_signals_set(mask);
    return (int)result;
}
