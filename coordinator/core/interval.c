/* interval.c - how long a job should run between two snapshots. */
#include "coordinator/core/interval.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* e as the sum of two doubles: 1 + e z is needed exactly where it is close to 0. */
#define E_HIGH 0x1.5bf0a8b145769p+1
#define E_LOW  0x1.4d57ee2b1013ap-53

#define TINY   1e-32 /* below it sqrt(2 x) equals 1 + W0((x - 1) / e) to the last digit */
#define ENOUGH 1e-6  /* the relative size of the last step of a third-order iteration */
#define ROUNDS 40    /* arguments need three to six */

static double clean(double number)
{
    return number > 0 ? number : 0; /* NaN, too */
}

/* ---- Lambert's function ------------------------------------------------------------------- */

static double polynomial(const double *terms, size_t count, double x)
{
    double sum = 0;
    while (count-- > 0)
        sum = sum * x + terms[count];
    return sum;
}

#define POLYNOMIAL(terms, x) polynomial(terms, sizeof(terms) / sizeof((terms)[0]), x)

/* 1 + (u - 1) exp(u), by its series u^2 / 2 + u^3 / 3 + u^4 / 8 + ... = sum of u^n (n - 1) / n!
 * where more than two digits would cancel. */
static double branch(double u, double exp_u)
{
    static const double terms[] = {1 / 2.,   1 / 3.,    1 / 8.,     1 / 30.,     1 / 144.,
                                   1 / 840., 1 / 5760., 1 / 45360., 1 / 403200., 1 / 3991680.};

    return u > 0.1 ? 1 + (u - 1) * exp_u : u * u * POLYNOMIAL(terms, u);
}

/* The u = 1 + w with w exp(w) = (x - 1) / e, for 0 <= x <= 1: exact where x is tiny.  A step of
 * Halley's leaves about the third power of the relative error, so the last one need not be tiny. */
static double lambert_plus_1(double x)
{
    static const double series[] = {
        1, -1 / 3., 11 / 72., -43 / 540., 769 / 17280., -221 / 8505., 680863 / 43545600.};
    double p = sqrt(2 * x), u = p * POLYNOMIAL(series, p); /* the series at the branch point */

    if (x < DBL_MIN)
        return p;
    if (x >= 1)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        double exp_u = exp(u), slope = u * exp_u, off = branch(u, exp_u) - x;
        double step = off / (slope - off * (1 + u) / (2 * u)); /* f'' = (1 + u) exp(u) */
        u -= step;
        if (fabs(step) <= ENOUGH * u)
            break;
    }
    return u > 1 ? 1 : u;
}

double interval_lambert_w0(double z)
{
    double x = fma(E_HIGH, z, 1) + E_LOW * z; /* 1 + e z */

    if (!(x > 0))
        return -1;
    if (isinf(z))
        return z;
    if (fabs(z) < 1e-150)
        return z;
    if (x < 0.5)
        return lambert_plus_1(x) - 1;
    double w = z < 2 ? log1p(z) * (z > 0 ? 0.7 : 1) : log(z) - log(log(z) + 0.3);
    for (int i = 0; i < ROUNDS; i++) {
        double step;
        if (z < 2) { /* Halley on w - z exp(-w) */
            double part = z * exp(-w), off = w - part;
            step = off / (1 + part + off * part / (2 * (1 + part)));
        } else { /* Halley on w + ln w - ln z: nothing overflows */
            double off = w + log(w / z), slope = 1 + 1 / w;
            step = off / (slope + off / (2 * w * w * slope));
        }
        w -= step;
        if (fabs(step) <= 4 * DBL_EPSILON * fabs(w))
            break;
    }
    return w;
}

/* ---- Shared -------------------------------------------------------------------------------- */

/* (exp(x) - 1) / x, 1 at 0. */
static double growth(double x)
{
    return x > 0 ? x < 700 ? expm1(x) / x : INFINITY : 1;
}

/* T / (T + V), and its limit for 0 and 0. */
static double share(double interval, double cost)
{
    if (isinf(interval))
        return isinf(cost) ? 0 : 1;
    return interval + cost > 0 ? interval / (interval + cost) : 1;
}

/* ---- Intervals ---------------------------------------------------------------------------- */

/* Cases without a formula: no snapshots if nothing fails; an interval of 0 if snapshots cost
 * nothing or the rate is too high. */
static bool is_plain(double rate, double cost, double *interval)
{
    *interval = rate > 0 ? 0 : INFINITY;
    return rate == 0 || cost == 0 || isinf(rate);
}

double interval_exact(const struct interval_model *model)
{
    double rate = clean(model->rate), cost = clean(model->cost), plain;

    if (is_plain(rate, cost, &plain))
        return plain;
    if (rate * cost < TINY)
        return interval_young(model);
    /* -exp(-a V - 1) = (x - 1) / e with x = 1 - exp(-a V). */
    return lambert_plus_1(-expm1(-rate * cost)) / rate;
}

double interval_best(const struct interval_model *model)
{
    return fmax(interval_exact(model), clean(model->delay));
}

double interval_first(const struct interval_model *model)
{
    double exact = interval_exact(model), best = interval_best(model), rate = clean(model->rate);

    if (best <= exact || isinf(rate))
        return best;
    /* The value of the snapshots after it, (exp(x) - 1) / x being 1 or more; it is largest, and the
     * first one latest, at their best interval. */
    double cycle = best + clean(model->cost);
    double after = share(best, clean(model->cost)) / (rate * growth(rate * cycle));
    return fmin(fmax(1 / rate - after, exact), best);
}

