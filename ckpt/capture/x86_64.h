/* x86_64.h - what capture and restore need of this processor: the system call instruction, the
 * registers that a function must preserve, and the thread pointer.  Nothing here uses libc. */
#ifndef CKPT_CAPTURE_X86_64_H
#define CKPT_CAPTURE_X86_64_H

#include <stdbool.h>
#include <stdint.h>

#define BSPZ_RED_ZONE 128 /* bytes below the stack pointer that a leaf function may use */

/* A suspended call of bspz_switch_stack: its registers lie on its stack. */
struct bspz_context {
    uint64_t stack_pointer;
    uint64_t resume; /* where the restorer jumps to */
};

/* The state of a thread besides registers and memory. */
struct bspz_thread_pointers {
    uint64_t fs_base;
    uint64_t gs_base;
};

/* Never touches errno: the result is the kernel's, an error is -errno. */
static inline __attribute__((always_inline)) long bspz_system(long number, long a, long b, long c,
                                                              long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Forks a child without exit signal: its parent sees it only with __WALL.  With an address, the
 * kernel keeps the child's thread id there.  beside: a child of this process's parent instead. 0 in
 * the child. */
static inline __attribute__((always_inline)) long bspz_raw_fork(uint64_t tid_address, bool beside)
{
    /* CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, CLONE_PARENT; the order of the arguments is this
     * processor's. */
    return bspz_system(56, (tid_address ? 0x01200000 : 0) | (beside ? 0x8000 : 0), 0, 0,
                       (long)tid_address, 0, 0);
}

/* Starts a child without exit signal that runs function(argument) in the caller's memory, on the
 * stack that ends at `top`, and exits with its result as status; the caller waits meanwhile.  Costs
 * no copy of the page tables.  Returns the child's process id or a negative errno. */
long bspz_borrow_memory(void *top, long (*function)(void *), void *argument);

/* Calls function(argument) on the stack that ends at `top` and returns its result.  `context`
 * then describes this call: whoever loads its stack pointer, puts a value into the result register
 * and jumps to its resume address makes the call return a second time, with that value. */
long bspz_switch_stack(struct bspz_context *context, void *top, long (*function)(void *),
                       void *argument);

/* The first instructions of a function of the vdso: a jump to `target` or, without one, a return of
 * -ENOSYS.  BSPZ_STUB_BYTES long. */
#define BSPZ_STUB_BYTES 12
static inline void bspz_write_stub(uint8_t *code, uint64_t target)
{
    int at = 0;

    if (!target) { /* mov $-38, %rax; ret */
        static const uint8_t no_such_call[] = {0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3};

        for (; at < (int)sizeof no_such_call; at++)
            code[at] = no_such_call[at];
        return;
    }
    code[at++] = 0x48; /* movabs $target, %rax */
    code[at++] = 0xb8;
    for (int i = 0; i < 8; i++)
        code[at++] = (uint8_t)(target >> 8 * i);
    code[at++] = 0xff; /* jmp *%rax */
    code[at++] = 0xe0;
}

/* The end of a restore: does not return and needs no stack. */
static inline __attribute__((always_inline, noreturn)) void
bspz_resume(uint64_t stack_pointer, uint64_t resume, uint64_t value)
{
    __asm__ volatile("mov %[stack], %%rsp\n\t"
                     "jmp *%[resume]"
                     :
                     : [stack] "r"(stack_pointer), [resume] "r"(resume), "a"(value)
                     : "memory");
    __builtin_unreachable();
}

/* Calls function(argument) on another stack; does not return. */
static inline __attribute__((always_inline, noreturn)) void
bspz_leave_for(void *top, void (*function)(void *), void *argument)
{
    __asm__ volatile("mov %[stack], %%rsp\n\t"
                     "call *%[function]\n\t"
                     "ud2"
                     :
                     : [stack] "r"((uintptr_t)top & ~(uintptr_t)15), [function] "r"(function),
                       "D"(argument)
                     : "memory");
    __builtin_unreachable();
}

#endif
