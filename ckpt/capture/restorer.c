/* restorer.c - the last steps of a restore.
 *
 * This code is copied out and runs after the program that it was linked into has been unmapped: it
 * calls no functions, reads no constants and no tables of the linker, and takes its data from its
 * argument.  A failure here is final: the process ends. */
#include "ckpt/capture/restorer.h"

#include <asm/prctl.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"

#define RESTORER                                                                                   \
    __attribute__((section("bspz_restorer"), noinline, no_stack_protector, used,                   \
                   no_instrument_function, no_sanitize("address", "undefined", "thread")))

extern const char restorer_start[] __asm__("__start_bspz_restorer")
    __attribute__((visibility("hidden")));
extern const char restorer_stop[] __asm__("__stop_bspz_restorer")
    __attribute__((visibility("hidden")));

static inline __attribute__((always_inline, noreturn)) void fail(struct bspz_restorer *plan,
                                                                 int step)
{
    plan->failure[plan->failure_at] = (char)(step + 65);
    bspz_sys3(SYS_write, 2, plan->failure, plan->failure_length);
    bspz_sys1(SYS_exit_group, 1);
    __builtin_unreachable();
}

static inline __attribute__((always_inline)) void
move_all(struct bspz_restorer *plan, const struct bspz_move *move, uint32_t count, int step)
{
    for (uint32_t i = 0; i < count; i++) {
        long at = bspz_sys5(SYS_mremap, move[i].from, move[i].bytes, move[i].bytes,
                            MREMAP_MAYMOVE | MREMAP_FIXED, move[i].to);

        if (at != (long)move[i].to)
            fail(plan, step);
    }
}

static inline __attribute__((always_inline)) void put_signals(struct bspz_restorer *plan)
{
    struct bspz_thread *thread = &plan->thread;
    /* With -ftrivial-auto-var-init a compiler would fill it from a constant, and this code may
     * refer to nothing. */
    struct {
        uint64_t address;
        int32_t flags;
        int32_t unused;
        uint64_t size;
    } stack __attribute__((uninitialized));

    for (int i = 0; i < BSPZ_SIGNALS; i++) {
        long error = bspz_sys4(SYS_rt_sigaction, i + 1, &thread->action[i], 0, sizeof(uint64_t));

        if (error && i + 1 != 9 && i + 1 != 19) /* KILL and STOP cannot be set */
            fail(plan, 9);
    }
    stack.address = thread->stack_address;
    stack.flags = (int32_t)thread->stack_flags & ~1; /* not "in use" */
    stack.unused = 0;
    stack.size = thread->stack_size;
    bspz_sys2(SYS_sigaltstack, &stack, 0);
}

static inline __attribute__((always_inline)) void put_thread(struct bspz_restorer *plan)
{
    struct bspz_thread *thread = &plan->thread;
    int32_t tid;

    if (bspz_sys2(SYS_arch_prctl, ARCH_SET_FS, thread->pointers.fs_base) ||
        bspz_sys2(SYS_arch_prctl, ARCH_SET_GS, thread->pointers.gs_base))
        fail(plan, 5);
    tid = (int32_t)bspz_sys1(SYS_set_tid_address, thread->tid_address);
    /* libc caches the thread id where the kernel clears it at exit. */
    if (thread->tid_address && *(int32_t *)thread->tid_address == thread->tid)
        *(int32_t *)thread->tid_address = tid;
    if (bspz_sys2(SYS_set_robust_list, thread->robust_list, thread->robust_size))
        fail(plan, 6);
    if (thread->rseq_address &&
        bspz_sys4(SYS_rseq, thread->rseq_address, thread->rseq_size, 0, thread->rseq_signature))
        fail(plan, 7);
}

static RESTORER void run(void *argument)
{
    struct bspz_restorer *plan = argument;

    if (plan->old_rseq_address)
        bspz_sys4(SYS_rseq, plan->old_rseq_address, plan->old_rseq_size, 1, BSPZ_RSEQ_SIGNATURE);
    bspz_sys2(SYS_set_robust_list, 0, plan->thread.robust_size);
    bspz_sys1(SYS_set_tid_address, 0);
    move_all(plan, plan->park, plan->park_count, 0);
    for (uint32_t i = 0; i < plan->unmap_count; i++)
        if (bspz_sys2(SYS_munmap, plan->unmap[i].start, plan->unmap[i].end - plan->unmap[i].start))
            fail(plan, 1);
    move_all(plan, plan->home, plan->home_count, 2);
    move_all(plan, plan->settle, plan->settle_count, 3);
    bspz_sys2(SYS_munmap, plan->leftovers.start, plan->leftovers.end - plan->leftovers.start);
    if (bspz_sys5(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &plan->layout, sizeof plan->layout, 0))
        fail(plan, 4);
    bspz_sys2(SYS_prctl, PR_SET_NAME, plan->thread.name);
    put_thread(plan);
    put_signals(plan);
    for (int i = 0; i < 3; i++)
        bspz_sys3(SYS_setitimer, i, &plan->thread.timer[i], 0);
    bspz_resume(plan->thread.context.stack_pointer, plan->thread.context.resume,
                (uint64_t)(uintptr_t)&plan->restored);
}

const void *bspz_restorer_code(uint64_t *bytes, uint64_t *entry)
{
    *bytes = (uint64_t)(restorer_stop - restorer_start);
    *entry = (uint64_t)((const char *)(uintptr_t)run - restorer_start);
    return restorer_start;
}
