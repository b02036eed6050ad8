/* matmul - the product C = A B of two dense matrices.
 *
 * The processes form a grid; process (s, t) owns block (s, t) of each matrix.  In each superstep
 * everybody gets, from its row of the grid, a panel of some columns of A and, from its column, the
 * same number of rows of B, and adds their product to its block of C.  Van de Geijn and Watts:
 * "SUMMA: scalable universal matrix multiplication algorithm", Concurrency 9, 1997.  Every
 * element of C is summed in the order of k, so that it does not depend on the number of processes.
 *
 * Cost, for n x n matrices on a square grid with panels of b columns:
 * 2 n^3/p flops + 2 n^2/sqrt(p) * g + (n/b) * l.  Memory: 3 n^2/p + 2 b n/sqrt(p) words.
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
    int64_t n, m, k, panel, iterations, seed;
    const char *a_file, *b_file;
} options = {.n = 300, .m = -1, .k = -1, .panel = 64, .iterations = 1, .seed = 1};

static int status;

/* The grid of processes and this one's place in it. */
static struct {
    int rows, cols, row, col;
} grid;

/* One block of a distributed matrix. */
struct matrix {
    int64_t rows, cols; /* of the whole */
    int64_t row0, col0; /* of the block */
    int64_t own_rows, own_cols;
    int64_t row_step, col_step; /* distance in value of neighbours in a column, in a row */
    double *value;
};

enum storage { BY_ROWS, BY_COLUMNS };

static void matrix_create(struct matrix *m, int64_t rows, int64_t cols, enum storage storage)
{
    m->rows = rows;
    m->cols = cols;
    m->row0 = block_first(rows, grid.rows, grid.row);
    m->col0 = block_first(cols, grid.cols, grid.col);
    m->own_rows = block_size(rows, grid.rows, grid.row);
    m->own_cols = block_size(cols, grid.cols, grid.col);
    m->row_step = storage == BY_ROWS ? m->own_cols : 1;
    m->col_step = storage == BY_ROWS ? 1 : m->own_rows;
    m->value = allocate(m->own_rows * m->own_cols, sizeof *m->value);
}

static double *at(const struct matrix *m, int64_t row, int64_t col)
{
    return &m->value[(row - m->row0) * m->row_step + (col - m->col0) * m->col_step];
}

static void fill_random(struct matrix *m, uint64_t stream)
{
    for (int64_t i = m->row0; i < m->row0 + m->own_rows; i++)
        for (int64_t j = m->col0; j < m->col0 + m->own_cols; j++)
            *at(m, i, j) =
                2 * random_unit((uint64_t)options.seed, stream, (uint64_t)(i * m->cols + j)) - 1;
}

static int owner_in_grid(const struct entries *shape, int64_t row, int64_t col)
{
    return block_owner(shape->rows, grid.rows, row) * grid.cols +
           block_owner(shape->cols, grid.cols, col);
}

static bool fill_from_file(struct matrix *m, const char *path, enum storage storage)
{
    struct entries entries;

    if (!entries_read(path, owner_in_grid, &entries))
        return false;
    entries_assemble(&entries);
    matrix_create(m, entries.rows, entries.cols, storage);
    for (int64_t i = 0; i < entries.count; i++)
        *at(m, entries.item[i].row, entries.item[i].col) = entries.item[i].value;
    entries_free(&entries);
    return true;
}

/* How a dimension is shared out: process first + i * step owns part i of it. */
struct axis {
    int64_t size;
    int parts, first, step;
};

/* Gets the lines k0 .. k1-1 along an axis, each of them length elements that lie together. */
static void get_panel(double *value, struct axis axis, int64_t length, int64_t k0, int64_t k1,
                      double *panel)
{
    while (k0 < k1) {
        int part = block_owner(axis.size, axis.parts, k0);
        int64_t first = block_first(axis.size, axis.parts, part);
        int64_t end = first + block_size(axis.size, axis.parts, part);
        int64_t count = (end < k1 ? end : k1) - k0;

        bsp_get(axis.first + part * axis.step, value,
                (k0 - first) * length * (int64_t)sizeof *value, panel,
                count * length * (int64_t)sizeof *value);
        panel += count * length;
        k0 += count;
    }
}

