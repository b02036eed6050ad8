/* heat - the temperature of a square plate, by explicit time steps.
 *
 * The plate is a grid of N x N points whose border is kept at fixed temperatures; in a step every
 * point becomes the mean of its four neighbours (Jacobi's iteration).  The processes form a grid
 * too, each with one block of points and a ring of copies of its neighbours' points, exchanged once
 * per step.  Bisseling, "Parallel Scientific Computation", Oxford University Press 2004,
 * section 4.8 (Laplacian matrices).
 *
 * Two plates: "sine" starts as sin(pi x) sin(pi y), which each step multiplies by a known factor,
 * so that the answer is known; "edge" is cold with a hot upper edge, where the checks are that no
 * point leaves the range of the border and that left and right remain mirror images.
 *
 * Cost per step: 4 N^2/p flops + 8 N/sqrt(p) * g + l.  Memory: 2 N^2/p words.
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
#include "apps/common/random.h"
#include "apps/common/report.h"

static struct {
    int64_t n, iterations;
    const char *plate, *picture;
} options = {.n = 200, .iterations = 1000, .plate = "sine"};

static int status;

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

/* The grid of processes and this one's place in it. */
static struct {
    int rows, cols, row, col;
} grid;

/* One block of the plate with its ring. */
struct block {
    int64_t n;          /* points of the whole plate in each direction */
    int64_t row0, col0; /* of the first own point */
    int64_t rows, cols; /* own points */
    int64_t width;      /* cols + 2 */
    double *now, *next; /* (rows + 2) * width */
    double *arriving;   /* what the neighbours send: north, south (cols), west, east (rows) */
    double *leaving;    /* one column on its way */
};

static bool sine(void)
{
    return strcmp(options.plate, "sine") == 0;
}

static double *point(const struct block *b, double *field, int64_t row, int64_t col)
{
    return &field[(row + 1) * b->width + col + 1];
}

/* Temperature at the start; rows and columns count from -1 (border) to n (border). */
static double initial(int64_t n, int64_t row, int64_t col)
{
    if (!sine())
        return row < 0 ? 100 : 0;
    if (row < 0 || col < 0 || row >= n || col >= n)
        return 0;
    return sin(M_PI * (double)(row + 1) / (double)(n + 1)) *
           sin(M_PI * (double)(col + 1) / (double)(n + 1));
}

static int64_t arriving_offset(int64_t rows, int64_t cols, enum side side)
{
    switch (side) {
    case NORTH:
        return 0;
    case SOUTH:
        return cols;
    case WEST:
        return 2 * cols;
    default:
        return 2 * cols + rows;
    }
}

static void create(struct block *b)
{
    int64_t room;

    *b = (struct block){.n = options.n};
    b->row0 = block_first(b->n, grid.rows, grid.row);
    b->col0 = block_first(b->n, grid.cols, grid.col);
    b->rows = block_size(b->n, grid.rows, grid.row);
    b->cols = block_size(b->n, grid.cols, grid.col);
    b->width = b->cols + 2;
    room = (b->rows + 2) * b->width;
    b->now = allocate(room, sizeof(double));
    b->next = allocate(room, sizeof(double));
    b->arriving = allocate(2 * (b->rows + b->cols), sizeof(double));
    b->leaving = allocate(b->rows, sizeof(double));
    for (int64_t i = -1; i <= b->rows; i++)
        for (int64_t j = -1; j <= b->cols; j++)
            *point(b, b->now, i, j) = *point(b, b->next, i, j) =
                initial(b->n, b->row0 + i, b->col0 + j);
    bsp_push_reg(b->arriving, 2 * (b->rows + b->cols) * (int64_t)sizeof(double));
    bsp_sync();
}

static void destroy(struct block *b)
{
    bsp_pop_reg(b->arriving);
    bsp_sync();
    free(b->now);
    free(b->next);
    free(b->arriving);
    free(b->leaving);
}

/* Sends one edge to the neighbour at (row, col) of the grid, which receives it on its side. */
static void send_edge(const struct block *b, int row, int col, enum side side, const double *edge,
                      int64_t count)
{
    int64_t rows = block_size(b->n, grid.rows, row), cols = block_size(b->n, grid.cols, col);

    bsp_put(row * grid.cols + col, edge, b->arriving,
            arriving_offset(rows, cols, side) * (int64_t)sizeof(double),
            count * (int64_t)sizeof(double));
}

