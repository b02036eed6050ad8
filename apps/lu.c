/* lu - solves A x = b by LU decomposition with partial pivoting.
 *
 * The processes form a grid of M rows and N columns; element (i, j) belongs to process
 * (i mod M, j mod N).  Stage k finds the pivot within the process column that owns column k, swaps
 * two rows, and sends the multipliers along the rows of the grid and the pivot row along its
 * columns.  The right-hand side is one more column of the matrix, so the forward substitution comes
 * with the decomposition.  Bisseling, "Parallel Scientific Computation", 2nd ed., Oxford University
 * Press 2020, chapter 2.  Every element sees the same operations in the same order for every
 * number of processes.
 *
 * Cost on a square grid: 2 n^3/(3 p) flops + 2 n^2/sqrt(p) * g * (words) + 4 n * l.
 * Memory: n^2/p + 2 n/sqrt(p) words.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/exact.h"
#include "apps/common/fold.h"
#include "apps/common/layout.h"
#include "apps/common/matrix_market.h"
#include "apps/common/options.h"
#include "apps/common/random.h"
#include "apps/common/report.h"

static struct {
    int64_t n, iterations, seed;
    const char *file;
} options = {.n = 200, .iterations = 1, .seed = 1};

static int status;

/* The grid of processes and this one's place in it. */
static struct {
    int rows, cols, row, col;
} grid;

/* This process's part of [A | b], stored by rows, and what the stages exchange. */
static struct {
    int64_t n;
    int64_t rows, cols; /* of the part; the columns include b where it lives here */
    double *value;
    double *multipliers;          /* column k of L, for the rows of the part */
    double *pivot_row;            /* row k of U, for the columns of the part */
    double *spare_row;            /* where a row that is swapped away arrives */
    struct candidate *candidates; /* one per row of the grid */
    int64_t pivot;                /* the row chosen at this stage */
    double *diagonal;             /* pivots of the columns owned by this process column */
    struct entries entries;       /* of the file, where there is one */
} lu;

struct candidate {
    double size; /* absolute value; -1 when the process has no row left */
    int64_t row;
};

static int process_at(int row, int col)
{
    return row * grid.cols + col;
}

/* The first local index whose global index is at least i. */
static int64_t local_from(int64_t i, int parts, int part)
{
    return i <= part ? 0 : (i - part + parts - 1) / parts;
}

static double *at(int64_t row, int64_t col)
{
    return &lu.value[row / grid.rows * lu.cols + col / grid.cols];
}

static bool owns_row(int64_t row)
{
    return row % grid.rows == grid.row;
}

static bool owns_col(int64_t col)
{
    return col % grid.cols == grid.col;
}

static int cyclic_owner(const struct entries *shape, int64_t row, int64_t col)
{
    (void)shape;
    return process_at((int)(row % grid.rows), (int)(col % grid.cols));
}

/* (Re)writes [A | b]; b_i = 1 + i mod 7. */
static void fill(void)
{
    memset(lu.value, 0, (size_t)(lu.rows * lu.cols) * sizeof *lu.value);
    for (int64_t e = 0; e < lu.entries.count; e++)
        *at(lu.entries.item[e].row, lu.entries.item[e].col) = lu.entries.item[e].value;
    for (int64_t i = grid.row; i < lu.n; i += grid.rows) {
        if (!options.file)
            for (int64_t j = grid.col; j < lu.n; j += grid.cols)
                *at(i, j) =
                    2 * random_unit((uint64_t)options.seed, 1, (uint64_t)(i * lu.n + j)) - 1;
        if (owns_col(lu.n))
            *at(i, lu.n) = 1 + (double)(i % 7);
    }
}

static bool create(void)
{
    lu.n = options.n;
    if (options.file) {
        if (!entries_read(options.file, cyclic_owner, &lu.entries))
            return false;
        entries_assemble(&lu.entries);
        if (lu.entries.rows != lu.entries.cols) {
            complain("%s: the matrix is %lld by %lld, not square", options.file,
                     (long long)lu.entries.rows, (long long)lu.entries.cols);
            return false;
        }
        lu.n = lu.entries.rows;
    }
    lu.rows = block_size(lu.n, grid.rows, grid.row);
    lu.cols = block_size(lu.n + 1, grid.cols, grid.col);
    lu.value = allocate(lu.rows * lu.cols, sizeof *lu.value);
    lu.multipliers = allocate(lu.rows, sizeof *lu.multipliers);
    lu.pivot_row = allocate(lu.cols, sizeof *lu.pivot_row);
    lu.spare_row = allocate(lu.cols, sizeof *lu.spare_row);
    lu.candidates = allocate(grid.rows, sizeof *lu.candidates);
    lu.diagonal = allocate(lu.cols, sizeof *lu.diagonal);
    bsp_push_reg(lu.multipliers, lu.rows * (int64_t)sizeof(double));
    bsp_push_reg(lu.pivot_row, lu.cols * (int64_t)sizeof(double));
    bsp_push_reg(lu.spare_row, lu.cols * (int64_t)sizeof(double));
    bsp_push_reg(lu.candidates, grid.rows * (int64_t)sizeof *lu.candidates);
    bsp_push_reg(&lu.pivot, sizeof lu.pivot);
    bsp_sync();
    return true;
}

