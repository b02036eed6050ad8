/* trial_read.h - how fast an image can be read from where it is kept, before it has to be.
 *
 * A thread of its own, whose reads are idle ones to the disk's scheduler, reads the beginning of a
 * file, at most TRIAL_READ_BYTES and for at most TRIAL_READ_NS.  It goes past the page cache: by
 * direct reads, or where the file system has none after the cache was told to let go of the file,
 * which is durable; of a file system in memory memory is the medium, and its speed is the answer.
 */
#ifndef BSPRUN_TRIAL_READ_H
#define BSPRUN_TRIAL_READ_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAL_READ_BYTES (UINT64_C(16) << 20)
#define TRIAL_READ_LEAST (UINT64_C(1) << 20) /* what is smaller says nothing of speed */
#define TRIAL_READ_NS    UINT64_C(500000000)

struct trial_read;

/* Takes over the descriptor, which must not be used by others.  NULL, and it is closed: no thread can
 * be had. */
struct trial_read *trial_read_begin(int fd);
/* What was found, once it is done; false: not yet, or nothing could be read. */
bool trial_read_result(const struct trial_read *trial, uint64_t *bytes, uint64_t *ns);
/* A read that has not come to its end goes on by itself.  NULL is fine. */
void trial_read_free(struct trial_read *trial);

#endif