static const double *column(const struct block *b, int64_t col)
{
    for (int64_t i = 0; i < b->rows; i++)
        b->leaving[i] = *point(b, b->now, i, col);
    return b->leaving;
}

/* Whether the plate goes on beyond a side; blocks beyond its end are empty. */
static bool has_neighbour(const struct block *b, enum side side)
{
    switch (side) {
    case NORTH:
        return b->row0 > 0;
    case SOUTH:
        return b->row0 + b->rows < b->n;
    case WEST:
        return b->col0 > 0;
    default:
        return b->col0 + b->cols < b->n;
    }
}

/* One superstep: the ring receives the neighbours' points. */
static void exchange_edges(struct block *b)
{
    const double *in = b->arriving;

    if (b->rows > 0 && b->cols > 0) {
        if (has_neighbour(b, NORTH))
            send_edge(b, grid.row - 1, grid.col, SOUTH, point(b, b->now, 0, 0), b->cols);
        if (has_neighbour(b, SOUTH))
            send_edge(b, grid.row + 1, grid.col, NORTH, point(b, b->now, b->rows - 1, 0), b->cols);
        if (has_neighbour(b, WEST))
            send_edge(b, grid.row, grid.col - 1, EAST, column(b, 0), b->rows);
        if (has_neighbour(b, EAST))
            send_edge(b, grid.row, grid.col + 1, WEST, column(b, b->cols - 1), b->rows);
    }
    bsp_sync();
    if (b->rows == 0 || b->cols == 0)
        return;
    if (has_neighbour(b, NORTH))
        memcpy(point(b, b->now, -1, 0), in, (size_t)b->cols * sizeof *in);
    if (has_neighbour(b, SOUTH))
        memcpy(point(b, b->now, b->rows, 0), in + b->cols, (size_t)b->cols * sizeof *in);
    for (int64_t i = 0; i < b->rows; i++) {
        if (has_neighbour(b, WEST))
            *point(b, b->now, i, -1) = in[2 * b->cols + i];
        if (has_neighbour(b, EAST))
            *point(b, b->now, i, b->cols) = in[2 * b->cols + b->rows + i];
    }
}

static void step(struct block *b)
{
    double *other;

    exchange_edges(b);
    for (int64_t i = 0; i < b->rows; i++) {
        const double *up = point(b, b->now, i - 1, 0), *here = point(b, b->now, i, 0);
        const double *down = point(b, b->now, i + 1, 0);
        double *restrict out = point(b, b->next, i, 0);

        /* West and east are added first and to each other, so that the mirror image of a plate
         * has the mirror image of its temperatures to the last bit. */
        for (int64_t j = 0; j < b->cols; j++)
            out[j] = 0.25 * ((here[j - 1] + here[j + 1]) + (up[j] + down[j]));
    }
    other = b->now;
    b->now = b->next;
    b->next = other;
}

/* The factor that a step multiplies the sine by. */
static double decay(int64_t n)
{
    return cos(M_PI / (double)(n + 1));
}

/* Largest deviation from the known answer. */
static double error_of_sine(const struct block *b, int64_t steps)
{
    double factor = pow(decay(b->n), (double)steps), worst = 0;

    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            double exact = factor * initial(b->n, b->row0 + i, b->col0 + j);
            double error = fabs(*point(b, b->now, i, j) - exact);

            worst = isnan(error) ? INFINITY : fmax(worst, error);
        }
    return bsp_maxD(worst);
}

/* Facts that every process adds to. */
struct facts {
    double least, most;
    uint64_t checksum, mirrored; /* of the points; of the points of the mirror image */
};

static void merge_facts(struct facts *result, struct facts *a, struct facts *b, int *nbytes)
{
    (void)nbytes;
    result->least = fmin(a->least, b->least);
    result->most = fmax(a->most, b->most);
    result->checksum = a->checksum + b->checksum;
    result->mirrored = a->mirrored + b->mirrored;
}

static struct facts gather_facts(const struct block *b)
{
    struct facts facts = {INFINITY, -INFINITY, 0, 0};

    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            double value = *point(b, b->now, i, j);
            int64_t row = (b->row0 + i) * b->n, col = b->col0 + j;

