/* estimate.c - what a job learns of failures and of the costs of snapshots while it runs. */
#include "coordinator/core/estimate.h"

#include <errno.h>
#include <math.h>

#define MOST        1e18
#define SMOOTHING   0.25 /* the weight of a new value, once there are some */
#define SERIES_MOST 20000
#define SHAPE_LEAST 0.01
#define SHAPE_MOST  1e6

static bool sensible(double number)
{
    return number >= 0 && number <= MOST;
}

/* ---- Rates -------------------------------------------------------------------------------- */

void estimate_prior(struct estimate *estimate, enum estimate_kind kind, double mean_life,
                    double lives)
{
    struct estimate_rate *rate = &estimate->rates[kind];
    bool known = sensible(mean_life) && sensible(lives) && mean_life * lives > 0 &&
                 sensible(mean_life * lives);

    rate->failures = rate->squares = known ? lives : 0;
    rate->exposure = known ? lives * mean_life : 0;
}

void estimate_prior_of_history(struct estimate *estimate, enum estimate_kind kind, double failures,
                               double exposure)
{
    bool known = sensible(failures) && sensible(exposure) && exposure > 0;
    double lives = known ? fmax(failures, 0.5) : 0;

    estimate_prior(estimate, kind, known ? exposure / lives : 0,
                   fmin(lives, ESTIMATE_HISTORY_MOST));
}

static double units_of(enum estimate_kind kind, struct estimate_units units)
{
    return kind == ESTIMATE_PROCESS ? units.processes : units.hosts;
}

void estimate_watch(struct estimate *estimate, struct estimate_units units, double seconds)
{
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        struct estimate_rate *rate = &estimate->rates[kind];
        double more = units_of(kind, units) * seconds;
        if (!sensible(seconds) || !sensible(units_of(kind, units)) || !sensible(more))
            continue;
        rate->exposure = fmin(rate->exposure + more, MOST);
        rate->watched = fmin(rate->watched + more, MOST);
    }
}

void estimate_failed(struct estimate *estimate, enum estimate_kind kind)
{
    struct estimate_rate *rate = &estimate->rates[kind];
    double keep = 1 - 1 / ESTIMATE_MEMORY;

    rate->failures = rate->failures * keep + 1;
    rate->squares = rate->squares * keep * keep + 1;
    rate->exposure *= keep;
    rate->seen = fmin(rate->seen + 1, MOST);
}

/* The rate per unit; 0: unknown.  A failure before any exposure counts with a small one. */
static double rate_of(const struct estimate_rate *rate)
{
    return rate->failures > 0 ? rate->failures / fmax(rate->exposure, 1e-3) : 0;
}

/* The shape of the posterior: the number of failures of equal weight that would be as
 * informative. */
static double shape_of(const struct estimate_rate *rate)
{
    return rate->squares > 0 ? rate->failures * rate->failures / rate->squares : 0;
}

/* ---- Costs -------------------------------------------------------------------------------- */

void estimate_guess(struct estimate_cost *cost, double seconds)
{
    if (cost->count == 0 && sensible(seconds))
        cost->mean = seconds;
}

static int direction(const struct estimate_cost *cost, double seconds)
{
    return seconds > ESTIMATE_ODD * cost->mean ? 1 : seconds < cost->mean / ESTIMATE_ODD ? -1 : 0;
}

/* The mean is restarted by the first value, by a second one far from the first (a program has
 * little to save at its first barrier), and by the second in a row that differs in the same
 * direction: those are not outliers. */
