/* linux.h - system calls without libc: no errno, no cancellation, no locks, so that they are
 * possible while the memory of the process is being saved.  Results are the kernel's: an error is a
 * negative errno. */
#ifndef CKPT_CAPTURE_LINUX_H
#define CKPT_CAPTURE_LINUX_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "ckpt/capture/arch.h"

#define BSPZ_IN                    static inline __attribute__((always_inline))

#define bspz_sys0(number)          bspz_system(number, 0, 0, 0, 0, 0, 0)
#define bspz_sys1(number, a)       bspz_system(number, (long)(a), 0, 0, 0, 0, 0)
#define bspz_sys2(number, a, b)    bspz_system(number, (long)(a), (long)(b), 0, 0, 0, 0)
#define bspz_sys3(number, a, b, c) bspz_system(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define bspz_sys4(number, a, b, c, d)                                                              \
    bspz_system(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define bspz_sys5(number, a, b, c, d, e)                                                           \
    bspz_system(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define bspz_sys6(number, a, b, c, d, e, f)                                                        \
    bspz_system(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* mmap and mremap return addresses; the last page of the address space is errors. */
BSPZ_IN bool bspz_failed(long result)
{
    return (unsigned long)result > -4096ul;
}

BSPZ_IN int bspz_sys_open(const char *path, int flags)
{
    return (int)bspz_sys4(SYS_openat, AT_FDCWD, path, flags, 0);
}

BSPZ_IN void bspz_sys_close(int fd)
{
    bspz_sys1(SYS_close, fd);
}

BSPZ_IN long bspz_sys_map(uint64_t address, uint64_t bytes, int prot, int flags, int fd,
                          uint64_t offset)
{
    return bspz_sys6(SYS_mmap, address, bytes, prot, flags, fd, offset);
}

/* Reads until `bytes` are there or the file ends; how many, or a negative errno. */
long bspz_sys_read_all(int fd, void *to, size_t bytes);

/* Reads a whole small file into `to`, ended by a zero byte; its length, or a negative errno;
 * -EFBIG when it does not fit. */
long bspz_sys_slurp(const char *path, char *to, size_t room);

/* Parses a number in that base at *at, which it advances; digits are lower case. */
uint64_t bspz_number(const char **at, unsigned base);
/* What is behind the name, such as "\nGroups:", and blanks in a text of /proc; NULL: it has no such
 * name. */
const char *bspz_behind(const char *text, const char *name);
/* The number there; 0: there is none. */
uint64_t bspz_number_behind(const char *text, const char *name, unsigned base);

#endif
