/* fft - the discrete Fourier transform of a complex vector, forth and back.
 *
 * The vector of n = R C elements is seen as R rows: row r holds elements r, r + R, r + 2 R, ...;
 * the rows are dealt out to the processes cyclically, so that the vector is distributed
 * cyclically.  Each process transforms its rows and multiplies by the twiddle factors, one
 * superstep transposes, and each process transforms what are now its C-element columns' rows; the
 * result is again distributed cyclically.  Cooley and Tukey, "An algorithm for the machine
 * calculation of complex Fourier series", 1965; as a BSP algorithm: Inda and Bisseling, "A simple
 * and efficient parallel FFT algorithm using the BSP model", Parallel Computing 27, 2001.  R and C,
 * the powers of two next to sqrt(n), do not depend on the number of processes, and so neither does
 * the result.
 *
 * Cost for p <= sqrt(n): 5 n log2(n)/p flops + 2 n/p * g + l.  Memory: 8 n/p words.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/exact.h"
#include "apps/common/layout.h"
#include "apps/common/matrix_market.h"
#include "apps/common/options.h"
#include "apps/common/random.h"
#include "apps/common/report.h"

typedef double complex complex_t;

static struct {
    int64_t n, iterations, seed;
    const char *file;
} options = {.n = 1 << 16, .iterations = 1, .seed = 1};

static int status;

enum { PROBES = 4 }; /* frequencies checked by the definition */

/* exp(-2 pi i k / n) for all k < n as products of two tables of about sqrt(n) entries. */
struct roots {
    int64_t n;
    int shift;
    complex_t *fine, *coarse;
};

/* A vector as rows of this process, in the order of the transform that reads it. */
struct shape {
    int64_t rows, cols; /* powers of two; rows * cols = n */
    int64_t own;        /* rows of this process: pid, pid + p, ... */
};

static int log2_of(int64_t power_of_two)
{
    return __builtin_ctzll((unsigned long long)power_of_two);
}

static inline complex_t complex_of(double re, double im)
{
    return __builtin_complex(re, im); /* CMPLX, which not every compiler has */
}

static complex_t root_of_unity(int64_t k, int64_t n)
{
    double angle = -2 * M_PI * ((double)k / (double)n);

    return complex_of(cos(angle), sin(angle));
}

/* Plain multiplication: the language's own also looks after infinities, which takes longer. */
static inline complex_t times(complex_t a, complex_t b)
{
    return complex_of(creal(a) * creal(b) - cimag(a) * cimag(b),
                      creal(a) * cimag(b) + cimag(a) * creal(b));
}

static void roots_create(struct roots *roots, int64_t n)
{
    int64_t fine, coarse;

    roots->n = n;
    roots->shift = log2_of(n) / 2;
    fine = (int64_t)1 << roots->shift;
    coarse = n >> roots->shift;
    roots->fine = allocate(fine, sizeof *roots->fine);
    roots->coarse = allocate(coarse, sizeof *roots->coarse);
    for (int64_t k = 0; k < fine; k++)
        roots->fine[k] = root_of_unity(k, n);
    for (int64_t k = 0; k < coarse; k++)
        roots->coarse[k] = root_of_unity(k << roots->shift, n);
}

static void roots_free(struct roots *roots)
{
    free(roots->fine);
    free(roots->coarse);
}

static complex_t root(const struct roots *roots, int64_t k)
{
    k &= roots->n - 1;
    return times(roots->coarse[k >> roots->shift],
                 roots->fine[k & (((int64_t)1 << roots->shift) - 1)]);
}

static void shape_create(struct shape *shape, int64_t n)
{
    int half = (log2_of(n) + 1) / 2;

    shape->rows = (int64_t)1 << half;
    shape->cols = n >> half;
    shape->own = block_size(shape->rows, bsp_nprocs(), bsp_pid());
}

static struct shape transposed(const struct shape *shape)
{
    struct shape other = {shape->cols, shape->rows, 0};