/* C += (panel of A) (panel of B), each element in the order of the panel's columns. */
static void multiply_panels(struct matrix *c, const double *a, const double *b, int64_t width)
{
    int64_t rows = c->own_rows, cols = c->own_cols;

    for (int64_t i = 0; i < rows; i++) {
        double *restrict out = c->value + i * cols;
        int64_t k = 0;

        for (; k + 4 <= width; k += 4) {
            double a0 = a[k * rows + i], a1 = a[(k + 1) * rows + i];
            double a2 = a[(k + 2) * rows + i], a3 = a[(k + 3) * rows + i];
            const double *b0 = b + k * cols, *b1 = b0 + cols, *b2 = b1 + cols, *b3 = b2 + cols;

            for (int64_t j = 0; j < cols; j++)
                out[j] = out[j] + a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
        }
        for (; k < width; k++)
            for (int64_t j = 0; j < cols; j++)
                out[j] += a[k * rows + i] * b[k * cols + j];
    }
}

/* A is stored by columns, B and C by rows. */
static void multiply(const struct matrix *a, const struct matrix *b, struct matrix *c)
{
    const struct axis along_row = {a->cols, grid.cols, grid.row * grid.cols, 1};
    const struct axis along_column = {b->rows, grid.rows, grid.col, grid.cols};
    int64_t depth = a->cols, width = options.panel < depth ? options.panel : depth;
    double *a_panel = allocate(a->own_rows * width, sizeof *a_panel);
    double *b_panel = allocate(b->own_cols * width, sizeof *b_panel);

    memset(c->value, 0, (size_t)(c->own_rows * c->own_cols) * sizeof *c->value);
    bsp_push_reg(a->value, a->own_rows * a->own_cols * (int64_t)sizeof(double));
    bsp_push_reg(b->value, b->own_rows * b->own_cols * (int64_t)sizeof(double));
    bsp_sync();
    for (int64_t k = 0; k < depth; k += width) {
        int64_t end = k + width < depth ? k + width : depth;

        get_panel(a->value, along_row, a->own_rows, k, end, a_panel);
        get_panel(b->value, along_column, b->own_cols, k, end, b_panel);
        bsp_sync();
        multiply_panels(c, a_panel, b_panel, end - k);
    }
    bsp_pop_reg(a->value);
    bsp_pop_reg(b->value);
    bsp_sync();
    free(a_panel);
    free(b_panel);
}

/* y = M x (or |M| |x|) for vectors that every process holds whole. */
static void apply(const struct matrix *m, const double *x, double *y, bool absolute)
{
    memset(y, 0, (size_t)m->rows * sizeof *y);
    for (int64_t i = m->row0; i < m->row0 + m->own_rows; i++)
        for (int64_t j = m->col0; j < m->col0 + m->own_cols; j++) {
            double term = *at(m, i, j) * x[j];

            y[i] += absolute ? fabs(term) : term;
        }
    if (m->rows > 0)
        bsp_fold(add_vectors, y, y, m->rows * (int64_t)sizeof *y);
}

/* Freivalds' check: C r = A (B r) for a random vector r of signs, up to rounding, which is bounded
 * by the same products of absolute values.  R. Freivalds: "Fast probabilistic algorithms", 1979. */
static bool product_is_right(const struct matrix *a, const struct matrix *b, const struct matrix *c,
                             double *error)
{
    double *r = allocate(b->cols, sizeof *r), *br = allocate(b->rows, sizeof *br);
    double *abr = allocate(a->rows, sizeof *abr), *cr = allocate(c->rows, sizeof *cr);
    double *bound = allocate(a->rows, sizeof *bound);
    double unit = (double)(a->cols + b->cols + bsp_nprocs() + 2) * 0x1p-52;

    for (int64_t j = 0; j < b->cols; j++)
        r[j] = random_bits((uint64_t)options.seed, 3, (uint64_t)j) & 1 ? 1 : -1;
    apply(b, r, br, false);
    apply(a, br, abr, false);
    apply(c, r, cr, false);
    apply(b, r, br, true);
    apply(a, br, bound, true);
    *error = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        double difference = fabs(cr[i] - abr[i]);

        if (!(difference <= 0))
            *error = fmax(*error, bound[i] > 0 ? difference / bound[i] : INFINITY);
    }
    free(r);
    free(br);
    free(abr);
    free(cr);
    free(bound);
    return *error <= unit;
}

