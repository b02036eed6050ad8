/* nbody - the motion of n bodies under gravity, with all pairs of forces.
 *
 * Each process owns a block of bodies.  In a step, copies of the blocks travel round the ring of
 * processes, one place per superstep, and everybody adds the forces of the visiting block to its
 * own bodies.  The time step is the leapfrog: half a kick, a drift, half a kick (Aarseth,
 * "Gravitational N-body simulations", Cambridge University Press 2003).
 *
 * The order in which blocks visit depends on the number of processes, but the result does not:
 * accelerations are rounded to a fixed-point number pair by pair, and whole numbers can be added in
 * any order (as in Shaw et al., "Anton, a special-purpose machine for molecular dynamics
 * simulation", 2007).
 *
 * Checked are the total energy, which the leapfrog keeps up to a small oscillation, and the total
 * momentum.
 *
 * Cost per step: 20 n^2/p flops + 4 n * g + p * l.  Memory: 20 n/p words.
 */
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

static struct {
    int64_t n, iterations, seed;
    double step, softening, tolerance;
    const char *file;
} options = {
    .n = 500, .iterations = 100, .seed = 1, .step = 0.005, .softening = 0.05, .tolerance = 1e-3};

static int status;

enum { DIMENSIONS = 3, COLUMNS = 7 }; /* of the input: mass, place, velocity */

struct vector {
    double at[DIMENSIONS];
};

/* What travels: a body as the others see it. */
struct source {
    double mass;
    struct vector place;
};

/* Sums over sources, in units of bodies.unit and bodies.potential_unit. */
struct pull {
    int64_t acceleration[DIMENSIONS];
    int64_t potential;
};

static struct {
    int64_t n, first, own;
    struct source *body;     /* own */
    struct vector *velocity; /* of the own bodies */
    struct pull *pull;       /* on the own bodies */
    struct source *visitor;  /* the block that is here now */
    struct source *arriving; /* where the next one arrives; registered */
    double unit, potential_unit;
} bodies;

/* A star cluster (Plummer's model in the units of Henon: total mass 1, total energy -1/4), by the
 * recipe of Aarseth, Henon and Wielen, Astronomy and Astrophysics 37, 1974. */
static void place_in_cluster(int64_t i, struct source *body, struct vector *velocity)
{
    const double scale = 3 * M_PI / 16;
    uint64_t seed = (uint64_t)options.seed, stream = (uint64_t)i;
    double u[4], radius, z, angle, q, speed;

    for (int k = 0; k < 4; k++)
        u[k] = random_unit(seed, stream, (uint64_t)k);
    /* Leave out the outermost thousandth, which may be anywhere. */
    radius = 1 / sqrt(pow(0.999 * u[0] + 1e-10, -2.0 / 3) - 1);
    z = 2 * u[1] - 1;
    angle = 2 * M_PI * u[2];
    body->mass = 1 / (double)bodies.n;
    body->place =
        (struct vector){{scale * radius * sqrt(1 - z * z) * cos(angle),
                         scale * radius * sqrt(1 - z * z) * sin(angle), scale * radius * z}};
    /* The speed by rejection: its density is proportional to q^2 (1 - q^2)^(7/2) <= 0.1. */
    for (uint64_t k = 4;; k += 2) {
        q = random_unit(seed, stream, k);
        if (0.1 * random_unit(seed, stream, k + 1) < q * q * pow(1 - q * q, 3.5))
            break;
    }
    z = 2 * u[3] - 1;
    angle = 2 * M_PI * random_unit(seed, stream, UINT64_MAX);
    speed = q * M_SQRT2 * pow(1 + radius * radius, -0.25) / sqrt(scale);
    *velocity = (struct vector){
        {speed * sqrt(1 - z * z) * cos(angle), speed * sqrt(1 - z * z) * sin(angle), speed * z}};
}

/* The smallest power of two that, as the unit of a sum of whole numbers, keeps a sum of values
 * that add up to at most limit within 62 bits. */
static double unit_for(double limit)
{
    int exponent;

    frexp(limit, &exponent);
    return ldexp(1, exponent - 61);
}

/* A source of mass m pulls with at most 0.385 m / softening^2, and adds m / softening to the
 * potential. */
static void choose_units(void)
{
    struct exact sum = {0};
    double mass;

    for (int64_t i = 0; i < bodies.own; i++)
        exact_add(&sum, bodies.body[i].mass);
    mass = exact_total(&sum);
    bodies.unit = unit_for(0.4 * mass / (options.softening * options.softening));
    bodies.potential_unit = unit_for(mass / options.softening);
}

