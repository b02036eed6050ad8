/* io.h - all of it, where the system call may do a part. */
#ifndef BSPZ_BASE_IO_H
#define BSPZ_BASE_IO_H

#include <stddef.h>

/* Writes all bytes to a blocking descriptor.  0 or -errno; -EIO when it takes none.  After an error
 * some of them may have been written.  Async-signal-safe. */
int bspz_write_all(int fd, const void *bytes, size_t size);

#endif