void estimate_take(struct estimate_cost *cost, double seconds)
{
    if (!sensible(seconds))
        return;
    int differs = cost->count > 0 ? direction(cost, seconds) : 0;
    bool anew = cost->count == 0 ||
                (differs != 0 &&
                 (cost->count == 1 || (cost->odd > 0 && direction(cost, cost->odd) == differs)));
    double before = cost->mean;

    cost->count = fmin(cost->count + 1, MOST);
    cost->odd = differs != 0 && !anew ? fmax(seconds, 1e-9) : 0;
    if (anew) {
        cost->mean = seconds;
        cost->spread = cost->count > 1 ? fabs(seconds - before) : 0;
        return;
    }
    if (differs != 0)
        seconds = differs > 0 ? before * ESTIMATE_ODD : before / ESTIMATE_ODD;
    double weight = fmax(SMOOTHING, 1 / cost->count);
    cost->mean += weight * (seconds - before);
    cost->spread += weight * (fabs(seconds - before) - cost->spread);
}

/* ---- What follows ------------------------------------------------------------------------- */

/* Td for a kind without a value. */
static double any_restore(const struct estimate *estimate)
{
    const struct estimate_cost *best = &estimate->restores[0];
    for (unsigned kind = 1; kind < ESTIMATE_KINDS; kind++) {
        const struct estimate_cost *other = &estimate->restores[kind];
        if (other->count > best->count || (best->count == 0 && best->mean == 0))
            best = other;
    }
    return best->mean;
}

bool estimate_model(const struct estimate *estimate, struct estimate_units units,
                    struct interval_model *model)
{
    double rate = 0, restore = 0, other = any_restore(estimate);

    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        const struct estimate_cost *cost = &estimate->restores[kind];
        double of_kind = rate_of(&estimate->rates[kind]) * fmax(units_of(kind, units), 0);
        rate += of_kind;
        restore += of_kind * (cost->count > 0 || cost->mean > 0 ? cost->mean : other);
    }
    *model = (struct interval_model){.rate = rate,
                                     .cost = estimate->snapshot.mean,
                                     .restore = rate > 0 ? restore / rate : other,
                                     .delay = estimate->delay.mean};
    return rate > 0;
}

/* The bounds of a mean life whose rate has a Gamma posterior. */
static void bound(struct estimate_life *life, double rate, double shape)
{
    life->known = rate > 0;
    life->mean = life->high = INFINITY;
    if (!life->known) {
        life->low = -life->watched / log(1 - ESTIMATE_HIGH);
        return;
    }
    shape = fmin(fmax(shape, SHAPE_LEAST), SHAPE_MOST); /* guards against numbers from outside */
    life->mean = 1 / rate;
    life->low = shape / (rate * estimate_gamma_quantile(shape, ESTIMATE_HIGH));
    life->high = shape / (rate * estimate_gamma_quantile(shape, ESTIMATE_LOW));
}

struct estimate_life estimate_life(const struct estimate *estimate, enum estimate_kind kind)
{
    const struct estimate_rate *rate = &estimate->rates[kind];
    struct estimate_life life = {.seen = rate->seen, .watched = rate->watched};

    bound(&life, rate_of(rate), shape_of(rate));
    return life;
}

struct estimate_life estimate_job_life(const struct estimate *estimate, struct estimate_units units)
{
    struct estimate_life life = {0};
    double rate = 0, variance = 0;

    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        const struct estimate_rate *one = &estimate->rates[kind];
        double of_kind = rate_of(one) * fmax(units_of(kind, units), 0), shape = shape_of(one);
        rate += of_kind;
        variance += shape > 0 ? of_kind * of_kind / shape : 0;
        life.seen += one->seen;
        if (units_of(kind, units) > 0)
            life.watched = fmax(life.watched, one->watched / units_of(kind, units));
    }
    bound(&life, rate, variance > 0 ? rate * rate / variance : 0);
    return life;
}

/* ---- The Gamma distribution --------------------------------------------------------------- */

/* The density at x, for scale 1. */
static double gamma_density(double shape, double x)
{
    int sign;
    return exp((shape - 1) * log(x) - x - lgamma_r(shape, &sign));
}