static bool fill_from_entries(const struct entries *entries)
{
    bool good = true;

    for (int64_t e = 0; e < entries->count; e++) {
        const struct entry *entry = &entries->item[e];
        int64_t i = entry->row - bodies.first;

        if (entry->col == 0)
            bodies.body[i].mass = entry->value;
        else if (entry->col <= DIMENSIONS)
            bodies.body[i].place.at[entry->col - 1] = entry->value;
        else
            bodies.velocity[i].at[entry->col - 1 - DIMENSIONS] = entry->value;
    }
    for (int64_t i = 0; i < bodies.own; i++)
        good = good && bodies.body[i].mass >= 0;
    if (!bsp_all(good)) {
        complain("%s: a mass is negative", options.file);
        return false;
    }
    return true;
}

static bool create(void)
{
    struct entries entries = {.rows = options.n};
    int64_t most;
    bool good = true;

    if (options.file && !entries_read(options.file, entries_by_rows, &entries))
        return false;
    if (options.file && entries.cols != COLUMNS) {
        complain("%s: a body is mass, x, y, z, vx, vy, vz: 7 columns, not %lld", options.file,
                 (long long)entries.cols);
        entries_free(&entries);
        return false;
    }
    bodies.n = entries.rows;
    bodies.first = block_first(bodies.n, bsp_nprocs(), bsp_pid());
    bodies.own = block_size(bodies.n, bsp_nprocs(), bsp_pid());
    most = block_size(bodies.n, bsp_nprocs(), 0);
    bodies.body = allocate(bodies.own, sizeof *bodies.body);
    bodies.velocity = allocate(bodies.own, sizeof *bodies.velocity);
    bodies.pull = allocate(bodies.own, sizeof *bodies.pull);
    bodies.visitor = allocate(most, sizeof *bodies.visitor);
    bodies.arriving = allocate(most, sizeof *bodies.arriving);
    if (options.file)
        good = fill_from_entries(&entries);
    else
        for (int64_t i = 0; i < bodies.own; i++)
            place_in_cluster(bodies.first + i, &bodies.body[i], &bodies.velocity[i]);
    entries_free(&entries);
    bsp_push_reg(bodies.arriving, most * (int64_t)sizeof *bodies.arriving);
    bsp_sync();
    choose_units();
    return good;
}

static void destroy(void)
{
    free(bodies.body);
    free(bodies.velocity);
    free(bodies.pull);
    free(bodies.visitor);
    free(bodies.arriving);
}

/* Adds the pull of count sources on one place. */
static void add_pull(const struct vector *place, const struct source *source, int64_t count,
                     struct pull *pull)
{
    const double per_unit = 1 / bodies.unit, per_potential = 1 / bodies.potential_unit;
    const double softening = options.softening * options.softening;
    struct pull sum = *pull;

    for (int64_t j = 0; j < count; j++) {
        double dx = source[j].place.at[0] - place->at[0];
        double dy = source[j].place.at[1] - place->at[1];
        double dz = source[j].place.at[2] - place->at[2];
        double inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening);
        double potential = source[j].mass * inverse;
        double strength = potential * inverse * inverse * per_unit;

        sum.acceleration[0] += (int64_t)(strength * dx);
        sum.acceleration[1] += (int64_t)(strength * dy);
        sum.acceleration[2] += (int64_t)(strength * dz);
        sum.potential -= (int64_t)(potential * per_potential);
    }
    *pull = sum;
}

/* p supersteps: every block visits every process. */
static void compute_pulls(void)
{
    int p = bsp_nprocs(), pid = bsp_pid();
    int64_t count = bodies.own;

    memset(bodies.pull, 0, (size_t)bodies.own * sizeof *bodies.pull);
    memcpy(bodies.visitor, bodies.body, (size_t)count * sizeof *bodies.body);
    for (int hop = 1; hop <= p; hop++) {
        if (hop < p)
            bsp_put((pid + 1) % p, bodies.visitor, bodies.arriving, 0,
                    count * (int64_t)sizeof *bodies.visitor);
        for (int64_t i = 0; i < bodies.own; i++)
            add_pull(&bodies.body[i].place, bodies.visitor, count, &bodies.pull[i]);
        if (hop == p)
            break;
        bsp_sync();
        count = block_size(bodies.n, p, (pid - hop + p) % p);
        memcpy(bodies.visitor, bodies.arriving, (size_t)count * sizeof *bodies.visitor);
    }
}