    other.own = block_size(other.rows, bsp_nprocs(), bsp_pid());
    return other;
}

/* The place in the whole vector of element j of own row i. */
static int64_t place(const struct shape *shape, int64_t i, int64_t j)
{
    return i * bsp_nprocs() + bsp_pid() + shape->rows * j;
}

static void reverse_bits(complex_t *x, int64_t n)
{
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;

        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            complex_t other = x[i];

            x[i] = x[j];
            x[j] = other;
        }
    }
}

/* Transforms n elements in place; table[k] = exp(-2 pi i k / n). */
static void transform_row(complex_t *x, int64_t n, const complex_t *table)
{
    reverse_bits(x, n);
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t start = 0; start < n; start += 2 * half)
            for (int64_t k = 0; k < half; k++) {
                complex_t a = x[start + k];
                complex_t b = times(x[start + half + k], table[n / (2 * half) * k]);

                x[start + k] = a + b;
                x[start + half + k] = a - b;
            }
}

static void transform_rows(complex_t *x, int64_t own, int64_t length)
{
    complex_t *table = allocate(length / 2 + 1, sizeof *table);

    for (int64_t k = 0; k < length / 2; k++)
        table[k] = root_of_unity(k, length);
    for (int64_t i = 0; i < own; i++)
        transform_row(x + i * length, length, table);
    free(table);
}

/* Element j of row i moves to element i of row j.  One superstep: what this process has for
 * another goes there as one piece, behind the pieces of the processes before this one. */
static void transpose(const struct shape *from, const struct shape *to, complex_t *x,
                      complex_t *buffer)
{
    int p = bsp_nprocs(), pid = bsp_pid();
    complex_t *piece = allocate(from->own * ((from->cols + p - 1) / p), sizeof *piece);
    complex_t *in = buffer;

    for (int d = 0; d < p; d++) {
        int64_t columns = block_size(from->cols, p, d), count = 0;

        for (int64_t i = 0; i < from->own; i++)
            for (int64_t j = d; j < from->cols; j += p)
                piece[count++] = x[i * from->cols + j];
        bsp_put(d, piece, buffer,
                block_first(from->rows, p, pid) * columns * (int64_t)sizeof *piece,
                count * (int64_t)sizeof *piece);
    }
    bsp_sync();
    for (int s = 0; s < p; s++)
        for (int64_t i = s; i < from->rows; i += p)
            for (int64_t j = 0; j < to->own; j++)
                x[j * to->cols + i] = *in++;
    free(piece);
}

/* x, distributed as rows of the shape, becomes its transform, distributed as the transposed
 * shape.  buffer is registered. */
static void transform(const struct shape *shape, const struct roots *roots, complex_t *x,
                      complex_t *buffer)
{
    struct shape other = transposed(shape);

    transform_rows(x, shape->own, shape->cols);
    for (int64_t i = 0; i < shape->own; i++)
        for (int64_t j = 0; j < shape->cols; j++) {
            complex_t *element = &x[i * shape->cols + j];

            *element = times(*element, root(roots, place(shape, i, 0) * j));
        }
    transpose(shape, &other, x, buffer);
    transform_rows(x, other.own, other.cols);
}

static void conjugate_and_scale(complex_t *x, int64_t count, double factor)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = conj(x[i]) * factor;
}

/* The inverse is the conjugate of the transform of the conjugate, over n. */
static void transform_back(const struct shape *shape, const struct roots *roots, complex_t *x,
                           complex_t *buffer)
{
    struct shape other = transposed(shape);

    conjugate_and_scale(x, other.own * other.cols, 1);
    transform(&other, roots, x, buffer);
    conjugate_and_scale(x, shape->own * shape->cols, 1 / (double)roots->n);
}

static int64_t power_of_two_from(int64_t n)
{
    int64_t power = 1;

    while (power < n)
        power *= 2;
    return power;
}

