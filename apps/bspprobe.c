/* bspprobe - measures the machine in the terms of the BSP model.
 *
 *   r      speed of computation: daxpy operations on vectors that fit into the cache
 *   g, l   time of an h-relation as g h + l, by least squares over many h, where every process
 *          puts h single words into the others (Bisseling, "Parallel Scientific Computation",
 *          2nd ed., Oxford University Press 2020, section 1.7)
 *   n1/2   message size at which half of the best rate is reached: time per word in messages of n
 *          words as g0 (1 + n1/2 / n), by least squares (Hockney; Hill, Donaldson, Skillicorn:
 *          "Stability of communication performance in practice", 1998)
 *
 * Every figure is the median of several rounds; the rounds go through all sizes in turn, so that
 * a disturbance meets all of them alike.  g, l and n1/2 are given in flops, in seconds and, for
 * BSP_SLG, per word of 32 bits.
 *
 * Cost: about rounds * (sizes) * batch milliseconds.  Memory: 4 (largest h) words.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/options.h"
#include "apps/common/report.h"

static struct {
    int64_t max_h, rounds, vector;
    double batch;
} options = {.max_h = 2048, .rounds = 9, .vector = 1024, .batch = 2};

static int status;

enum { H_POINTS = 17, MAX_SIZES = 40 };

/* One kind of superstep, and its times. */
struct point {
    int64_t h;       /* words each process sends */
    int64_t size;    /* words per message */
    int64_t repeat;  /* supersteps per batch */
    double *seconds; /* per round: of one superstep */
};

/* What the supersteps write to. */
static struct {
    int64_t words;
    double *source, *target;
    int64_t repeat; /* as process 0 decided */
    bool intact;    /* everything arrived as sent */
} board;

struct line_fit {
    double slope, offset;
};

static int compare_times(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *value, int64_t count)
{
    qsort(value, (size_t)count, sizeof *value, compare_times);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

/* Least squares; weights relative to the values, so that small ones count as well. */
static struct line_fit fit_line(const double *x, const double *y, int count)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det;

    for (int i = 0; i < count; i++) {
        double weight = y[i] > 0 ? 1 / (y[i] * y[i]) : 0;

        w += weight;
        wx += weight * x[i];
        wy += weight * y[i];
        wxx += weight * x[i] * x[i];
        wxy += weight * x[i] * y[i];
    }
    det = w * wxx - wx * wx;
    if (!(det > 0))
        return (struct line_fit){0, w > 0 ? wy / w : 0};
    return (struct line_fit){(w * wxy - wx * wy) / det, (wxx * wy - wx * wxy) / det};
}

/* ---- Computation --------------------------------------------------------------------------- */

/* Two daxpys per repetition that undo each other, so that nothing grows. */
static void daxpy(double *restrict y, const double *restrict x, int64_t n, int64_t repeat)
{
    for (int64_t r = 0; r < repeat; r++) {
        double a = r % 2 ? -0.5 : 0.5;

        for (int64_t i = 0; i < n; i++)
            y[i] += a * x[i];
        __asm__ volatile("" : : "r"(y) : "memory"); /* the result is wanted */
    }
}

/* Flops per second of this process while all compute; the mean over the processes. */
static double measure_rate(void)
{
    int64_t n = options.vector, repeat = 2;
    double *x = allocate(n, sizeof *x), *y = allocate(n, sizeof *y);
    double *rate = allocate(options.rounds, sizeof *rate), result;

    for (int64_t i = 0; i < n; i++)
        x[i] = y[i] = (double)i;
    for (;; repeat *= 2) {
        double start = bsp_time();

        daxpy(y, x, n, repeat);
        if (bsp_time() - start > 1e-3 * options.batch)
            break;
    }
    for (int64_t round = 0; round < options.rounds; round++) {
        double start;

        bsp_sync();
        start = bsp_time();
        daxpy(y, x, n, repeat);
        rate[round] = 2 * (double)n * (double)repeat / (bsp_time() - start);
    }
    for (int64_t i = 0; i < n; i++)
        board.intact = board.intact && y[i] == (double)i;
    result = bsp_sumD(median(rate, options.rounds)) / bsp_nprocs();
    free(x);
    free(y);
    free(rate);
    return result;
}

