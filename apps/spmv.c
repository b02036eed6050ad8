/* spmv - a sparse matrix times a vector, and its dominant eigenvalue by the power method.
 *
 * The matrix is distributed by blocks of rows; before each product every process sends the
 * elements of the vector that others need, each once per process.  Bisseling, "Parallel Scientific
 * Computation", 2nd ed., Oxford University Press 2020, chapter 4.  With --iterations the product
 * is scaled to length one and multiplied again (von Mises and Pollaczek-Geiringer, 1929).
 *
 * Cost per product: 2 nz/p flops + (elements needed from elsewhere) * g + l.
 * Memory: (2 nz + 3 n)/p words and the copies.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/exact.h"
#include "apps/common/layout.h"
#include "apps/common/options.h"
#include "apps/common/report.h"
#include "apps/common/sparse.h"

static struct {
    const char *matrix_file, *x_file, *y_file;
    int64_t grid, iterations;
} options = {.grid = 100, .iterations = 1};

static int status;

enum { OUTPUT_PIECE = 1 << 17 }; /* elements of y that process 0 writes per superstep */

/* The matrix of the five-point Laplace operator on a square grid, numbered row by row: 4 on the
 * diagonal and -1 for each neighbour. */
static void generate_laplacian(struct entries *entries)
{
    int64_t n = options.grid, first, own;

    *entries = (struct entries){.rows = n * n, .cols = n * n};
    first = block_first(n * n, bsp_nprocs(), bsp_pid());
    own = block_size(n * n, bsp_nprocs(), bsp_pid());
    for (int64_t i = first; i < first + own; i++) {
        entries_add(entries, (struct entry){i, i, 4});
        if (i >= n)
            entries_add(entries, (struct entry){i, i - n, -1});
        if (i % n > 0)
            entries_add(entries, (struct entry){i, i - 1, -1});
        if (i % n < n - 1)
            entries_add(entries, (struct entry){i, i + 1, -1});
        if (i < n * n - n)
            entries_add(entries, (struct entry){i, i + n, -1});
    }
}

static bool load_matrix(struct entries *entries)
{
    if (!options.matrix_file) {
        generate_laplacian(entries);
        return true;
    }
    if (!entries_read(options.matrix_file, entries_by_rows, entries))
        return false;
    if (options.iterations > 1 && entries->rows != entries->cols) {
        complain("%s: only a square matrix can be multiplied repeatedly", options.matrix_file);
        entries_free(entries);
        return false;
    }
    return true;
}

/* x is 1, 1, 1, ... or what a file says. */
static bool load_x(struct sparse *matrix)
{
    struct entries entries;
    bool fits;

    for (int64_t j = 0; j < matrix->own_cols; j++)
        matrix->x[j] = options.x_file ? 0 : 1;
    if (!options.x_file)
        return true;
    if (!entries_read(options.x_file, entries_by_rows, &entries))
        return false;
    fits = entries.rows == matrix->cols && entries.cols == 1;
    if (!fits)
        complain("%s: expected %lld rows and 1 column, found %lld and %lld", options.x_file,
                 (long long)matrix->cols, (long long)entries.rows, (long long)entries.cols);
    for (int64_t e = 0; e < entries.count && fits; e++)
        matrix->x[entries.item[e].row - matrix->first_col] += entries.item[e].value;
    entries_free(&entries);
    return fits;
}

/* The exact sum of x_i * y_i over all processes, rounded; y NULL stands for ones. */
static double total(const double *x, const double *y, int64_t count)
{
    struct exact sum = {0};

    for (int64_t i = 0; i < count; i++)
        exact_add_product(&sum, x[i], y ? y[i] : 1);
    return exact_total(&sum);
}

/* The sum of the elements of A x must be the column sums of A times x, up to rounding. */
static bool product_is_right(struct sparse *m, const double *y)
{
    double *sums = allocate(m->own_cols, sizeof *sums);
    double left = total(y, NULL, m->own_rows), right, bound;

    sparse_column_sums(m, sums, false);
    right = total(sums, m->x, m->own_cols);
    sparse_column_sums(m, sums, true);
    for (int64_t j = 0; j < m->own_cols; j++)
        sums[j] *= fabs(m->x[j]);
    bound = total(sums, NULL, m->own_cols) * (double)(m->rows + m->cols + 2) * 0x1p-52;
    free(sums);
    return fabs(left - right) <= bound;
}

