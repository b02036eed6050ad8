/* thread.c - reading what the kernel keeps for this process. */
#include "ckpt/capture/thread.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/prctl.h>
#include <linux/rseq.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "ckpt/capture/linux.h"
#include "lib/base/process_stat.h"

#define STAT_BUFFER 2048
#define RSEQ_LEAST  32u /* bytes and alignment of an area for restartable sequences */
#define RSEQ_MOST   512u

#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#endif

/* glibc 2.35 and later: offset of its area from the thread pointer, and its size. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

uint64_t bspz_signals_block(void)
{
    uint64_t all = ~UINT64_C(0), before = 0;

    bspz_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, sizeof all);
    return before;
}

void bspz_signals_set(uint64_t mask)
{
    bspz_sys4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, 0, sizeof mask);
}

static int read_layout(struct bspz_layout *layout)
{
    char buffer[STAT_BUFFER];
    long bytes = bspz_sys_slurp("/proc/self/stat", buffer, sizeof buffer);

    if (bytes < 0)
        return (int)bytes;
    layout->start_code = bspz_stat_number(buffer, 26);
    layout->end_code = bspz_stat_number(buffer, 27);
    layout->start_stack = bspz_stat_number(buffer, 28);
    layout->start_data = bspz_stat_number(buffer, 45);
    layout->end_data = bspz_stat_number(buffer, 46);
    layout->start_brk = bspz_stat_number(buffer, 47);
    layout->arg_start = bspz_stat_number(buffer, 48);
    layout->arg_end = bspz_stat_number(buffer, 49);
    layout->env_start = bspz_stat_number(buffer, 50);
    layout->env_end = bspz_stat_number(buffer, 51);
    layout->brk = (uint64_t)bspz_sys1(SYS_brk, 0);
    /* A kernel that hides these fields shows zeros. */
    return layout->start_code && layout->env_end ? 0 : -EPERM;
}

uint64_t bspz_rseq_area(uint64_t fs_base, uint64_t sizes[4])
{
    uint64_t known = &__rseq_size ? __rseq_size : 0;
    int n = 0;

    if (!&__rseq_offset || known == 0)
        return 0;
    sizes[n++] = sizeof(struct rseq) < RSEQ_LEAST ? RSEQ_LEAST : sizeof(struct rseq);
    if (known > 32)
        sizes[n++] = (known + 31) & ~UINT64_C(31);
    if (getauxval(AT_RSEQ_FEATURE_SIZE) > 32)
        sizes[n++] = (getauxval(AT_RSEQ_FEATURE_SIZE) + 31) & ~UINT64_C(31);
    sizes[n] = 0;
    return fs_base + (uint64_t)__rseq_offset;
}

void bspz_boot_id(char id[BSPZ_BOOT_SIZE])
{
    long bytes = bspz_sys_slurp("/proc/sys/kernel/random/boot_id", id, BSPZ_BOOT_SIZE);

    if (bytes < 0)
        bytes = 0;
    id[bytes > 0 && id[bytes - 1] == '\n' ? bytes - 1 : bytes] = '\0';
}

int bspz_rseq_registered(uint64_t address, uint64_t size)
{
    long result = bspz_sys4(SYS_rseq, address, size, 0, BSPZ_RSEQ_SIGNATURE);

    if (result == 0) /* it was not registered before */
        bspz_sys4(SYS_rseq, address, size, 1 /* unregister */, BSPZ_RSEQ_SIGNATURE);
    return result == -EBUSY;
}

bool bspz_rseq_elsewhere(uint64_t fs_base)
{
    char other[RSEQ_LEAST] __attribute__((aligned(RSEQ_LEAST)));
    uint64_t sizes[4], area = bspz_rseq_area(fs_base, sizes);
    long result = bspz_sys4(SYS_rseq, other, sizeof other, 0, BSPZ_RSEQ_SIGNATURE);

    if (result == 0) /* none was registered before */
        bspz_sys4(SYS_rseq, other, sizeof other, 1 /* unregister */, BSPZ_RSEQ_SIGNATURE);
    if (result != -EINVAL)
        return false;
    for (uint64_t size = RSEQ_LEAST; area && size <= RSEQ_MOST; size += RSEQ_LEAST)
        if (bspz_rseq_registered(area, size))
            return false;
    return true;
}

static void read_rseq(struct bspz_thread *thread)
{
    uint64_t sizes[4] = {0};
    uint64_t address = bspz_rseq_area(thread->pointers.fs_base, sizes);

    for (int i = 0; address && sizes[i]; i++) {
        if (!bspz_rseq_registered(address, sizes[i]))
            continue;
        thread->rseq_address = address;
        thread->rseq_size = sizes[i];
        thread->rseq_signature = BSPZ_RSEQ_SIGNATURE;
        return;
    }
}

