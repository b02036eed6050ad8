/* replica - replica exchange (parallel tempering) of the two-dimensional Ising model.
 *
 * R copies of an L x L lattice of spins with periodic borders are simulated at R temperatures with
 * Metropolis' rule.  After every few sweeps, neighbouring temperatures (0 with 1, 2 with 3, ...;
 * the next time 1 with 2, 3 with 4, ...) swap their lattices with the probability that keeps the
 * joint distribution in balance, so that cold lattices can leave the states they are caught in.
 * Swendsen and Wang, "Replica Monte Carlo simulation of spin glasses", Physical Review Letters 57,
 * 1986; Hukushima and Nemoto, "Exchange Monte Carlo method and application to spin glass
 * simulations", 1996.  Lattices stay where they are; the processes tell each other their energies,
 * and because random numbers are drawn by counter, all of them come to the same decision about the
 * temperatures.
 *
 * The mean energies are checked against the exact ones of the finite lattice: Kaufman, "Crystal
 * statistics II", Physical Review 76, 1949.  The result does not depend on the number of processes.
 *
 * Cost per round: (R/p) L^2 (sweeps) spin updates + R * g + l.  Memory: (R/p) L^2 bytes.
 */
#include <math.h>
#include <stdlib.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/layout.h"
#include "apps/common/options.h"
#include "apps/common/random.h"
#include "apps/common/report.h"

static struct {
    int64_t size, replicas, iterations, warm_up, sweeps, seed;
    double coldest, hottest;
} options = {.size = 8,
             .replicas = 8,
             .iterations = 4000,
             .warm_up = -1,
             .sweeps = 1,
             .seed = 1,
             .coldest = 1.8,
             .hottest = 3.2};

static int status;

enum { BINS = 20 };               /* the measurements are cut into so many parts */
enum { SPINS = 1, START, SWAPS }; /* streams of random numbers, the first one per replica */

static const double SIGMAS = 5;      /* standard errors that a mean may be off */
static const double RARE_TURNS = 25; /* turns of single spins that it may be off besides */

/* What is measured at one temperature. */
struct measurements {
    double sum[BINS], count[BINS]; /* of energies: whole numbers, hence exact */
    int64_t tried, swapped;        /* with the next temperature */
};

/* The state that every process knows, and this process's lattices. */
struct simulation {
    int64_t first, own;            /* replicas of this process */
    int64_t edge;                  /* spins in each direction */
    signed char *spin;             /* own * edge * edge, +1 or -1 */
    int64_t *energy;               /* of all replicas; registered */
    int64_t *replica_at;           /* by temperature */
    int64_t *level;                /* of each replica: its temperature's number */
    double *beta;                  /* by temperature: its inverse */
    struct measurements *measured; /* by temperature */
};

static double temperature(int64_t level)
{
    if (options.replicas == 1)
        return options.coldest;
    return options.coldest +
           (options.hottest - options.coldest) * (double)level / (double)(options.replicas - 1);
}

static signed char *lattice(const struct simulation *s, int64_t replica)
{
    return s->spin + (replica - s->first) * s->edge * s->edge;
}

/* Minus the number of equal pairs of neighbours plus that of unequal ones. */
static int64_t energy_of(const signed char *spin, int64_t edge)
{
    int64_t energy = 0;

    for (int64_t i = 0; i < edge; i++)
        for (int64_t j = 0; j < edge; j++)
            energy -= spin[i * edge + j] *
                      (spin[(i + 1) % edge * edge + j] + spin[i * edge + (j + 1) % edge]);
    return energy;
}

static void create(struct simulation *s)
{
    int64_t r = options.replicas, n = options.size * options.size;

    *s = (struct simulation){.edge = options.size};
    s->first = block_first(r, bsp_nprocs(), bsp_pid());
    s->own = block_size(r, bsp_nprocs(), bsp_pid());
    s->spin = allocate(s->own * n, 1);
    s->energy = allocate(r, sizeof *s->energy);
    s->replica_at = allocate(r, sizeof *s->replica_at);
    s->level = allocate(r, sizeof *s->level);
    s->beta = allocate(r, sizeof *s->beta);
    s->measured = allocate(r, sizeof *s->measured);
    for (int64_t i = 0; i < r; i++) {
        s->replica_at[i] = s->level[i] = i;
        s->beta[i] = 1 / temperature(i);
    }
    for (int64_t i = 0; i < s->own; i++) {
        uint64_t stream = (uint64_t)(s->first + i) << 8 | START;

        for (int64_t k = 0; k < n; k++)
            s->spin[i * n + k] =
                random_bits((uint64_t)options.seed, stream, (uint64_t)k) & 1 ? 1 : -1;
        s->energy[s->first + i] = energy_of(s->spin + i * n, s->edge);
    }
    bsp_push_reg(s->energy, r * (int64_t)sizeof *s->energy);
    bsp_sync();
}

static void destroy(struct simulation *s)
{
    bsp_pop_reg(s->energy);
    bsp_sync();
    free(s->spin);
    free(s->energy);
    free(s->replica_at);
    free(s->level);
    free(s->beta);
    free(s->measured);
}