static int cyclic_owner(const struct entries *entries, int64_t row, int64_t col)
{
    struct shape shape;

    (void)col;
    shape_create(&shape, power_of_two_from(entries->rows));
    return (int)(row % shape.rows % bsp_nprocs());
}

/* The rows of this process; NULL when the file cannot be used. */
static complex_t *load(struct shape *shape)
{
    struct entries entries = {.rows = options.n};
    complex_t *x;

    if (options.file && !entries_read(options.file, cyclic_owner, &entries))
        return NULL;
    if (options.file && (entries.cols < 1 || entries.cols > 2)) {
        complain("%s: a signal has 1 column (or 2: real, imaginary), this has %lld", options.file,
                 (long long)entries.cols);
        entries_free(&entries);
        return NULL;
    }
    shape_create(shape, power_of_two_from(entries.rows));
    /* Both shapes fit: the one that is read and the transposed one. */
    x = allocate(larger(shape->own * shape->cols, transposed(shape).own * shape->rows), sizeof *x);
    for (int64_t e = 0; e < entries.count; e++) {
        const struct entry *entry = &entries.item[e];
        int64_t row = entry->row % shape->rows / bsp_nprocs(), col = entry->row / shape->rows;

        x[row * shape->cols + col] += entry->col == 0 ? entry->value : complex_of(0, entry->value);
    }
    for (int64_t i = 0; i < shape->own && !options.file; i++)
        for (int64_t j = 0; j < shape->cols; j++) {
            uint64_t at = (uint64_t)place(shape, i, j), seed = (uint64_t)options.seed;

            if (place(shape, i, j) < options.n)
                x[i * shape->cols + j] =
                    complex_of(2 * random_unit(seed, 1, at) - 1, 2 * random_unit(seed, 2, at) - 1);
        }
    entries_free(&entries);
    return x;
}

static double norm(const complex_t *x, int64_t count)
{
    struct exact sum = {0};

    for (int64_t i = 0; i < count; i++) {
        exact_add_product(&sum, creal(x[i]), creal(x[i]));
        exact_add_product(&sum, cimag(x[i]), cimag(x[i]));
    }
    return sqrt(exact_total(&sum));
}

/* Modulo 2^64, hence right modulo n. */
static int64_t wrapping_product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Compares a few elements of the transform y with the defining sum over x. */
static double error_by_definition(const struct shape *shape, const struct roots *roots,
                                  const complex_t *x, const complex_t *y)
{
    struct shape other = transposed(shape);
    int64_t n = shape->rows * shape->cols;
    double worst = 0;

    for (int probe = 0; probe < PROBES; probe++) {
        int64_t k = (int64_t)(random_bits(1, 3, (uint64_t)probe) & (uint64_t)(n - 1));
        struct exact re = {0}, im = {0};
        double sum_re, sum_im;

        for (int64_t i = 0; i < shape->own; i++)
            for (int64_t j = 0; j < shape->cols; j++) {
                complex_t term = times(x[i * shape->cols + j],
                                       root(roots, wrapping_product(k, place(shape, i, j))));

                exact_add(&re, creal(term));
                exact_add(&im, cimag(term));
            }
        sum_re = exact_total(&re);
        sum_im = exact_total(&im);
        if (k % other.rows % bsp_nprocs() == bsp_pid()) {
            complex_t got = y[k % other.rows / bsp_nprocs() * other.cols + k / other.rows];

            worst = fmax(worst, cabs(got - complex_of(sum_re, sum_im)));
        }
    }
    return bsp_maxD(worst);
}

static double largest_difference(const complex_t *x, const complex_t *y, int64_t count)
{
    double worst = 0;

    for (int64_t i = 0; i < count; i++) {
        double difference = cabs(x[i] - y[i]);

        worst = isnan(difference) ? INFINITY : fmax(worst, difference);
    }
    return bsp_maxD(worst);
}

/* The strongest frequency, and a checksum of the spectrum's bits. */
struct summary {
    double strength;
    int64_t frequency;
    uint64_t checksum;
};

