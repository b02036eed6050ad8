/* vdso.h - the kernel's fast functions (clock_gettime and its like) under another kernel.
 *
 * libc keeps their addresses.  Where the kernel that a process is restored on has other pages, the
 * saved ones stay, and the first instructions of each function are replaced by a jump to the
 * function of that name in the new ones, or by an answer of -ENOSYS where there is none; libc then
 * makes the system call. */
#ifndef CKPT_CAPTURE_VDSO_H
#define CKPT_CAPTURE_VDSO_H

#include <stddef.h>
#include <stdint.h>

/* Patches `old`, a writable copy of the saved pages, which may have been patched before.  `new` are
 * pages of this kernel, which will be at new_home.  The number of functions redirected, or a
 * negative errno: -ENOEXEC when old is not understood. */
int bspz_vdso_redirect(void *old, size_t old_size, const void *new, size_t new_size,
                       uint64_t new_home);

#endif