double interval_paper(const struct interval_model *model)
{
    double rate = clean(model->rate), cost = clean(model->cost), plain;

    if (is_plain(rate, cost, &plain))
        return plain;
    /* (V a - Td a - 1) / ((Td a + 1) e) = (x - 1) / e. */
    double restore = clean(model->restore);
    double x = rate < 1 ? rate * cost / (1 + rate * restore) : cost / (1 / rate + restore);
    if (isnan(x)) /* both are infinite */
        x = 1;
    if (x < TINY)
        return sqrt(2) * sqrt(cost) / sqrt(1 + rate * restore) / sqrt(rate);
    return (x < 0.5 ? lambert_plus_1(x) : 1 + interval_lambert_w0((x - 1) / E_HIGH)) / rate;
}

double interval_young(const struct interval_model *model)
{
    double rate = clean(model->rate), cost = clean(model->cost), plain;

    if (is_plain(rate, cost, &plain))
        return plain;
    return sqrt(2) * sqrt(cost) / sqrt(rate);
}

double interval_daly(const struct interval_model *model)
{
    double rate = clean(model->rate), cost = clean(model->cost), plain;
    double half = cost * rate / 2; /* V / (2 M) */

    if (is_plain(rate, cost, &plain))
        return plain;
    if (half >= 1)
        return 1 / rate;
    return fmax(interval_young(model) * (1 + sqrt(half) / 3 + half / 9) - cost, 0);
}

/* ---- What an interval brings --------------------------------------------------------------- */

/* The useful share of failure-free time, times the part of it that no failure undoes. */
double interval_utilisation(const struct interval_model *model, double interval)
{
    double rate = clean(model->rate), cost = clean(model->cost), length = clean(interval);
    double kept = share(length, cost);

    if (rate == 0)
        return kept;
    if (isinf(rate) || isinf(length + cost))
        return 0;
    kept = kept / growth(rate * (length + cost)) * exp(-rate * clean(model->delay));
    return kept > 0 ? kept / (1 + rate * clean(model->restore)) : kept;
}

double interval_paper_utilisation(const struct interval_model *model, double interval)
{
    double rate = clean(model->rate), cost = clean(model->cost), length = clean(interval);
    double spent = cost > 0 ? length > 0 && !isinf(cost) ? cost / length : INFINITY : 0;

    if (isinf(rate))
        return -DBL_MAX;
    /* L (Twc + Td) / c = (1 + a Td) (exp(a T) - 1) / (a T) - 1. */
    double lost = rate > 0 ? (1 + rate * clean(model->restore)) * growth(rate * length) - 1 : 0;
    return fmax(1 - spent - lost, -DBL_MAX);
}

/* The expected time to complete a run of that length without a failure: (1 / a + Td) (exp(a x) -
 * 1). */
static double run_through(const struct interval_model *model, double length)
{
    double rate = clean(model->rate);

    if (rate == 0 || length == 0)
        return length;
    return (1 + rate * clean(model->restore)) * length * growth(rate * length);
}

double interval_time(const struct interval_model *model, double interval, double work)
{
    double rate = clean(model->rate), delay = clean(model->delay);
    double length = clean(interval), amount = clean(work);
    double cycle = length + clean(model->cost);

    if (amount == 0)
        return 0;
    if (isinf(amount) || isinf(rate) || (length == 0 && cycle > 0))
        return INFINITY;
    /* Snapshots that could not be committed before the end save nothing. */
    double last = fmin(delay, amount), count = 0;
    if (length > 0) {
        count = fmax(ceil(amount / length) - 1, 0);
        last = count > 0 ? amount - count * length : amount;
        double late = last < delay ? fmin(ceil((delay - last) / cycle), count) : 0;
        last += late > 0 ? late * cycle : 0;
        count -= late;
    }
    double time = run_through(model, last);
    if (count > 0)
        time += count * run_through(model, cycle) * exp(rate * delay);
    else if (length == 0 && amount > last)
        time += (amount - last) * (1 + rate * clean(model->restore)) * exp(rate * delay);
    return isnan(time) ? INFINITY : time;
}

/* ---- How many hosts ------------------------------------------------------------------------ */

static struct interval_model on_hosts(const struct interval_model *model, double share_of_hosts)
{
    struct interval_model less = *model;
    less.rate = clean(model->rate) * share_of_hosts;
    return less;
}

/* The logarithm of hosts times utilisation; does not underflow. */
static double gain(const struct interval_model *model, uint32_t hosts, uint32_t of)
{
    struct interval_model less = on_hosts(model, (double)hosts / of);
    double interval = interval_best(&less), cycle = less.rate * (interval + clean(less.cost));

    if (less.rate == 0)
        return log(hosts);
    double lost = cycle < 700 ? log(growth(cycle)) : cycle - log(cycle);
    return log(hosts) + log(share(interval, clean(less.cost))) - lost -
           less.rate * clean(less.delay) - log1p(less.rate * clean(less.restore));
}

struct interval_advice interval_advise(const struct interval_model *model, uint32_t hosts)
{
    uint32_t of = hosts > 0 ? hosts : 1, low = 1, high = of;
    struct interval_advice advice = {
        .utilisation = interval_utilisation(model, interval_best(model)),
    };

    /* Hosts times utilisation has a single maximum. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gain(model, middle + 1, of) > gain(model, middle, of))
            low = middle + 1;
        else
            high = middle;
    }
    struct interval_model there = on_hosts(model, (double)low / of);
    advice.hosts = low;
    advice.utilisation_there = interval_utilisation(&there, interval_best(&there));
    advice.hardly = advice.utilisation < INTERVAL_HARDLY;
    advice.none = advice.utilisation_there < INTERVAL_HARDLY;
    return advice;
}
