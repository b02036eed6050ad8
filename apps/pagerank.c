/* pagerank - the importance of the vertices of a directed graph.
 *
 * Brin and Page, "The anatomy of a large-scale hypertextual Web search engine", 1998: the ranks
 * are the limit of x' = d (L x + e z) + (1 - d) e, where L spreads the rank of a vertex over its
 * links, z is the mean rank of the vertices without links, and e the mean vector 1/n.  The links
 * into a block of vertices, and their ranks, belong to one process; each iteration is one sparse
 * product and one fold of exact sums, so ranks do not depend on the number of processes.
 *
 * Cost per iteration: (2 nz + 6 n)/p flops + (ranks needed from elsewhere + 140 p) * g + 3 l.
 * Memory: (2 nz + 3 n)/p words and the copies.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/exact.h"
#include "apps/common/layout.h"
#include "apps/common/options.h"
#include "apps/common/random.h"
#include "apps/common/report.h"
#include "apps/common/sparse.h"

static struct {
    const char *file;
    int64_t web, iterations, top;
    double damping, tolerance;
    bool weighted;
} options = {.web = 10000, .iterations = 1000, .top = 10, .damping = 0.85, .tolerance = 1e-12};

static int status;

/* Vertex and rank, as shown in the result. */
struct rank {
    int64_t vertex;
    double value;
};

/* A graph by formula: vertex v links to up to 8 others, more often to low numbers, as the pages
 * of a web do; one vertex in 16 links nowhere. */
static void generate_web(struct entries *entries)
{
    int64_t n = options.web, first = block_first(n, bsp_nprocs(), bsp_pid());

    *entries = (struct entries){.rows = n, .cols = n};
    for (int64_t v = first; v < first + block_size(n, bsp_nprocs(), bsp_pid()); v++) {
        int64_t links = v % 16 == 15 ? 0 : 1 + (int64_t)(random_bits(1, 1, (uint64_t)v) % 8);

        for (int64_t k = 0; k < links; k++) {
            double u = random_unit(1, 2, (uint64_t)(8 * v + k));

            entries_add(entries, (struct entry){v, (int64_t)(u * u * (double)n), 1});
        }
    }
}

static bool load(struct entries *entries)
{
    if (!options.file) {
        generate_web(entries);
        return true;
    }
    if (!entries_read(options.file, entries_by_rows, entries))
        return false;
    if (entries->rows == entries->cols)
        return true;
    complain("%s: the matrix of a graph is square, this is %lld by %lld", options.file,
             (long long)entries->rows, (long long)entries->cols);
    entries_free(entries);
    return false;
}

/* Divides the links of a vertex by their sum and turns them round.  False if the sum is zero. */
static bool spread_row(struct entry *link, int64_t count)
{
    double sum = 0, scale = 1;

    for (int64_t e = 0; e < count; e++)
        sum += link[e].value;
    if (isinf(sum)) {
        /* There are fewer than 2^31 weights: with so small a part of each the sum is finite. */
        scale = 0x1p-64;
        sum = 0;
        for (int64_t e = 0; e < count; e++)
            sum += link[e].value * scale;
    }
    for (int64_t e = 0; e < count; e++)
        link[e] =
            (struct entry){link[e].col, link[e].row, sum > 0 ? link[e].value * scale / sum : 0};
    return sum > 0;
}

/* Divides the links of each own vertex by their sum and turns them round: row = where a link leads
 * to.  Entry (i, j) of the file is a link from i to j.  dangling[v] says that v has no links.
 * False when a weight is negative, or infinite after repeated links were added up.  Collective. */
static bool spread_links(struct entries *links, bool *dangling)
{
    int64_t first = block_first(links->rows, bsp_nprocs(), bsp_pid());
    int64_t own = block_size(links->rows, bsp_nprocs(), bsp_pid());
    int negative = 0, infinite = 0;

    if (!options.weighted)
        for (int64_t e = 0; e < links->count; e++)
            links->item[e].value = links->item[e].value != 0;
    entries_assemble(links);
    for (int64_t v = 0; v < own; v++)
        dangling[v] = true;
    for (int64_t e = 0, end; e < links->count; e = end) {
        int64_t row = links->item[e].row;

        for (end = e; end < links->count && links->item[end].row == row; end++) {
            if (!options.weighted)
                links->item[end].value = links->item[end].value > 0; /* repeated links count once */
            negative |= links->item[end].value < 0;
            infinite |= isinf(links->item[end].value) != 0;
        }
        dangling[row - first] = !spread_row(&links->item[e], end - e);
    }
    if (bsp_any(negative)) {
        complain("%s: a link cannot have a negative weight", options.file);
        return false;
    }
    if (bsp_any(infinite)) {
        complain("%s: the weights of a link that is repeated have too large a sum", options.file);
        return false;
    }
    entries_redistribute(links, entries_by_rows);
    return true;
}

