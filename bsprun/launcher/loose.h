/* loose.h - lines of which nobody knows which process wrote them.
 *
 * A program that a process has started may be gone before its output is looked at, and whether it
 * is differs from one execution to the next.  So such lines have no order: after going back to a
 * snapshot each one that comes again is taken for any equal one that was shown after it.
 *
 * Pure.  Lines are remembered by a hash of 64 bits.
 */
#ifndef BSPRUN_LOOSE_H
#define BSPRUN_LOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOSE_MOST (UINT32_C(1) << 20) /* lines that are remembered */

/* All zeros: none yet.  lines[0 .. at - base) were shown and, if need be, have come again;
 * lines[at - base .. count) were shown and are expected again. */
struct loose {
    uint64_t *lines;
    uint32_t count, capacity;
    uint64_t base; /* so many are forgotten */
    uint64_t at;   /* how many the present execution has brought */
    uint64_t skip; /* of them, to come again, but not known any more */
};

void loose_free(struct loose *loose);
/* A line of a stream is shown: 0 or -ENOMEM. */
int loose_add(struct loose *loose, int stream, const char *line, size_t size);
/* Whether it is one that was shown before, and is expected. */
bool loose_take(struct loose *loose, int stream, const char *line, size_t size);
/* Whether any is. */
bool loose_expects(const struct loose *loose);
/* What came before is not gone back to. */
void loose_forget(struct loose *loose, uint64_t position);
/* As when `at` was that. */
void loose_back(struct loose *loose, uint64_t position);
/* Nothing is expected again. */
void loose_clear(struct loose *loose);

#endif
