/* io.h - complete reads and writes. */
#ifndef BSPZ_BASE_IO_H
#define BSPZ_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes all bytes to a blocking descriptor. 0 or -errno; -EIO when write() takes none.  After an
 * error some bytes may have been written.  Async-signal-safe. */
int bspz_write_all(int fd, const void *bytes, size_t size);

/* The same at a position of a file; and reads as many bytes, -EIO where it has fewer. */
int bspz_write_at(int fd, const void *bytes, size_t size, uint64_t at);
int bspz_read_at(int fd, void *bytes, size_t size, uint64_t at);

/* Reads a short file of the kernel, of /proc or /sys, which one read() returns completely: at most
 * room - 1 bytes, then a 0.  False, and an empty text: it cannot be read, or is empty.
 * Async-signal-safe. */
bool bspz_read_text(const char *path, char *text, size_t room);

#endif