/* One iteration; returns the change in the 1-norm. */
static double iterate(struct sparse *m, const bool *dangling, double *y)
{
    double n = (double)m->rows, lost, change;
    struct exact sum = {0}, difference = {0};

    for (int64_t v = 0; v < m->own_rows; v++)
        if (dangling[v])
            exact_add(&sum, m->x[v]);
    lost = exact_total(&sum);
    sparse_multiply(m, y);
    for (int64_t v = 0; v < m->own_rows; v++) {
        y[v] = options.damping * (y[v] + lost / n) + (1 - options.damping) / n;
        exact_add(&difference, fabs(y[v] - m->x[v]));
    }
    change = exact_total(&difference);
    memcpy(m->x, y, (size_t)m->own_rows * sizeof *y);
    return change;
}

static int higher_first(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

/* The highest ranks of all processes, at process 0, which returns their number. */
static int64_t find_top(const struct sparse *m, struct rank *top)
{
    struct rank *own = allocate(m->own_rows, sizeof *own), *all;
    int64_t count = m->own_rows < options.top ? m->own_rows : options.top, found = 0;
    size_t packets, bytes;

    for (int64_t v = 0; v < m->own_rows; v++)
        own[v] = (struct rank){m->first_row + v, m->x[v]};
    qsort(own, (size_t)m->own_rows, sizeof *own, higher_first);
    for (int64_t i = 0; i < count; i++)
        bsp_send(0, NULL, &own[i], sizeof own[i]);
    bsp_sync();
    free(own);
    bsp_qsize(&packets, &bytes);
    all = allocate((int64_t)packets, sizeof *all);
    for (size_t i = 0; i < packets; i++)
        bsp_move(&all[i], sizeof all[i]);
    qsort(all, packets, sizeof *all, higher_first);
    for (; found < (int64_t)packets && found < options.top; found++)
        top[found] = all[found];
    free(all);
    return found;
}

static void report_top(const struct sparse *m)
{
    struct rank *top = allocate(options.top, sizeof *top);
    int64_t found = find_top(m, top);

    report_list_begin("top");
    for (int64_t i = 0; i < found; i++) {
        report_integer("vertex", top[i].vertex + 1);
        report_real("rank", top[i].value);
        report_row_end();
    }
    report_list_end();
    free(top);
}

static void run(struct sparse *m, const bool *dangling)
{
    double *y = allocate(m->own_rows, sizeof *y), change = 1, start = bsp_time(), seconds, links;
    int64_t done = 0;
    struct exact sum = {0};
    bool good;

    for (int64_t v = 0; v < m->own_rows; v++)
        m->x[v] = 1 / (double)m->rows;
    while (m->rows > 0 && done < options.iterations && change > options.tolerance) {
        change = iterate(m, dangling, y);
        done++;
    }
    seconds = (bsp_time() - start) / (double)(done > 0 ? done : 1);
    for (int64_t v = 0; v < m->own_rows; v++)
        exact_add(&sum, m->x[v]);
    /* Ranks are shares of one; each iteration may lose some roundings of it. */
    good = fabs(exact_total(&sum) - (m->rows > 0)) <= 0x1p-50 * (double)(done + 4);
    /* Once more from the result: the error shrinks by the damping factor, so it cannot grow. */
    if (m->rows > 0 && done > 0)
        good = iterate(m, dangling, y) <= change + 0x1p-48 && good;
    links = bsp_sumD((double)m->start[m->own_rows]);
    report_begin("pagerank");
    report_integer("vertices", m->rows);
    report_integer("links", (int64_t)links);
    report_integer("iterations", done);
    report_rough("last change", m->rows > 0 ? change : 0);
    report_top(m);
    report_time("seconds per iteration", seconds);
    status = report_end(good);
    free(y);
}

static void spmd(void)
{
    struct entries links;
    struct sparse matrix;
    bool *dangling;

    bsp_begin(bsp_nprocs());
    status = 1;
    if (load(&links)) {
        dangling = allocate(block_size(links.rows, bsp_nprocs(), bsp_pid()), sizeof *dangling);
        if (spread_links(&links, dangling)) {
            sparse_create(&matrix, &links);
            run(&matrix, dangling);
            sparse_destroy(&matrix);
        }
        entries_free(&links);
        free(dangling);
    }
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"web", 'n', OPTION_INTEGER, &options.web, 0, 1e9, "N",
         "without GRAPH: a generated graph of N vertices"},
        {"damping", 'd', OPTION_REAL, &options.damping, 0, 0.999999, "D",
         "follow links this often"},
        {"tolerance", 't', OPTION_REAL, &options.tolerance, 0, 1, "E", "stop at this change"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 0, 1e12, "I", "or after I steps"},
        {"top", 'k', OPTION_INTEGER, &options.top, 0, 1e6, "K", "list the K highest ranks"},
        {"weighted", 'w', OPTION_FLAG, &options.weighted, 0, 0, NULL, "use the entries as weights"},
        {NULL},
    };
    static const struct program program = {
        "pagerank",
        "Ranks the vertices of a graph; entry (i, j) of a Matrix Market file is a link i -> j.",
        "[GRAPH]", 1, rows};
    int operand;

    operand = options_parse(&program, argc, argv);
    options.file = argv[operand];
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