/* One visit of every spin of a lattice; sweep numbers them all.  Returns the change in energy. */
static int64_t sweep_lattice(signed char *spin, int64_t edge, double beta, uint64_t stream,
                             int64_t sweep)
{
    /* Turning a spin costs 2 * spin * (sum of its neighbours), of which only 4 and 8 matter. */
    double accept[9] = {[4] = exp(-4 * beta), [8] = exp(-8 * beta)};
    int64_t change = 0;

    for (int64_t i = 0; i < edge; i++) {
        signed char *here = spin + i * edge;
        const signed char *up = spin + (i + edge - 1) % edge * edge;
        const signed char *down = spin + (i + 1) % edge * edge;

        for (int64_t j = 0; j < edge; j++) {
            int64_t left = j == 0 ? edge - 1 : j - 1, right = j == edge - 1 ? 0 : j + 1;
            int cost = 2 * here[j] * (here[left] + here[right] + up[j] + down[j]);
            uint64_t at = (uint64_t)((sweep * edge + i) * edge + j);

            if (cost <= 0 || random_unit((uint64_t)options.seed, stream, at) < accept[cost]) {
                here[j] = (signed char)-here[j];
                change += cost;
            }
        }
    }
    return change;
}

/* One superstep: everybody sweeps its lattices and tells the energies. */
static void sweep_all(struct simulation *s, int64_t round)
{
    for (int64_t r = s->first; r < s->first + s->own; r++)
        for (int64_t k = 0; k < options.sweeps; k++)
            s->energy[r] += sweep_lattice(lattice(s, r), s->edge, s->beta[s->level[r]],
                                          (uint64_t)r << 8 | SPINS, round * options.sweeps + k);
    for (int p = 0; p < bsp_nprocs(); p++)
        if (p != bsp_pid())
            bsp_put(p, s->energy + s->first, s->energy, s->first * (int64_t)sizeof *s->energy,
                    s->own * (int64_t)sizeof *s->energy);
    bsp_sync();
}

/* Every process does the same: neighbours swap with probability min(1, exp((b_i - b_j)(E_i -
 * E_j))), the ratio of the weights after and before. */
static void swap_neighbours(struct simulation *s, int64_t round)
{
    for (int64_t i = round % 2; i + 1 < options.replicas; i += 2) {
        int64_t cold = s->replica_at[i], warm = s->replica_at[i + 1];
        double exponent =
            (s->beta[i] - s->beta[i + 1]) * (double)(s->energy[cold] - s->energy[warm]);

        s->measured[i].tried++;
        if (random_unit((uint64_t)options.seed, SWAPS, (uint64_t)(round * options.replicas + i)) <
            exp(exponent)) {
            s->measured[i].swapped++;
            s->replica_at[i] = warm;
            s->replica_at[i + 1] = cold;
            s->level[warm] = i;
            s->level[cold] = i + 1;
        }
    }
}

static void measure(struct simulation *s, int64_t bin)
{
    for (int64_t i = 0; i < options.replicas; i++) {
        s->measured[i].sum[bin] += (double)s->energy[s->replica_at[i]];
        s->measured[i].count[bin]++;
    }
}

/* The logarithm of Kaufman's partition function of an n x n torus at inverse temperature b. */
static long double log_partition(int64_t n, long double b)
{
    long double log_term[4] = {0, 0, 0, 0}, sign = 1, most, sum = 0;

    for (int64_t l = 0; l < 2 * n; l++) {
        long double c =
            coshl(2 * b) / tanhl(2 * b) - cosl((long double)M_PI * (long double)l / (long double)n);
        long double gamma = l == 0 ? 2 * b + logl(tanhl(b)) : acoshl(c);
        long double half = fabsl(gamma) * (long double)n / 2;

        if (gamma < 0)
            sign = -sign;
        /* log(2 cosh half) and log(2 sinh half) without overflow */
        log_term[l % 2 ? 0 : 2] += half + log1pl(expl(-2 * half));
        log_term[l % 2 ? 1 : 3] += half + logl(-expm1l(-2 * half));
    }
    most = fmaxl(fmaxl(log_term[0], log_term[1]), fmaxl(log_term[2], log_term[3]));
    for (int k = 0; k < 4; k++)
        sum += (k == 3 ? sign : 1) * expl(log_term[k] - most);
    return (long double)(n * n) / 2 * logl(2 * sinhl(2 * b)) - logl(2.0L) + most + logl(sum);
}

/* The mean energy is minus the derivative of log Z. */
static double exact_energy(int64_t n, double b)
{
    long double h = 1e-4L;

    return (double)((8 * (log_partition(n, b - h) - log_partition(n, b + h)) -
                     (log_partition(n, b - 2 * h) - log_partition(n, b + 2 * h))) /
                    (12 * h));
}

