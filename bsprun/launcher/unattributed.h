/* unattributed.h - unattributed output: lines of which it is not known which process wrote them.
 *
 * A program that a process has started may be gone before its output is looked at, and whether it
 * is differs from one execution to the next.  So such lines have no order: after going back to a
 * snapshot each one that comes again is taken for any equal one that was shown after it.
 *
 * Pure.  Lines are remembered by a hash of 64 bits.
 */
#ifndef BSPRUN_UNATTRIBUTED_H
#define BSPRUN_UNATTRIBUTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNATTRIBUTED_MOST (UINT32_C(1) << 20) /* lines that are remembered */

/* All zeros: none yet.  hashes[0 .. at - base) were shown and, if need be, have come again;
 * hashes[at - base .. count) were shown and are expected again. */
struct unattributed {
    uint64_t *hashes;
    uint32_t count, capacity;
    uint64_t base; /* so many are forgotten */
    uint64_t at;   /* how many the present execution has brought */
    uint64_t skip; /* of them, to come again, but not known any more */
};

void unattributed_free(struct unattributed *lines);
/* A line of a stream is shown: 0 or -ENOMEM. */
int unattributed_add(struct unattributed *lines, int stream, const char *line, size_t size);
/* Whether it is one that was shown before, and is expected. */
bool unattributed_take(struct unattributed *lines, int stream, const char *line, size_t size);
/* Whether any is. */
bool unattributed_expects(const struct unattributed *lines);
/* What came before is not gone back to. */
void unattributed_forget(struct unattributed *lines, uint64_t position);
/* As when `at` was that. */
void unattributed_back(struct unattributed *lines, uint64_t position);
/* Nothing is expected again. */
void unattributed_clear(struct unattributed *lines);

#endif
