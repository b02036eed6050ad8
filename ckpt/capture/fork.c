/* fork.c - a copy of this process that the program does not notice.
 *
 * If the parent of this process watches copies, they are made as its children.  Otherwise an
 * intermediate process without exit signal makes the copy and ends when the agent watches it; the
 * copy's parent is then the nearest subreaper.  The intermediate shares the caller's memory, so
 * that page tables are copied once and not twice.  No handler of pthread_atfork runs: a copy either
 * never returns to the program, or it is the program as it was. */
#include <errno.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

#define SIGNAL_KILL 9
#define LAST        19 /* lowest priority: a seventieth of a rank's share */

static const char copy_name[] = "bspzero-copy";

static long wait_for(long process, int *status)
{
    long result;

    do
        result = bspz_sys4(SYS_wait4, process, status, __WALL, 0);
    while (result == -EINTR);
    return result;
}

struct double_fork {
    const struct bspz_copy_hooks *hooks;
    uint64_t tid_address;
    struct bspz_context *context;
    void *stack; /* of the intermediate */
    enum bspz_fork_use use;
};

/* Lets the copy run on any core at low priority; not as low as a writer's, since the next term
 * waits for the end of a killed copy. */
static void lower_copy_priority(void)
{
    uint64_t all[16];

    memset(all, 0xff, sizeof all);
    bspz_sys3(SYS_sched_setaffinity, 0, sizeof all, all);
    bspz_sys3(SYS_setpriority, PRIO_PROCESS, 0, LAST);
}

/* The intermediate runs in the memory of the process that waits for it.  Its status is an errno
 * value or 0.  The copy goes on where bspz_fork_copy left its stack. */
static long run_intermediate(void *argument)
{
    const struct double_fork *call = argument;
    int error, status;
    long copy;

    if (call->use == BSPZ_FORK_IDLE_WRITER)
        lower_copy_priority();
    copy = bspz_raw_fork(call->tid_address, false);
    if (copy < 0)
        return -copy;
    if (copy == 0) {
        if (call->hooks->enter(call->hooks->context) != 0)
            bspz_sys1(SYS_exit_group, 1);
        bspz_resume(call->context->stack_pointer, call->context->resume, 1);
    }
    error = call->hooks->announce(call->hooks->context, (int32_t)copy);
    if (error) {
        bspz_sys2(SYS_kill, copy, SIGNAL_KILL);
        wait_for(copy, &status);
    }
    return error;
}

static long make_intermediate(void *argument)
{
    struct double_fork *call = argument;
    long intermediate = bspz_borrow_memory(call->stack, run_intermediate, call);
    int status = 0;
    long error;

    if (intermediate < 0)
        return intermediate;
    if (wait_for(intermediate, &status) < 0 || (status & 0x7f) != 0)
        error = -ECHILD;
    else
        error = -(status >> 8 & 0xff);
    /* Whichever process was killed: the copy either does its work, or the call has failed. */
    return error && call->hooks->withdraw && !call->hooks->withdraw(call->hooks->context) ? 0
                                                                                          : error;
}

static int fork_beside(const struct bspz_copy_hooks *hooks, uint64_t tid_address)
{
    long copy = bspz_raw_fork(tid_address, true);

    if (copy < 0)
        return (int)copy;
    if (copy > 0)
        return -hooks->announce(hooks->context, (int32_t)copy);
    if (hooks->enter(hooks->context) != 0)
        bspz_sys1(SYS_exit_group, 1);
    return 1;
}

int bspz_fork_copy(const struct bspz_snapshot *snapshot, const struct bspz_copy_hooks *hooks,
                   uint64_t tid_address, enum bspz_fork_use use)
{
    struct bspz_context context;
    struct double_fork call = {hooks, tid_address, &context, snapshot->fork_stack_top, use};
    bool adopts = snapshot->attributes.own >> BSPZ_ATTRIBUTE_SUBREAPER & 1;
    int side;

    if (hooks->beside && hooks->beside(hooks->context, use == BSPZ_FORK_AWAITED))
        return fork_beside(hooks, tid_address);
    /* The program must not adopt the copy. */
    if (adopts)
        bspz_sys2(SYS_prctl, PR_SET_CHILD_SUBREAPER, 0);
    side = (int)bspz_switch_stack(&context, (char *)snapshot->fork_stack_top - BSPZ_FORK_STACK,
                                  make_intermediate, &call);
    if (adopts && side <= 0)
        bspz_sys2(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
    return side;
}

void bspz_show_as_copy(struct bspz_snapshot *snapshot)
{
    struct bspz_layout layout = snapshot->thread.layout;
    const char *name = bspz_arena_string(&snapshot->arena, copy_name);

    bspz_set_name(copy_name);
    if (!name)
        return;
    layout.arg_start = (uint64_t)(uintptr_t)name;
    layout.arg_end = layout.arg_start + sizeof copy_name;
    bspz_set_layout(&layout, snapshot->thread.auxv, snapshot->thread.auxv_size);
}

/* ---- Memory that does not survive a fork as it is -------------------------------------------- */

static bool is_lost(const struct bspz_piece *piece)
{
    if (piece->excluded || piece->elsewhere || piece->kind == BSPZ_REGION_VDSO)
        return false;
    return piece->map->flags & (BSPZ_MAP_DONT_FORK | BSPZ_MAP_WIPE_FORK) ||
           piece->kind == BSPZ_REGION_SHARED || piece->kind == BSPZ_REGION_COMMON;
}

struct copying {
    const struct bspz_piece *piece;
    uint64_t to;
};

static int copy_run(void *context, uint64_t start, uint64_t end)
{
    const struct copying *copying = context;

    memcpy((void *)(copying->to + (start - copying->piece->start)), (const void *)start,
           end - start);
    return 0;
}

int bspz_snapshot_copy_lost(struct bspz_snapshot *snapshot)
{
    int pagemap = bspz_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int error = pagemap < 0 ? pagemap : 0;

    for (uint32_t i = 0; i < snapshot->piece_count && !error; i++) {
        struct bspz_piece *piece = &snapshot->piece[i];
        struct copying copying = {piece, 0};
        long at;

        if (!is_lost(piece))
            continue;
        at = bspz_sys_map(0, piece->end - piece->start, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (bspz_failed(at)) {
            error = (int)at;
            break;
        }
        copying.to = (uint64_t)at;
        error = bspz_own_pages(piece, &snapshot->arena, pagemap, false, copy_run, &copying);
        piece->now_at = (uint64_t)at;
    }
    if (pagemap >= 0)
        bspz_sys_close(pagemap);
    if (error)
        bspz_snapshot_drop_copies(snapshot);
    return error;
}

void bspz_snapshot_drop_copies(struct bspz_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->piece_count; i++) {
        struct bspz_piece *piece = &snapshot->piece[i];

        if (piece->now_at == piece->start)
            continue;
        bspz_sys2(SYS_munmap, piece->now_at, piece->end - piece->start);
        piece->now_at = piece->start;
    }
}
