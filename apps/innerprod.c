/* innerprod - the inner product of two vectors.
 *
 * Each process holds one block of both vectors and adds up its products, then the p partial sums
 * are folded.  The sums are kept exactly, so the answer is the double nearest to the true inner
 * product for every number of processes, as long as no product is so small, below 1e-291 but not
 * zero, that it loses digits, or too large for a double.  Bisseling, "Parallel Scientific
 * Computation", 2nd ed., Oxford University Press 2020, algorithm 1.1.
 *
 * Cost: 2 n/p flops (times the cost of an exact addition) + p * 70 words * g + l per round.
 */
#include <math.h>
#include <stdlib.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/exact.h"
#include "apps/common/layout.h"
#include "apps/common/matrix_market.h"
#include "apps/common/options.h"
#include "apps/common/report.h"

static struct {
    int64_t n, iterations;
    const char *x_file, *y_file;
} options = {.n = 1000000, .iterations = 1};

static int status;

struct vector {
    int64_t n, own; /* elements in all and here */
    double *value;
};

/* The i-th element is i + 1, so that the answer is known: the sum of the first n squares. */
static void fill_by_formula(struct vector *v)
{
    int64_t first;

    v->n = options.n;
    v->own = block_size(v->n, bsp_nprocs(), bsp_pid());
    v->value = allocate(v->own, sizeof *v->value);
    first = block_first(v->n, bsp_nprocs(), bsp_pid());
    for (int64_t i = 0; i < v->own; i++)
        v->value[i] = (double)(first + i + 1);
}

/* Places missing from the file are zero. */
static bool fill_from_file(struct vector *v, const char *path)
{
    struct entries entries;
    int64_t first;

    if (!entries_read(path, entries_by_rows, &entries))
        return false;
    if (entries.cols != 1) {
        complain("%s: a vector has 1 column, this has %lld", path, (long long)entries.cols);
        entries_free(&entries);
        return false;
    }
    v->n = entries.rows;
    v->own = block_size(v->n, bsp_nprocs(), bsp_pid());
    v->value = allocate(v->own, sizeof *v->value);
    first = block_first(v->n, bsp_nprocs(), bsp_pid());
    for (int64_t i = 0; i < entries.count; i++)
        v->value[entries.item[i].row - first] += entries.item[i].value;
    entries_free(&entries);
    return true;
}

static double inner_product(const struct vector *x, const struct vector *y)
{
    struct exact sum = {0};

    for (int64_t i = 0; i < x->own; i++)
        exact_add_product(&sum, x->value[i], y->value[i]);
    return exact_total(&sum);
}

/* n (n+1) (2n+1) / 6 in the nearest double. */
static double sum_of_squares(int64_t n)
{
    unsigned __int128 m = (unsigned __int128)n;

    return (double)(m * (m + 1) * (2 * m + 1) / 6);
}

/* Recursive summation errs by at most about n * 2^-53 times the sum of the absolute values. */
static bool agrees_with_plain_sum(const struct vector *x, const struct vector *y, double answer)
{
    double plain = 0, size = 0;

    for (int64_t i = 0; i < x->own; i++) {
        plain += x->value[i] * y->value[i];
        size += fabs(x->value[i] * y->value[i]);
    }
    plain = bsp_sumD(plain);
    size = bsp_sumD(size);
    return fabs(plain - answer) <= (double)(x->n + bsp_nprocs() + 2) * 0x1p-52 * size;
}

static bool load(struct vector *x, struct vector *y)
{
    if (!options.x_file) {
        fill_by_formula(x);
        fill_by_formula(y);
        return true;
    }
    if (!fill_from_file(x, options.x_file) ||
        !fill_from_file(y, options.y_file ? options.y_file : options.x_file))
        return false;
    if (x->n != y->n) {
        complain("the vectors have %lld and %lld elements", (long long)x->n, (long long)y->n);
        return false;
    }
    return true;
}

static void spmd(void)
{
    struct vector x = {0}, y = {0};
    double answer = 0, start;
    bool good = true;

    bsp_begin(bsp_nprocs());
    if (load(&x, &y)) {
        start = bsp_time();
        for (int64_t round = 0; round < options.iterations; round++) {
            double again = inner_product(&x, &y);

            good = good && (round == 0 || again == answer);
            answer = again;
        }
        report_begin("innerprod");
        report_integer("n", x.n);
        report_real("inner product", answer);
        report_time("seconds per round", (bsp_time() - start) / (double)options.iterations);
        if (options.x_file)
            good = agrees_with_plain_sum(&x, &y, answer) && good;
        else
            good = answer == sum_of_squares(x.n) && good;
        status = report_end(good);
    } else {
        status = 1;
    }
    free(x.value);
    free(y.value);
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"n", 'n', OPTION_INTEGER, &options.n, 0, 1 << 30, "N", "length of the vectors 1, 2, .. N"},
        {"x", 'x', OPTION_TEXT, &options.x_file, 0, 0, "FILE", "read x (Matrix Market, 1 column)"},
        {"y", 'y', OPTION_TEXT, &options.y_file, 0, 0, "FILE", "read y too, else y is x"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 1, 1e12, "K", "repeat K times"},
        {NULL},
    };
    static const struct program program = {
        "innerprod",
        "Computes the inner product of two vectors, correctly rounded (if no product underflows).",
        "", 0, rows};

    options_parse(&program, argc, argv);
    if (options.y_file && !options.x_file) {
        complain("--y needs --x; try innerprod --help");
        return 2;
    }
    if (stdin_is_needed_twice(&program, options.x_file,
                              options.y_file ? options.y_file : options.x_file))
        return 2;
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