            facts.least = fmin(facts.least, value);
            facts.most = fmax(facts.most, value);
            facts.checksum += mix_bits((uint64_t)(row + col), double_bits(value));
            facts.mirrored += mix_bits((uint64_t)(row + b->n - 1 - col), double_bits(value));
        }
    bsp_fold(merge_facts, &facts, &facts, sizeof facts);
    return facts;
}

static double mean(const struct block *b)
{
    struct exact sum = {0};

    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->cols; j++)
            exact_add(&sum, *point(b, b->now, i, j));
    return b->n > 0 ? exact_total(&sum) / ((double)b->n * (double)b->n) : 0;
}

/* Writes the plate as a grey picture (PGM), row by row, from process 0.  Collective. */
static bool write_picture(const struct block *b, double least, double most)
{
    FILE *file = NULL;
    double *row = allocate(b->n, sizeof *row), scale = most > least ? 255 / (most - least) : 0;
    int failed = 0;

    if (bsp_pid() == 0) {
        file = fopen(options.picture, "w");
        failed =
            !file || fprintf(file, "P5\n%lld %lld\n255\n", (long long)b->n, (long long)b->n) < 0;
    }
    bsp_push_reg(row, b->n * (int64_t)sizeof *row);
    bsp_sync();
    for (int64_t i = 0; i < b->n; i++) {
        if (i >= b->row0 && i < b->row0 + b->rows)
            bsp_put(0, point(b, b->now, i - b->row0, 0), row, b->col0 * (int64_t)sizeof *row,
                    b->cols * (int64_t)sizeof *row);
        bsp_sync();
        for (int64_t j = 0; j < b->n && file && !failed; j++)
            failed = putc((int)((row[j] - least) * scale + 0.5), file) == EOF;
    }
    bsp_pop_reg(row);
    bsp_sync();
    free(row);
    if (file)
        failed |= fclose(file) != 0;
    failed = bsp_any(failed);
    if (failed)
        complain("cannot write %s", options.picture);
    return !failed;
}

static void run(struct block *b)
{
    double start = bsp_time(), seconds, error = 0, average;
    struct facts facts;
    bool good;

    for (int64_t i = 0; i < options.iterations; i++)
        step(b);
    seconds = bsp_time() - start;
    facts = gather_facts(b);
    average = mean(b);
    if (b->n == 0) {
        good = true;
        facts.least = facts.most = 0;
    } else if (sine()) {
        error = error_of_sine(b, options.iterations);
        good = error <= 0x1p-50 * (double)(options.iterations + 4);
    } else {
        good = facts.least >= 0 && facts.most <= 100 && facts.checksum == facts.mirrored;
    }
    if (options.picture)
        good = write_picture(b, facts.least, facts.most) && good;
    report_begin("heat");
    report_text("plate", options.plate);
    report_integer("n", b->n);
    report_integer("steps", options.iterations);
    report_real("mean", average);
    report_real("coldest", facts.least);
    report_real("hottest", facts.most);
    report_hex("checksum", facts.checksum);
    if (sine())
        report_rough("error", error);
    report_time("seconds", seconds);
    report_time("million points per second",
                1e-6 * (double)b->n * (double)b->n * (double)options.iterations / seconds);
    status = report_end(good);
}

static void spmd(void)
{
    struct block block;

    bsp_begin(bsp_nprocs());
    grid_shape(bsp_nprocs(), &grid.rows, &grid.cols);
    grid.row = bsp_pid() / grid.cols;
    grid.col = bsp_pid() % grid.cols;
    create(&block);
    run(&block);
    destroy(&block);
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"n", 'n', OPTION_INTEGER, &options.n, 0, 1e6, "N", "points in each direction"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 0, 1e12, "I", "time steps"},
        {"plate", 0, OPTION_TEXT, &options.plate, 0, 0, "NAME", "sine or edge"},
        {"picture", 'o', OPTION_TEXT, &options.picture, 0, 0, "FILE", "write the result (PGM)"},
        {NULL},
    };
    static const struct program program = {"heat", "Computes how heat spreads over a square plate.",
                                           "", 0, rows};

    options_parse(&program, argc, argv);
    if (!sine() && strcmp(options.plate, "edge") != 0) {
        complain("--plate is sine or edge, not \"%s\"; try heat --help", options.plate);
        return 2;
    }
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