static void kick(double time)
{
    for (int64_t i = 0; i < bodies.own; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            bodies.velocity[i].at[d] += time * (double)bodies.pull[i].acceleration[d] * bodies.unit;
}

static void drift(double time)
{
    for (int64_t i = 0; i < bodies.own; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            bodies.body[i].place.at[d] += time * bodies.velocity[i].at[d];
}

/* Kinetic plus potential energy; the pulls belong to the present places.  A body's own part of its
 * potential, -m/softening, is taken out, and each pair is counted once. */
static double total_energy(void)
{
    struct exact sum = {0};

    for (int64_t i = 0; i < bodies.own; i++) {
        double mass = bodies.body[i].mass, speed = 0;
        double potential = (double)bodies.pull[i].potential * bodies.potential_unit;

        for (int d = 0; d < DIMENSIONS; d++)
            speed += bodies.velocity[i].at[d] * bodies.velocity[i].at[d];
        exact_add(&sum, 0.5 * mass * speed);
        exact_add(&sum, 0.5 * mass * (potential + mass / options.softening));
    }
    return exact_total(&sum);
}

/* The sum of the bodies' momenta regardless of their directions. */
static double bustle(void)
{
    struct exact sum = {0};

    for (int64_t i = 0; i < bodies.own; i++)
        for (int d = 0; d < DIMENSIONS; d++)
            exact_add(&sum, fabs(bodies.body[i].mass * bodies.velocity[i].at[d]));
    return exact_total(&sum);
}

static struct vector total_momentum(void)
{
    struct vector total;

    for (int d = 0; d < DIMENSIONS; d++) {
        struct exact sum = {0};

        for (int64_t i = 0; i < bodies.own; i++)
            exact_add_product(&sum, bodies.body[i].mass, bodies.velocity[i].at[d]);
        total.at[d] = exact_total(&sum);
    }
    return total;
}

static void add_checksums(uint64_t *result, uint64_t *a, uint64_t *b, int *nbytes)
{
    (void)nbytes;
    *result = *a + *b;
}

/* Of all places and velocities, to the last bit. */
static uint64_t checksum(void)
{
    uint64_t sum = 0;

    for (int64_t i = 0; i < bodies.own; i++)
        for (int d = 0; d < DIMENSIONS; d++) {
            uint64_t at = (uint64_t)((bodies.first + i) * DIMENSIONS + d);

            sum += mix_bits(at, double_bits(bodies.body[i].place.at[d]));
            sum += mix_bits(~at, double_bits(bodies.velocity[i].at[d]));
        }
    bsp_fold(add_checksums, &sum, &sum, sizeof sum);
    return sum;
}

static void run(void)
{
    double start, seconds, before, after, activity;
    double drifted = 0, moved = 0, n = (double)bodies.n;
    struct vector first, last;
    uint64_t sum;
    bool good;

    compute_pulls();
    before = total_energy();
    first = total_momentum();
    activity = bustle();
    start = bsp_time();
    for (int64_t i = 0; i < options.iterations; i++) {
        kick(options.step / 2);
        drift(options.step);
        compute_pulls();
        kick(options.step / 2);
    }
    seconds = bsp_time() - start;
    after = total_energy();
    last = total_momentum();
    sum = checksum();
    if (before != after)
        drifted = fabs((after - before) / before);
    for (int d = 0; d < DIMENSIONS; d++)
        moved = fmax(moved, fabs(last.at[d] - first.at[d]));
    /* Rounding alone changes the momentum, far less than this. */
    good = drifted <= options.tolerance && moved <= 1e-9 * fmax(activity, bustle());
    report_begin("nbody");
    report_integer("bodies", bodies.n);
    report_integer("steps", options.iterations);
    report_real("energy at the start", before);
    report_real("energy at the end", after);
    report_rough("relative change", drifted);
    report_rough("change of momentum", moved);
    report_hex("checksum", sum);
    report_time("seconds", seconds);
    report_time("million pairs per second", 1e-6 * n * n * (double)options.iterations / seconds);
    status = report_end(good);
}

static void spmd(void)
{
    bsp_begin(bsp_nprocs());
    if (create())
        run();
    else
        status = 1;
    destroy();
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"n", 'n', OPTION_INTEGER, &options.n, 0, 1e9, "N", "bodies of a generated star cluster"},
        {"input", 'f', OPTION_TEXT, &options.file, 0, 0, "FILE",
         "read mass x y z vx vy vz per row (Matrix Market)"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 0, 1e12, "I", "time steps"},
        {"step", 0, OPTION_REAL, &options.step, 1e-12, 1e6, "T", "length of a time step"},
        {"softening", 0, OPTION_REAL, &options.softening, 1e-6, 1e6, "E",
         "distance below which gravity weakens"},
        {"tolerance", 0, OPTION_REAL, &options.tolerance, 0, 1e6, "C",
         "relative change of the energy that is accepted"},
        {"seed", 's', OPTION_INTEGER, &options.seed, 0, 1e15, "S", "seed of the cluster"},
        {NULL},
    };
    static const struct program program = {
        "nbody", "Simulates bodies under gravity, computing the forces of all pairs.", "", 0, rows};

    options_parse(&program, argc, argv);
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
