/* vdso.h - the kernel's fast functions (clock_gettime and its like) under another kernel.
 *
 * libc keeps their addresses.  If the kernel that restores a process has another vdso, the saved
 * one stays, and the first instructions of each of its functions are replaced by a jump to the same
 * function in the new one, or by returning -ENOSYS if that lacks it; libc then makes the system
 * call. */
#ifndef CKPT_CAPTURE_VDSO_H
#define CKPT_CAPTURE_VDSO_H

#include <stddef.h>
#include <stdint.h>

/* Patches `old`, a writable copy of the saved pages, which may have been patched before.  `new` are
 * pages of this kernel, which will be at new_home.  The number of functions redirected, or a
 * negative errno: -ENOEXEC: `old` cannot be parsed. */
int bspz_vdso_redirect(void *old, size_t old_size, const void *new, size_t new_size,
                       uint64_t new_home);

#endif