/* Two numbers that change when an element does. */
static void summarise(const struct matrix *c)
{
    struct exact sum = {0}, squares = {0};
    double total, norm;

    for (int64_t i = 0; i < c->own_rows * c->own_cols; i++) {
        exact_add(&sum, c->value[i]);
        exact_add_product(&squares, c->value[i], c->value[i]);
    }
    total = exact_total(&sum);
    norm = sqrt(exact_total(&squares));
    report_integer("rows", c->rows);
    report_integer("columns", c->cols);
    report_real("sum of elements", total);
    report_real("frobenius norm", norm);
}

static bool load(struct matrix *a, struct matrix *b)
{
    int64_t m = options.m < 0 ? options.n : options.m, k = options.k < 0 ? options.n : options.k;

    if (options.a_file) {
        if (!fill_from_file(a, options.a_file, BY_COLUMNS) ||
            !fill_from_file(b, options.b_file ? options.b_file : options.a_file, BY_ROWS))
            return false;
        if (a->cols != b->rows) {
            complain("a matrix with %lld columns cannot be multiplied by one with %lld rows",
                     (long long)a->cols, (long long)b->rows);
            return false;
        }
        return true;
    }
    matrix_create(a, m, k, BY_COLUMNS);
    matrix_create(b, k, options.n, BY_ROWS);
    fill_random(a, 1);
    fill_random(b, 2);
    return true;
}

static void spmd(void)
{
    struct matrix a = {0}, b = {0}, c = {0};
    double start, seconds, error;
    bool good;

    bsp_begin(bsp_nprocs());
    grid_shape(bsp_nprocs(), &grid.rows, &grid.cols);
    grid.row = bsp_pid() / grid.cols;
    grid.col = bsp_pid() % grid.cols;
    if (load(&a, &b)) {
        matrix_create(&c, a.rows, b.cols, BY_ROWS);
        start = bsp_time();
        for (int64_t round = 0; round < options.iterations; round++)
            multiply(&a, &b, &c);
        seconds = (bsp_time() - start) / (double)options.iterations;
        report_begin("matmul");
        summarise(&c);
        good = product_is_right(&a, &b, &c, &error);
        report_time("seconds per product", seconds);
        report_time("gflop per second",
                    2e-9 * (double)c.rows * (double)c.cols * (double)a.cols / seconds);
        status = report_end(good);
    } else {
        status = 1;
    }
    free(a.value);
    free(b.value);
    free(c.value);
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"n", 'n', OPTION_INTEGER, &options.n, 0, 1e6, "N", "columns of B, default for the others"},
        {"m", 'm', OPTION_INTEGER, &options.m, 0, 1e6, "M", "rows of A"},
        {"k", 'k', OPTION_INTEGER, &options.k, 0, 1e6, "K", "columns of A, rows of B"},
        {"a", 'a', OPTION_TEXT, &options.a_file, 0, 0, "FILE", "read A (Matrix Market)"},
        {"b", 'b', OPTION_TEXT, &options.b_file, 0, 0, "FILE", "read B too, else B is A"},
        {"panel", 0, OPTION_INTEGER, &options.panel, 1, 1e6, "W", "columns per superstep"},
        {"seed", 's', OPTION_INTEGER, &options.seed, 0, 1e15, "S", "seed of the random matrices"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 1, 1e12, "I", "repeat I times"},
        {NULL},
    };
    static const struct program program = {
        "matmul", "Multiplies two dense matrices on a grid of processes.", "", 0, rows};

    options_parse(&program, argc, argv);
    if (options.b_file && !options.a_file) {
        complain("--b needs --a; try matmul --help");
        return 2;
    }
    if (stdin_is_needed_twice(&program, options.a_file,
                              options.b_file ? options.b_file : options.a_file))
        return 2;
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
