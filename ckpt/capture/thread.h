/* thread.h - what the kernel keeps for a process besides memory and descriptors.
 *
 * The struct is part of images as it is: every member is aligned by itself, and a change of it is a
 * new BSPZ_THREAD_VERSION. */
#ifndef CKPT_CAPTURE_THREAD_H
#define CKPT_CAPTURE_THREAD_H

#include <linux/prctl.h>
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/capture/arch.h"
#include "lib/base/exact.h"

#define BSPZ_THREAD_VERSION 2u
#define BSPZ_SIGNALS        64
#define BSPZ_AUXV_WORDS     96
#define BSPZ_NAME_SIZE      16
#define BSPZ_CWD_SIZE       4096
#define BSPZ_BOOT_SIZE      40
#define BSPZ_RSEQ_SIGNATURE 0x53053053u /* of x86: what libc registers */

BSPZ_EXACT_BEGIN

/* As for the kernel's rt_sigaction. */
struct bspz_action {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

struct bspz_timer {
    int64_t interval_seconds, interval_microseconds;
    int64_t seconds, microseconds;
};

/* The kernel's record of the address space. */
struct bspz_layout {
    uint64_t start_code, end_code, start_data, end_data;
    uint64_t start_brk, brk, start_stack;
    uint64_t arg_start, arg_end, env_start, env_end;
};

struct bspz_thread {
    struct bspz_context context;
    struct bspz_thread_pointers pointers;
    struct bspz_layout layout;
    uint64_t tid_address; /* where the kernel clears the thread id; 0: unknown */
    uint64_t robust_list, robust_size;
    uint64_t rseq_address, rseq_size, rseq_signature; /* address 0: not registered */
    uint64_t stack_address, stack_flags, stack_size;  /* alternate signal stack */
    uint64_t mask;                                    /* blocked signals */
    struct bspz_action action[BSPZ_SIGNALS];          /* of signal i + 1 */
    struct bspz_timer timer[3];                       /* real, virtual, profiling */
    uint64_t stack_limit;                             /* bytes; ~0 unlimited */
    uint64_t vdso_address;                            /* where libc calls it */
    uint64_t vdso_size;               /* 0: those are patched pages of an earlier kernel */
    uint64_t vvar_address, vvar_size; /* the kernel's data beside it, all mappings together */
    uint64_t auxv[BSPZ_AUXV_WORDS];
    uint64_t auxv_size; /* bytes */
    uint32_t umask;
    int32_t tid;
    char name[BSPZ_NAME_SIZE];
    char cwd[BSPZ_CWD_SIZE];   /* "": removed; "(unreachable)...": not below the root */
    char boot[BSPZ_BOOT_SIZE]; /* the kernel's boot id: which boot of which machine */
};

BSPZ_EXACT_END

/* Fills in all but context and vdso; signals must be blocked already and `mask` is what it was
 * before. 0, or a negative errno with the failing part in *what. */
int bspz_thread_read(struct bspz_thread *thread, uint64_t mask, const char **what);

/* The boot id; "" when unavailable. */
void bspz_boot_id(char id[BSPZ_BOOT_SIZE]);

/* Blocks all signals; returns what was blocked before. */
uint64_t bspz_signals_block(void);
void bspz_signals_set(uint64_t mask);

/* Whether libc has registered an area for restartable sequences at `address` with that size. */
int bspz_rseq_registered(uint64_t address, uint64_t size);

/* Whether other code than libc has registered one; the kernel does not reveal its address. */
bool bspz_rseq_elsewhere(uint64_t fs_base);

/* The address of libc's area and the sizes to try, ended by 0; 0 when libc has none. */
uint64_t bspz_rseq_area(uint64_t fs_base, uint64_t sizes[4]);

/* Sets the robust list and the timers again, in a thawed copy. */
void bspz_thread_put_timers(const struct bspz_thread *thread);

/* Sets the name in process lists and, where the kernel permits, the command line that they show. */
void bspz_set_name(const char *name);
struct prctl_mm_map bspz_layout_map(const struct bspz_layout *layout, const uint64_t *auxv,
                                    uint64_t auxv_size);
int bspz_set_layout(const struct bspz_layout *layout, const uint64_t *auxv, uint64_t auxv_size);

#endif
