/* matrix_market.h - reads Matrix Market files into the memory of many processes.
 *
 * Boisvert, Pozo, Remington: "The Matrix Market exchange formats: initial design", NISTIR 5935,
 * 1996.  Understood are coordinate and array files, real, integer and pattern, general, symmetric
 * and skew-symmetric.  Process 0 reads the file (so that it need exist there only, and may be a
 * pipe) in pieces and sends every entry to its owner; nobody ever holds more than its own entries
 * and one piece.
 */
#ifndef APPS_COMMON_MATRIX_MARKET_H
#define APPS_COMMON_MATRIX_MARKET_H

#include <stdbool.h>
#include <stdint.h>

struct entry {
    int64_t row, col; /* from 0 */
    double value;
};

struct entries {
    int64_t rows, cols; /* of the whole matrix */
    int64_t count;      /* entries held by this process */
    struct entry *item;
    int64_t capacity;
};

/* The process that is to hold an entry of the matrix. */
typedef int (*entry_owner)(const struct entries *shape, int64_t row, int64_t col);

/* The usual rule: blocks of rows. */
int entries_by_rows(const struct entries *shape, int64_t row, int64_t col);

/* Reads the file called path ("-": stdin).  Entries stored once for two places of a symmetric
 * matrix are delivered to both.  In the entries of a file that repeats a place both remain.
 * Returns false on every process, after one message with the line number from process 0, when the
 * file cannot be read or is malformed.  Collective; cost (entries in file) * 24 bytes * g + l per
 * 16384 entries. */
bool entries_read(const char *path, entry_owner owner, struct entries *entries);

/* Adds an entry to those of this process. */
void entries_add(struct entries *entries, struct entry entry);

/* Sends every entry to its owner under the new rule.  Collective, one superstep of h = the
 * entries. */
void entries_redistribute(struct entries *entries, entry_owner owner);

/* Orders by row, then column, then value, and replaces entries of the same place by their sum. */
void entries_assemble(struct entries *entries);

void entries_free(struct entries *entries);

#endif