static void destroy(void)
{
    entries_free(&lu.entries);
    free(lu.value);
    free(lu.multipliers);
    free(lu.pivot_row);
    free(lu.spare_row);
    free(lu.candidates);
    free(lu.diagonal);
}

/* Whether candidate a is to be preferred: the larger one, of equals the upper one. */
static bool better(const struct candidate *a, const struct candidate *b)
{
    return a->size > b->size || (a->size == b->size && a->row < b->row);
}

/* Two supersteps: the process column of column k agrees on the pivot and tells everybody. */
static void choose_pivot(int64_t k)
{
    struct candidate best = {-1, INT64_MAX};

    if (owns_col(k)) {
        for (int64_t i = local_from(k, grid.rows, grid.row); i < lu.rows; i++) {
            struct candidate c = {fabs(lu.value[i * lu.cols + k / grid.cols]),
                                  i * grid.rows + grid.row};

            if (better(&c, &best))
                best = c;
        }
        for (int s = 0; s < grid.rows; s++)
            bsp_put(process_at(s, grid.col), &best, lu.candidates, grid.row * (int64_t)sizeof best,
                    sizeof best);
    }
    bsp_sync();
    if (owns_col(k)) {
        best = lu.candidates[0];
        for (int s = 1; s < grid.rows; s++)
            if (better(&lu.candidates[s], &best))
                best = lu.candidates[s];
        if (!(best.size > 0))
            best.row = -1;
        for (int t = 0; t < grid.cols; t++)
            bsp_put(process_at(grid.row, t), &best.row, &lu.pivot, 0, sizeof best.row);
    }
    bsp_sync();
}

/* One superstep: rows k and r change places; row k goes to everybody below and above as well.
 * The elements left of column k belong to L, which the solution does not need: they stay. */
static void swap_rows(int64_t k, int64_t r)
{
    int64_t col = local_from(k, grid.cols, grid.col);
    int64_t bytes = (lu.cols - col) * (int64_t)sizeof(double);
    int64_t offset = col * (int64_t)sizeof(double);

    if (bytes > 0 && owns_row(r))
        for (int s = 0; s < grid.rows; s++)
            bsp_put(process_at(s, grid.col), &lu.value[r / grid.rows * lu.cols + col], lu.pivot_row,
                    offset, bytes);
    if (bytes > 0 && owns_row(k) && r != k)
        bsp_put(process_at((int)(r % grid.rows), grid.col),
                &lu.value[k / grid.rows * lu.cols + col], lu.spare_row, offset, bytes);
    bsp_sync();
    if (bytes > 0 && r != k && owns_row(r))
        memcpy(&lu.value[r / grid.rows * lu.cols + col], &lu.spare_row[col], (size_t)bytes);
    if (bytes > 0 && owns_row(k))
        memcpy(&lu.value[k / grid.rows * lu.cols + col], &lu.pivot_row[col], (size_t)bytes);
}

/* One superstep: the multipliers of column k reach the other process columns. */
static void send_multipliers(int64_t k)
{
    int64_t row = local_from(k + 1, grid.rows, grid.row);

    if (owns_col(k) && row < lu.rows) {
        double pivot = lu.pivot_row[k / grid.cols];

        for (int64_t i = row; i < lu.rows; i++)
            lu.multipliers[i] = lu.value[i * lu.cols + k / grid.cols] / pivot;
        for (int t = 0; t < grid.cols; t++)
            if (t != grid.col)
                bsp_put(process_at(grid.row, t), &lu.multipliers[row], lu.multipliers,
                        row * (int64_t)sizeof(double), (lu.rows - row) * (int64_t)sizeof(double));
    }
    bsp_sync();
}

/* False when column k has no pivot: the matrix is singular. */
static bool eliminate(int64_t k)
{
    int64_t row = local_from(k + 1, grid.rows, grid.row);
    int64_t col = local_from(k + 1, grid.cols, grid.col);

    choose_pivot(k);
    if (lu.pivot < 0)
        return false;
    swap_rows(k, lu.pivot);
    if (owns_col(k))
        lu.diagonal[k / grid.cols] = lu.pivot_row[k / grid.cols];
    send_multipliers(k);
    for (int64_t i = row; i < lu.rows; i++) {
        double *restrict out = &lu.value[i * lu.cols];
        const double *in = lu.pivot_row;
        double m = lu.multipliers[i];

        for (int64_t j = col; j < lu.cols; j++)
            out[j] -= m * in[j];
    }
    return true;
}

/* U x = y, from the last unknown to the first, two supersteps each: column k of U goes to the
 * process column that holds y; the owner of y_k there knows x_k and tells everybody.  x is whole
 * on every process. */
