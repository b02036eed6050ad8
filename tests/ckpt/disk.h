/* disk.h - a disk that remembers in which order it was written to, and what would be left of it had
 * the machine stopped at some point. */
#ifndef TESTS_CKPT_DISK_H
#define TESTS_CKPT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/io.h"

/* Everything below root is done on the real disk and noted.  Calls above fail_at (1, 2, ...; 0:
 * never) count as `calls`; that one fails with fail_with. */
struct disk {
    char root[256];
    struct disk_step *steps;
    size_t count, room;
    size_t calls, fail_at;
    int fail_with;
    bool failed; /* it happened */
};

/* The table to give to a store; disk->root must be set. */
struct store_io disk_io(struct disk *disk);
void disk_free(struct disk *disk);

/* What happens to what was not made durable. */
enum disk_loss {
    DISK_KEEPS, /* all of it is there all the same */
    DISK_LOSES, /* none of it */
    DISK_MIXES, /* files torn, entries of directories there or not, by the seed */
};

/* Makes in the (existing, empty) directory what the first `steps` of the disk's steps left. */
void disk_remains(const struct disk *disk, size_t steps, enum disk_loss loss, uint64_t seed,
                  const char *directory);

#endif
