/* trial_read.h - measures how fast an image can be read, before a restore.
 *
 * A thread of its own, whose reads are idle ones to the disk's scheduler, reads the beginning of a
 * file, at most TRIAL_READ_BYTES and for at most TRIAL_READ_NS.  It bypasses the page cache: by
 * direct reads or, if the file system has none, after dropping the file from the cache; on a file
 * system in memory the result is the speed of memory.
 */
#ifndef BSPRUN_TRIAL_READ_H
#define BSPRUN_TRIAL_READ_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAL_READ_BYTES (UINT64_C(16) << 20)
#define TRIAL_READ_LEAST (UINT64_C(1) << 20) /* too few bytes to measure speed */
#define TRIAL_READ_NS    UINT64_C(500000000)

struct trial_read;

/* Takes ownership of the descriptor, which must be private.  NULL: no thread; the descriptor is
 * closed. */
struct trial_read *trial_read_begin(int fd);
/* The result; false: not finished, or nothing could be read. */
bool trial_read_result(const struct trial_read *trial, uint64_t *bytes, uint64_t *ns);
/* An unfinished read continues by itself.  Harmless for NULL. */
void trial_read_free(struct trial_read *trial);

#endif