/* Writes y as a Matrix Market array, piece by piece, from process 0.  Collective. */
static bool write_vector(const char *path, const struct sparse *m, double *y)
{
    FILE *file = NULL;
    double *piece = NULL;
    int failed = 0;

    if (bsp_pid() == 0) {
        file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
        failed = !file || fprintf(file, "%%%%MatrixMarket matrix array real general\n%lld 1\n",
                                  (long long)m->rows) < 0;
        piece = allocate(OUTPUT_PIECE, sizeof *piece);
    }
    bsp_push_reg(y, m->own_rows * (int64_t)sizeof *y);
    bsp_sync();
    for (int s = 0; s < bsp_nprocs(); s++) {
        int64_t size = block_size(m->rows, bsp_nprocs(), s);

        for (int64_t i = 0; i < size; i += OUTPUT_PIECE) {
            int64_t count = size - i < OUTPUT_PIECE ? size - i : OUTPUT_PIECE;

            if (bsp_pid() == 0)
                bsp_get(s, y, i * (int64_t)sizeof *y, piece, count * (int64_t)sizeof *piece);
            bsp_sync();
            for (int64_t k = 0; k < count && file && !failed; k++)
                failed = fprintf(file, "%.17g\n", piece[k]) < 0;
        }
    }
    bsp_pop_reg(y);
    bsp_sync();
    free(piece);
    if (file)
        failed |= file == stdout ? fflush(file) != 0 : fclose(file) != 0;
    failed = bsp_any(failed);
    if (failed)
        complain("cannot write %s", path);
    return !failed;
}

/* The Euclidean norm of y. */
static double length_of(const double *y, int64_t count)
{
    double squares = total(y, y, count), most = 0;
    struct exact scaled = {0};
    int exponent;

    if (isnan(squares) || (squares > 0x1p-800 && isfinite(squares)))
        return sqrt(squares);
    /* Squares may have under- or overflowed: once more, with the largest element between 1/2 and
     * 1. */
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(y[i]));
    most = bsp_maxD(most);
    if (most == 0 || !isfinite(most))
        return most;
    frexp(most, &exponent);
    for (int64_t i = 0; i < count; i++)
        exact_add_product(&scaled, ldexp(y[i], -exponent), ldexp(y[i], -exponent));
    return ldexp(sqrt(exact_total(&scaled)), exponent);
}

/* x = y / |y|; returns |y| in the Euclidean norm, and the Rayleigh quotient of the old x. */
static double normalise(struct sparse *m, const double *y, double *rayleigh)
{
    double length = length_of(y, m->own_rows);
    double xx = total(m->x, m->x, m->own_rows);

    *rayleigh = xx > 0 ? total(m->x, y, m->own_rows) / xx : 0;
    for (int64_t i = 0; i < m->own_rows; i++)
        m->x[i] = length > 0 ? y[i] / length : 0;
    return length;
}

static int64_t count_entries(const struct sparse *m)
{
    return (int64_t)bsp_sumD((double)m->start[m->own_rows]);
}

static int report(struct sparse *m, const double *y, double seconds, bool good)
{
    double sum = total(y, NULL, m->own_rows), length = length_of(y, m->own_rows);
    double eigenvalue = 0;
    int64_t entries = count_entries(m);

    if (options.iterations > 1)
        normalise(m, y, &eigenvalue);
    report_begin("spmv");
    report_integer("rows", m->rows);
    report_integer("columns", m->cols);
    report_integer("entries", entries);
    report_real("sum of y", sum);
    report_real("length of y", length);
    if (options.iterations > 1)
        report_real("eigenvalue estimate", eigenvalue);
    report_time("seconds per product", seconds);
    return report_end(good);
}

static void run(struct sparse *m)
{
    double *y = allocate(m->own_rows, sizeof *y), seconds = 0, estimate;
    /* A vector on stdout leaves no room for a summary there. */
    bool good = true, on_stdout = options.y_file && strcmp(options.y_file, "-") == 0;

    for (int64_t k = 1; k <= options.iterations; k++) {
        double start = bsp_time();

        sparse_multiply(m, y);
        seconds += bsp_time() - start;
        if (k == 1 || k == options.iterations)
            good = product_is_right(m, y) && good;
        if (k < options.iterations)
            normalise(m, y, &estimate);
    }
    if (!good && on_stdout)
        complain("the result is wrong");
    if (options.y_file)
        good = write_vector(options.y_file, m, y) && good;
    if (on_stdout)
        status = good ? 0 : 1;
    else
        status = report(m, y, seconds / (double)options.iterations, good);
    free(y);
}

static void spmd(void)
{
    struct entries entries;
    struct sparse matrix;

    bsp_begin(bsp_nprocs());
    status = 1;
    if (load_matrix(&entries)) {
        sparse_create(&matrix, &entries);
        entries_free(&entries);
        if (load_x(&matrix))
            run(&matrix);
        sparse_destroy(&matrix);
    }
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"grid", 'g', OPTION_INTEGER, &options.grid, 0, 40000, "N",
         "without MATRIX: Laplace operator on an N x N grid"},
        {"x", 'x', OPTION_TEXT, &options.x_file, 0, 0, "FILE", "read x (Matrix Market), else ones"},
        {"output", 'o', OPTION_TEXT, &options.y_file, 0, 0, "FILE", "write y (Matrix Market)"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 1, 1e12, "I",
         "multiply I times, scaling in between"},
        {NULL},
    };
    static const struct program program = {
        "spmv", "Computes y = A x for a sparse matrix in a Matrix Market file (- is stdin).",
        "[MATRIX]", 1, rows};
    int operand;

    operand = options_parse(&program, argc, argv);
    options.matrix_file = argv[operand];
    if (stdin_is_needed_twice(&program, options.matrix_file, options.x_file))
        return 2;
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