/* Mean and standard error from the bins that hold something. */
static void estimate(const struct measurements *m, double *mean, double *error)
{
    double sum = 0, count = 0, squares = 0;
    int used = 0;

    for (int b = 0; b < BINS; b++) {
        sum += m->sum[b];
        count += m->count[b];
        used += m->count[b] > 0;
    }
    *mean = count > 0 ? sum / count : 0;
    for (int b = 0; b < BINS; b++)
        if (m->count[b] > 0)
            squares += pow(m->sum[b] / m->count[b] - *mean, 2);
    *error = used > 1 ? sqrt(squares / used / (used - 1)) : INFINITY;
}

/* The energies carried along are those of the lattices. */
static bool energies_are_right(const struct simulation *s)
{
    bool good = true;

    for (int64_t r = s->first; r < s->first + s->own; r++)
        good = good && s->energy[r] == energy_of(lattice(s, r), s->edge);
    return bsp_all(good);
}

/* From too few parts the standard error is known too badly to judge a mean by it. */
static bool too_few_rounds(void)
{
    return options.iterations < BINS;
}

static bool report_levels(const struct simulation *s)
{
    double spins = (double)(s->edge * s->edge);
    double allowance = RARE_TURNS * 8 / (double)options.iterations;
    bool good = true;

    report_list_begin("temperatures");
    for (int64_t i = 0; i < options.replicas; i++) {
        const struct measurements *m = &s->measured[i];
        double mean, error, exact = exact_energy(s->edge, s->beta[i]);

        estimate(m, &mean, &error);
        /* The colder it is the fewer spins turn, and the less is known of the error, which is zero
         * when none does; allow for that many turns in the whole run. */
        good = good && (too_few_rounds() || fabs(mean - exact) <= SIGMAS * error + allowance);
        report_rough("T", temperature(i));
        report_short("energy per spin", mean / spins);
        report_short("exact", exact / spins);
        report_rough("error", error / spins);
        report_rough("swapped", m->tried > 0 ? (double)m->swapped / (double)m->tried : 0);
        report_row_end();
    }
    report_list_end();
    return good;
}

static uint64_t checksum(const struct simulation *s)
{
    uint64_t sum = 0;

    for (int64_t i = 0; i < options.replicas; i++)
        sum += mix_bits((uint64_t)i,
                        (uint64_t)s->energy[s->replica_at[i]] << 20 ^ (uint64_t)s->replica_at[i]);
    return sum;
}

static void run(struct simulation *s)
{
    int64_t warm_up = options.warm_up < 0 ? options.iterations / 5 : options.warm_up;
    double start = bsp_time(), seconds;
    bool good;

    for (int64_t round = 0; round < warm_up + options.iterations; round++) {
        sweep_all(s, round);
        if (round >= warm_up)
            measure(s, (round - warm_up) * BINS / options.iterations);
        swap_neighbours(s, round);
    }
    seconds = bsp_time() - start;
    good = energies_are_right(s);
    report_begin("replica");
    report_integer("lattice", options.size);
    report_integer("replicas", options.replicas);
    report_integer("rounds", options.iterations);
    report_hex("checksum", checksum(s));
    good = report_levels(s) && good;
    report_time("seconds", seconds);
    report_time("million spin updates per second",
                1e-6 * (double)(warm_up + options.iterations) * (double)options.sweeps *
                    (double)options.replicas * (double)(s->edge * s->edge) / seconds);
    status = good && too_few_rounds()
                 ? report_end_unchecked("too few rounds to judge the energies by")
                 : report_end(good);
}

static void spmd(void)
{
    struct simulation simulation;

    bsp_begin(bsp_nprocs());
    create(&simulation);
    run(&simulation);
    destroy(&simulation);
    bsp_end();
}

int main(int argc, char **argv)
{
    /* Visited in order, and as every turn that costs nothing is taken, some lattices go round in a
     * few states for ever: of 3 x 3 spins 8 in 512, of 4 x 4 one in 1024, of 5 x 5 one in a
     * million, which no run notices. */
    static const struct option_row rows[] = {
        {"size", 'L', OPTION_INTEGER, &options.size, 5, 1024, "L", "spins in each direction"},
        {"replicas", 'r', OPTION_INTEGER, &options.replicas, 1, 1e6, "R", "number of temperatures"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 1, 1e12, "I", "measured rounds"},
        {"warm-up", 0, OPTION_INTEGER, &options.warm_up, 0, 1e12, "W",
         "rounds before them, else a fifth of them"},
        {"sweeps", 0, OPTION_INTEGER, &options.sweeps, 1, 1e6, "K", "sweeps per round"},
        {"coldest", 0, OPTION_REAL, &options.coldest, 0.1, 1000, "T", "lowest temperature"},
        {"hottest", 0, OPTION_REAL, &options.hottest, 0.1, 1000, "T", "highest temperature"},
        {"seed", 's', OPTION_INTEGER, &options.seed, 0, 1e15, "S", "seed of the random numbers"},
        {NULL},
    };
    static const struct program program = {
        "replica", "Simulates the Ising model at many temperatures with replica exchange.", "", 0,
        rows};

    options_parse(&program, argc, argv);
    if (options.coldest > options.hottest) {
        complain("--coldest must not exceed --hottest; try replica --help");
        return 2;
    }
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