/* The share below x > 0: a series below the mean, else a continued fraction (Lentz). */
static double gamma_share(double shape, double x)
{
    double factor = gamma_density(shape, x) * x;

    if (x < shape + 1) {
        double term = 1 / shape, sum = term;
        for (int i = 1; i < SERIES_MOST && term > sum * 1e-16; i++)
            sum += term *= x / (shape + i);
        return factor * sum;
    }
    double b = x + 1 - shape, c = 1e300, d = 1 / b, fraction = d;
    for (int i = 1; i < SERIES_MOST; i++) {
        double a = i * (shape - i);
        b += 2;
        d = 1 / (a * d + b);
        c = b + a / c;
        fraction *= c * d;
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return 1 - factor * fraction;
}

/* The quantile of the normal distribution, to some three digits: Abramowitz and Stegun 26.2.23. */
static double normal_quantile(double share)
{
    double tail = share < 0.5 ? share : 1 - share, t = sqrt(-2 * log(tail));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    return share < 0.5 ? -z : z;
}

/* Newton's method from the approximation of Wilson and Hilferty, safeguarded by bisection. */
double estimate_gamma_quantile(double shape, double share)
{
    if (!(share > 0) || !(shape > 0))
        return 0;
    if (share >= 1)
        return INFINITY;
    double spread = 1 / (9 * shape);
    double root = 1 - spread + normal_quantile(share) * sqrt(spread);
    int sign;
    /* Close to 0, where that fails, from share = x^shape / Gamma(shape + 1). */
    double x = root > 0.2 ? shape * root * root * root
                          : exp((log(share) + lgamma_r(shape + 1, &sign)) / shape);
    double low = 0, high = INFINITY;

    for (int i = 0; i < 200 && x > 0; i++) {
        double off = gamma_share(shape, x) - share;
        if (off > 0)
            high = x;
        else
            low = x;
        double next = x - off / gamma_density(shape, x);
        if (!(next > low && next < high))
            next = isinf(high) ? 2 * x : (low + high) / 2;
        if (fabs(next - x) <= 1e-13 * x)
            return next;
        x = next;
    }
    return x;
}

/* ---- Outside ------------------------------------------------------------------------------ */

static double *put_cost(double *to, const struct estimate_cost *cost)
{
    *to++ = cost->mean;
    *to++ = cost->spread;
    *to++ = cost->odd;
    *to++ = cost->count;
    return to;
}

void estimate_to_numbers(const struct estimate *estimate, double numbers[ESTIMATE_NUMBERS])
{
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        const struct estimate_rate *rate = &estimate->rates[kind];
        *numbers++ = rate->failures;
        *numbers++ = rate->squares;
        *numbers++ = rate->exposure;
        *numbers++ = rate->seen;
        *numbers++ = rate->watched;
    }
    numbers = put_cost(numbers, &estimate->snapshot);
    numbers = put_cost(numbers, &estimate->delay);
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        numbers = put_cost(numbers, &estimate->restores[kind]);
}

static const double *get_cost(const double *from, struct estimate_cost *cost)
{
    cost->mean = *from++;
    cost->spread = *from++;
    cost->odd = *from++;
    cost->count = *from++;
    return from;
}

int estimate_from_numbers(struct estimate *estimate, const double *numbers, size_t count)
{
    struct estimate made = {0};
    const double *from = numbers;

    if (count < ESTIMATE_NUMBERS)
        return -EINVAL;
    for (size_t i = 0; i < ESTIMATE_NUMBERS; i++)
        if (!sensible(numbers[i]))
            return -EINVAL;
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        struct estimate_rate *rate = &made.rates[kind];
        rate->failures = *from++;
        rate->squares = *from++;
        rate->exposure = *from++;
        rate->seen = *from++;
        rate->watched = *from++;
        if ((rate->failures > 0) != (rate->squares > 0))
            return -EINVAL;
    }
    from = get_cost(from, &made.snapshot);
    from = get_cost(from, &made.delay);
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        from = get_cost(from, &made.restores[kind]);
    *estimate = made;
    return 0;
}