static bool is_resting(const struct bspz_timer *timer)
{
    return !timer->seconds && !timer->microseconds &&
           (timer->interval_seconds || timer->interval_microseconds);
}

static void read_signals(struct bspz_thread *thread)
{
    struct {
        uint64_t address;
        int32_t flags;
        int32_t unused;
        uint64_t size;
    } stack = {0};

    for (int i = 0; i < BSPZ_SIGNALS; i++)
        bspz_sys4(SYS_rt_sigaction, i + 1, 0, &thread->action[i], sizeof(uint64_t));
    bspz_sys2(SYS_sigaltstack, 0, &stack);
    thread->stack_address = stack.address;
    thread->stack_flags = (uint64_t)(uint32_t)stack.flags;
    thread->stack_size = stack.size;
    for (int i = 0; i < 3; i++)
        bspz_sys2(SYS_getitimer, i, &thread->timer[i]);
    /* ITIMER_REAL with an interval rests, with nothing left, while its signal waits to be taken.
     * Set so it would be off: it is to run out at once, and then to rest again. */
    if (is_resting(&thread->timer[ITIMER_REAL]))
        thread->timer[ITIMER_REAL].microseconds = 1;
}

static int read_directory(struct bspz_thread *thread)
{
    long bytes = bspz_sys2(SYS_getcwd, thread->cwd, sizeof thread->cwd);

    if (bytes < 0 && bytes != -ENOENT)
        return (int)bytes;
    bspz_boot_id(thread->boot);
    thread->umask = (uint32_t)bspz_sys1(SYS_umask, 077);
    bspz_sys1(SYS_umask, thread->umask);
    return 0;
}

int bspz_thread_read(struct bspz_thread *thread, uint64_t mask, const char **what)
{
    struct rlimit limit;
    long error;

    memset(thread, 0, sizeof *thread);
    thread->mask = mask;
    thread->tid = (int32_t)bspz_sys0(SYS_gettid);
    *what = "the thread pointer";
    error = bspz_sys2(SYS_arch_prctl, ARCH_GET_FS, &thread->pointers.fs_base);
    if (!error)
        error = bspz_sys2(SYS_arch_prctl, ARCH_GET_GS, &thread->pointers.gs_base);
    if (error)
        return (int)error;
    *what = "the layout of the address space (/proc/self/stat)";
    error = read_layout(&thread->layout);
    if (error)
        return (int)error;
    *what = "the address of the thread id (prctl PR_GET_TID_ADDRESS)";
    error = bspz_sys2(SYS_prctl, PR_GET_TID_ADDRESS, &thread->tid_address);
    if (error)
        return (int)error;
    *what = "the list of robust mutexes";
    error = bspz_sys3(SYS_get_robust_list, 0, &thread->robust_list, &thread->robust_size);
    if (error)
        return (int)error;
    *what = "the auxiliary vector (/proc/self/auxv)";
    error = bspz_sys_slurp("/proc/self/auxv", (char *)thread->auxv, sizeof thread->auxv);
    if (error < 0)
        return (int)error;
    thread->auxv_size = (uint64_t)error;
    *what = "the current directory";
    error = read_directory(thread);
    if (error)
        return (int)error;
    read_rseq(thread);
    read_signals(thread);
    bspz_sys4(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit);
    thread->stack_limit = limit.rlim_cur;
    bspz_sys2(SYS_prctl, PR_GET_NAME, thread->name);
    return 0;
}

void bspz_thread_put_timers(const struct bspz_thread *thread)
{
    for (int i = 0; i < 3; i++)
        bspz_sys3(SYS_setitimer, i, &thread->timer[i], 0);
}

void bspz_set_name(const char *name)
{
    bspz_sys2(SYS_prctl, PR_SET_NAME, name);
}

struct prctl_mm_map bspz_layout_map(const struct bspz_layout *layout, const uint64_t *auxv,
                                    uint64_t auxv_size)
{
    return (struct prctl_mm_map){
        .start_code = layout->start_code,
        .end_code = layout->end_code,
        .start_data = layout->start_data,
        .end_data = layout->end_data,
        .start_brk = layout->start_brk,
        .brk = layout->brk,
        .start_stack = layout->start_stack,
        .arg_start = layout->arg_start,
        .arg_end = layout->arg_end,
        .env_start = layout->env_start,
        .env_end = layout->env_end,
        .auxv = (void *)(uintptr_t)auxv,
        .auxv_size = (uint32_t)auxv_size,
        .exe_fd = ~0u,
    };
}

int bspz_set_layout(const struct bspz_layout *layout, const uint64_t *auxv, uint64_t auxv_size)
{
    struct prctl_mm_map map = bspz_layout_map(layout, auxv, auxv_size);

    return (int)bspz_sys5(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
}