/* ---- Communication ------------------------------------------------------------------------- */

/* The i-th message goes to the next process but i, round and round; all of one size lie apart, so
 * that none continues the one before. */
static void superstep(const struct point *point)
{
    int p = bsp_nprocs(), pid = bsp_pid(), hop = 0;
    int64_t bytes = point->size * (int64_t)sizeof(double);

    for (int64_t sent = 0, place = 0; sent < point->h; sent += point->size) {
        hop = hop + 1 < p ? hop + 1 : p > 1;
        bsp_put((pid + hop) % p, board.source + sent, board.target, place * (int64_t)sizeof(double),
                bytes);
        place += 2 * point->size;
    }
    bsp_sync();
}

/* With a single sender per place the words must be those of the sender. */
static void check_arrival(const struct point *point)
{
    int p = bsp_nprocs(), pid = bsp_pid(), hop = 0;

    for (int64_t sent = 0, place = 0; sent < point->h; sent += point->size) {
        hop = hop + 1 < p ? hop + 1 : p > 1;
        for (int64_t k = 0; k < point->size; k++) {
            double expected = (double)(sent + k) + (double)((pid - hop + p) % p) / (2 * p);

            board.intact = board.intact && board.target[place + k] == expected;
        }
        place += 2 * point->size;
    }
    memset(board.target, 0, (size_t)(2 * board.words) * sizeof *board.target);
}

static double time_supersteps(const struct point *point, int64_t repeat)
{
    double start;

    bsp_sync();
    start = bsp_time();
    for (int64_t i = 0; i < repeat; i++)
        superstep(point);
    return bsp_time() - start;
}

/* Finds how many supersteps fill a batch; process 0 decides. */
static void calibrate(struct point *point)
{
    point->repeat = 1;
    for (;;) {
        double seconds = time_supersteps(point, point->repeat);
        int64_t news = seconds > 1e-3 * options.batch ? 0 : 2 * point->repeat;

        if (bsp_pid() == 0)
            for (int s = 0; s < bsp_nprocs(); s++)
                bsp_put(s, &news, &board.repeat, 0, sizeof news);
        bsp_sync();
        if (board.repeat == 0)
            break;
        point->repeat = board.repeat;
    }
    check_arrival(point);
    point->seconds = allocate(options.rounds, sizeof *point->seconds);
}

static void measure_points(struct point *point, int count)
{
    for (int i = 0; i < count; i++)
        calibrate(&point[i]);
    for (int64_t round = 0; round < options.rounds; round++)
        for (int i = 0; i < count; i++)
            point[i].seconds[round] =
                time_supersteps(&point[i], point[i].repeat) / (double)point[i].repeat;
}

static void create_board(void)
{
    int p = bsp_nprocs();

    board.words = options.max_h;
    board.intact = true;
    board.source = allocate(board.words, sizeof *board.source);
    board.target = allocate(2 * board.words, sizeof *board.target);
    for (int64_t i = 0; i < board.words; i++)
        board.source[i] = (double)i + (double)bsp_pid() / (2 * p);
    bsp_push_reg(board.target, 2 * board.words * (int64_t)sizeof *board.target);
    bsp_push_reg(&board.repeat, sizeof board.repeat);
    bsp_sync();
}

static void destroy_board(void)
{
    bsp_pop_reg(board.target);
    bsp_pop_reg(&board.repeat);
    bsp_sync();
    free(board.source);
    free(board.target);
}

/* ---- Results ------------------------------------------------------------------------------- */

struct results {
    double rate;       /* flops per second */
    double g, l;       /* seconds per word, seconds */
    double best, half; /* seconds per word in large messages; n1/2 in words */
};

static void report_points(const char *name, const struct point *point, const double *y, int count,
                          bool messages)
{
    report_list_begin(name);
    for (int i = 0; i < count; i++) {
        report_integer(messages ? "words" : "h", messages ? point[i].size : point[i].h);
        report_short(messages ? "ns per word" : "microseconds", y[i]);
        report_row_end();
    }
    report_list_end();
}

