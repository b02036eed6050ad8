/* sparse.h - a sparse matrix distributed by blocks of rows, times a vector.
 *
 * Row i of a matrix belongs to the process that owns item i of the block distribution; so do
 * element i of the result and, by columns, element j of the vector that is multiplied.  A process
 * stores the elements it owns followed by copies of the others that its rows need; who needs what
 * is found out once.  Bisseling, "Parallel Scientific Computation", 2nd ed., Oxford University
 * Press 2020, chapter 4.
 */
#ifndef APPS_COMMON_SPARSE_H
#define APPS_COMMON_SPARSE_H

#include <stdint.h>

#include "apps/common/matrix_market.h"

/* What this process sends to another before each multiplication. */
struct delivery {
    int to;
    int64_t offset; /* place of the copies behind the receiver's x, in elements */
    int64_t count;
    int32_t *index; /* elements of the own part of x */
};

struct sparse {
    int64_t rows, cols; /* of the whole matrix */
    int64_t first_row, own_rows;
    int64_t first_col, own_cols;
    int64_t *start; /* row i: entries start[i] .. start[i+1]-1 */
    int32_t *col;   /* place in x; in a row by ascending column of the matrix */
    double *value;
    int64_t ghosts;     /* copies of elements owned by others */
    int64_t *ghost_col; /* their columns, ascending */
    double *x;          /* own elements, then the copies; registered */
    double *outgoing;   /* room for one delivery */
    int deliveries;
    struct delivery *delivery;
};

/* Takes the entries of the own rows (by the rule entries_by_rows), in any order; entries of the
 * same place are added.  Collective; 2 supersteps. */
void sparse_create(struct sparse *matrix, struct entries *entries);

/* y = A x for the own rows; the own part of x is taken from matrix->x.  Each row is summed in the
 * order of its columns.  Collective; cost 2 nz/p + (copies needed by any process) * g + l. */
void sparse_multiply(struct sparse *matrix, double *y);

/* sums = the own part of (1 .. 1) A, absolute says of |A|.  Collective; one superstep. */
void sparse_column_sums(struct sparse *matrix, double *sums, bool absolute);

/* Collective. */
void sparse_destroy(struct sparse *matrix);

#endif
