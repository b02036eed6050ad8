/* unattributed.h - unattributed output: lines whose writer is unknown.
 *
 * A program started by a process may exit before its output is read, which differs between
 * executions.  So such lines have no order: after a rollback each line matches any equal one shown
 * since the snapshot.
 *
 * Pure.  Lines are stored as 64-bit hashes.
 */
#ifndef BSPRUN_UNATTRIBUTED_H
#define BSPRUN_UNATTRIBUTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNATTRIBUTED_MOST (UINT32_C(1) << 20) /* most lines stored */

/* All zeros: none yet.  hashes[0 ..  at - base) were shown and, after a rollback, repeated;
 * hashes[at - base ..  count) were shown and are expected again. */
struct unattributed {
    uint64_t *hashes;
    uint32_t count;
    uint64_t base; /* number of dropped lines */
    uint64_t at;   /* number of lines in the present execution */
    uint64_t skip; /* expected lines whose hashes are unknown */
};

void unattributed_free(struct unattributed *lines);
/* Adds a line that is shown: 0 or -ENOMEM. */
int unattributed_add(struct unattributed *lines, int stream, const char *line, size_t size);
/* Whether it is an expected line that was shown before; consumes it. */
bool unattributed_take(struct unattributed *lines, int stream, const char *line, size_t size);
/* Whether any line is expected. */
bool unattributed_expects(const struct unattributed *lines);
/* There will be no rollback before position. */
void unattributed_forget(struct unattributed *lines, uint64_t position);
/* Rolls back to the position. */
void unattributed_back(struct unattributed *lines, uint64_t position);
/* Expects no lines. */
void unattributed_clear(struct unattributed *lines);

#endif