/* h-relations of single words. */
static void measure_g_and_l(struct results *results)
{
    struct point point[H_POINTS] = {{0}};
    double x[H_POINTS], y[H_POINTS];
    struct line_fit fit;

    for (int i = 0; i < H_POINTS; i++) {
        point[i].h = options.max_h * i / (H_POINTS - 1);
        point[i].size = 1;
    }
    measure_points(point, H_POINTS);
    for (int i = 0; i < H_POINTS; i++) {
        x[i] = (double)point[i].h;
        y[i] = median(point[i].seconds, options.rounds);
        free(point[i].seconds);
    }
    fit = fit_line(x, y, H_POINTS);
    /* On a disturbed machine the line may make no sense; then the ends must do. */
    results->g = fit.slope > 0 ? fit.slope : y[H_POINTS - 1] / x[H_POINTS - 1];
    results->l = fit.offset > 0 ? fit.offset : y[0];
    for (int i = 0; i < H_POINTS; i++)
        y[i] *= 1e6;
    report_points("h relations", point, y, H_POINTS, false);
}

/* The same number of words in messages of growing size. */
static void measure_message_sizes(struct results *results)
{
    struct point point[MAX_SIZES] = {{0}};
    double x[MAX_SIZES], y[MAX_SIZES];
    struct line_fit fit;
    int count = 0;

    for (int64_t size = 1; size <= options.max_h && count < MAX_SIZES; size *= 2)
        point[count++] = (struct point){.h = options.max_h / size * size, .size = size};
    measure_points(point, count);
    for (int i = 0; i < count; i++) {
        double seconds = median(point[i].seconds, options.rounds) - results->l;

        x[i] = 1 / (double)point[i].size;
        y[i] = fmax(seconds / (double)point[i].h, 0);
        free(point[i].seconds);
    }
    fit = fit_line(x, y, count);
    results->best = fit.offset > 0 ? fit.offset : y[count - 1];
    results->half = results->best > 0 ? fmax(fit.slope, 0) / results->best : 0;
    for (int i = 0; i < count; i++)
        y[i] *= 1e9;
    report_points("message sizes", point, y, count, true);
}

static void report_results(const struct results *r)
{
    char slg[80];

    report_short("r in Mflop per second", 1e-6 * r->rate);
    report_short("g in flops per word", r->g * r->rate);
    report_short("g in ns per word", 1e9 * r->g);
    report_short("l in flops", r->l * r->rate);
    report_short("l in microseconds", 1e6 * r->l);
    report_short("best g in ns per word", 1e9 * r->best);
    report_short("n half in words", r->half);
    /* s, l, g, n1/2 as the library understands them: words of 32 bits, half of those above. */
    snprintf(slg, sizeof slg, "%.6g,%.6g,%.6g,%.0f", 1e-6 * r->rate, r->l * r->rate,
             r->g * r->rate / 2, fmax(ceil(2 * r->half), 1));
    report_text("BSP_SLG", slg);
}

static void spmd(void)
{
    struct results results;
    double start;

    bsp_begin(bsp_nprocs());
    start = bsp_time();
    create_board();
    report_begin("bspprobe");
    report_integer("p", bsp_nprocs());
    report_integer("bytes per word", sizeof(double));
    results.rate = measure_rate();
    measure_g_and_l(&results);
    measure_message_sizes(&results);
    report_results(&results);
    report_time("seconds", bsp_time() - start);
    status = report_end(bsp_all(board.intact));
    destroy_board();
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"max-h", 'm', OPTION_INTEGER, &options.max_h, 16, 1 << 28, "H", "largest h in words"},
        {"rounds", 'n', OPTION_INTEGER, &options.rounds, 1, 1e9, "N", "batches per figure"},
        {"batch", 'b', OPTION_REAL, &options.batch, 0.001, 1e6, "MS", "milliseconds per batch"},
        {"vector", 'v', OPTION_INTEGER, &options.vector, 1, 1 << 28, "N", "length for the speed"},
        {NULL},
    };
    static const struct program program = {
        "bspprobe", "Measures r, g, l and n1/2 of the BSP model.", "", 0, rows};

    options_parse(&program, argc, argv);
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