static void substitute_back(double *x)
{
    double *column = lu.multipliers;

    bsp_push_reg(x, lu.n * (int64_t)sizeof *x);
    bsp_sync();
    for (int64_t k = lu.n - 1; k >= 0; k--) {
        int64_t rows = local_from(k + 1, grid.rows, grid.row); /* rows 0 .. k of the part */

        if (owns_col(k) && rows > 0) {
            for (int64_t i = 0; i < rows; i++)
                column[i] = lu.value[i * lu.cols + k / grid.cols];
            bsp_put(process_at(grid.row, (int)(lu.n % grid.cols)), column, lu.multipliers, 0,
                    rows * (int64_t)sizeof *column);
        }
        bsp_sync();
        if (owns_col(lu.n) && owns_row(k)) {
            double solved = *at(k, lu.n) / column[k / grid.rows];

            for (int s = 0; s < bsp_nprocs(); s++)
                bsp_put(s, &solved, x, k * (int64_t)sizeof *x, sizeof *x);
        }
        bsp_sync();
        if (owns_col(lu.n))
            for (int64_t i = 0; i < local_from(k, grid.rows, grid.row); i++)
                lu.value[i * lu.cols + lu.n / grid.cols] -= column[i] * x[k];
    }
    bsp_pop_reg(x);
    bsp_sync();
}

/* The scaled residual |A x - b| / (|A| |x| n eps) in the infinity norm, which a stable solution
 * keeps well below 16 (the measure of the LINPACK benchmark). */
static double residual(const double *x)
{
    double *r = allocate(lu.n, sizeof *r), *size = allocate(lu.n, sizeof *size);
    double worst = 0, norm_a = 0, norm_x = 0;

    fill();
    for (int64_t i = grid.row; i < lu.n; i += grid.rows) {
        for (int64_t j = grid.col; j < lu.n; j += grid.cols) {
            r[i] += *at(i, j) * x[j];
            size[i] += fabs(*at(i, j));
        }
        if (owns_col(lu.n))
            r[i] -= *at(i, lu.n);
    }
    if (lu.n > 0) {
        bsp_fold(add_vectors, r, r, lu.n * (int64_t)sizeof *r);
        bsp_fold(add_vectors, size, size, lu.n * (int64_t)sizeof *size);
    }
    for (int64_t i = 0; i < lu.n; i++) {
        worst = isnan(r[i]) ? INFINITY : fmax(worst, fabs(r[i]));
        norm_a = fmax(norm_a, size[i]);
        norm_x = fmax(norm_x, fabs(x[i]));
    }
    free(r);
    free(size);
    return worst == 0 ? 0 : worst / (norm_a * norm_x * (double)lu.n * 0x1p-52);
}

static double log_determinant(void)
{
    struct exact sum = {0};

    if (grid.row == 0)
        for (int64_t k = grid.col; k < lu.n; k += grid.cols)
            exact_add(&sum, log(fabs(lu.diagonal[k / grid.cols])));
    return exact_total(&sum);
}

static int report_solution(const double *x, double seconds)
{
    struct exact sum = {0};
    double n = (double)lu.n, scaled = residual(x), log_det = log_determinant();

    for (int64_t i = 0; i < lu.n; i++)
        exact_add(&sum, x[i]);
    report_begin("lu");
    report_integer("n", lu.n);
    report_real("log of the determinant", log_det);
    report_real("sum of x", exact_round(&sum));
    if (lu.n > 0) {
        report_real("first of x", x[0]);
        report_real("last of x", x[lu.n - 1]);
    }
    report_time("seconds per solution", seconds);
    report_time("gflop per second", 2e-9 / 3 * n * n * n / seconds);
    report_time("scaled residual", scaled);
    return report_end(scaled < 16);
}

/* Decomposes and solves; false when the matrix is singular. */
static bool solve(double *x)
{
    fill();
    for (int64_t k = 0; k < lu.n; k++)
        if (!eliminate(k)) {
            complain("the matrix is singular: column %lld has no pivot", (long long)k + 1);
            return false;
        }
    substitute_back(x);
    return true;
}

static void spmd(void)
{
    double *x, start;
    bool solved = true;

    bsp_begin(bsp_nprocs());
    grid_shape(bsp_nprocs(), &grid.rows, &grid.cols);
    grid.row = bsp_pid() / grid.cols;
    grid.col = bsp_pid() % grid.cols;
    status = 1;
    if (create()) {
        x = allocate(lu.n, sizeof *x);
        start = bsp_time();
        for (int64_t round = 0; round < options.iterations && solved; round++)
            solved = solve(x);
        if (solved)
            status = report_solution(x, (bsp_time() - start) / (double)options.iterations);
        free(x);
    }
    destroy();
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"n", 'n', OPTION_INTEGER, &options.n, 0, 1e6, "N", "size of a random matrix"},
        {"matrix", 'a', OPTION_TEXT, &options.file, 0, 0, "FILE", "read A (Matrix Market)"},
        {"seed", 's', OPTION_INTEGER, &options.seed, 0, 1e15, "S", "seed of the random matrix"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 1, 1e12, "I", "repeat I times"},
        {NULL},
    };
    static const struct program program = {
        "lu", "Solves A x = b by LU decomposition; b is 1, 2, .. 7, 1, 2, ...", "", 0, rows};

    options_parse(&program, argc, argv);
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