static void merge_summaries(struct summary *result, struct summary *a, struct summary *b,
                            int *nbytes)
{
    bool first =
        a->strength > b->strength || (a->strength == b->strength && a->frequency < b->frequency);

    (void)nbytes;
    *result = first ? *a : *b;
    result->checksum = a->checksum + b->checksum;
}

static struct summary summarise(const struct shape *shape, const complex_t *y)
{
    struct shape other = transposed(shape);
    struct summary all = {-1, 0, 0};

    for (int64_t i = 0; i < other.own; i++)
        for (int64_t j = 0; j < other.cols; j++) {
            int64_t k = place(&other, i, j);
            complex_t value = y[i * other.cols + j];
            struct summary one = {cabs(value), k,
                                  mix_bits((uint64_t)k, double_bits(creal(value))) +
                                      mix_bits(~(uint64_t)k, double_bits(cimag(value)))};
            struct summary merged;

            merge_summaries(&merged, &all, &one, NULL);
            all = merged;
        }
    bsp_fold(merge_summaries, &all, &all, sizeof all);
    return all;
}

/* Transforms x forth and back as often as asked; returns the exit status. */
static int run(const struct shape *shape, const complex_t *x)
{
    struct shape other = transposed(shape);
    int64_t n = shape->rows * shape->cols, count = shape->own * shape->cols;
    int64_t space = larger(count, other.own * other.cols);
    complex_t *y = allocate(space, sizeof *y), *z = allocate(space, sizeof *z);
    complex_t *buffer = allocate(space, sizeof *buffer);
    double tolerance = 4 * 0x1p-52 * (log2_of(n) + 1) * norm(x, count), start, seconds;
    double back, direct;
    struct roots roots;
    struct summary summary;

    roots_create(&roots, n);
    bsp_push_reg(buffer, space * (int64_t)sizeof *buffer);
    bsp_sync();
    start = bsp_time();
    for (int64_t round = 0; round < options.iterations; round++) {
        memcpy(y, x, (size_t)count * sizeof *y);
        transform(shape, &roots, y, buffer);
        memcpy(z, y, (size_t)(other.own * other.cols) * sizeof *z);
        transform_back(shape, &roots, z, buffer);
    }
    seconds = (bsp_time() - start) / (double)(2 * options.iterations);
    bsp_pop_reg(buffer);
    bsp_sync();
    back = largest_difference(x, z, count);
    direct = error_by_definition(shape, &roots, x, y);
    summary = summarise(shape, y);
    report_begin("fft");
    report_integer("n", n);
    report_integer("strongest frequency", summary.frequency);
    report_real("its strength", summary.strength);
    report_hex("checksum", summary.checksum);
    report_rough("error of the inverse", back);
    report_rough("error by definition", direct);
    report_time("seconds per transform", seconds);
    report_time("gflop per second", 5e-9 * (double)n * log2_of(n) / seconds);
    roots_free(&roots);
    free(y);
    free(z);
    free(buffer);
    /* The transform multiplies lengths by sqrt(n). */
    return report_end(back <= tolerance && direct <= tolerance * sqrt((double)n));
}

static void spmd(void)
{
    struct shape shape;
    complex_t *x;

    bsp_begin(bsp_nprocs());
    x = load(&shape);
    status = x ? run(&shape, x) : 1;
    free(x);
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"n", 'n', OPTION_INTEGER, &options.n, 0, 1LL << 40, "N", "length of a random signal"},
        {"input", 'f', OPTION_TEXT, &options.file, 0, 0, "FILE", "read it (Matrix Market)"},
        {"seed", 's', OPTION_INTEGER, &options.seed, 0, 1e15, "S", "seed of the random signal"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 1, 1e12, "I", "repeat I times"},
        {NULL},
    };
    static const struct program program = {
        "fft", "Transforms a signal to frequencies and back; zeros fill it up to a power of two.",
        "", 0, rows};

    options_parse(&program, argc, argv);
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
