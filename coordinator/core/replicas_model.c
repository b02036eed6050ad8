/* replicas_model.c - what replicas bring; see replicas_model.h. */
#include "coordinator/core/replicas_model.h"

#include <math.h>
#include <stddef.h>

#define PANELS     64    /* of the integral */
#define NEGLIGIBLE 1e-18 /* survival that adds nothing to it */
#define PRECISION  1e-3  /* of the best interval */
#define SCALES     40    /* of the coarse search, from eight mean lives down, each halved */

static double clean(double number)
{
    return number > 0 ? number : 0; /* NaN, too */
}

static double count(uint32_t number)
{
    return number > 0 ? number : 1;
}

/* ---- Survival ----------------------------------------------------------------------------- */

/* Of all cells, when a host is lost with probability x: (1 - x^K)^N. */
static double left(const struct replicas_model *model, double x)
{
    return exp(count(model->cells) * log1p(-pow(x, count(model->replicas))));
}

/* The probability that every cell has a host left after so much time from a full set. */
static double replicas_survival(const struct replicas_model *model, double seconds)
{
    double x = -expm1(-clean(model->host_rate) * clean(seconds));

    return x < 1 ? left(model, x) : 0;
}

/* The integral of the survival from 0 to `seconds`, by the probability x = 1 - exp(-rate t) that a
 * host is lost, dt = dx / (rate (1 - x)): Gauss's rule of five points on panels of equal width up
 * to where hardly anything is left. */
static double integral(const struct replicas_model *model, double seconds)
{
    static const double at[] = {0, 0.5384693101056831, 0.9061798459386640};
    static const double weight[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    double rate = clean(model->host_rate);
    double end = -expm1(-rate * seconds);
    double most = pow(-expm1(log(NEGLIGIBLE) / count(model->cells)), 1 / count(model->replicas));

    if (!(end < most))
        end = most;
    double half = end / PANELS / 2, sum = 0;
    for (int panel = 0; panel < PANELS; panel++)
        for (int i = -2; i <= 2; i++) {
            size_t point = (size_t)(i < 0 ? -i : i);
            double x = half * (2 * panel + 1 + (i < 0 ? -at[point] : at[point]));
            sum += weight[point] * left(model, x) / (1 - x);
        }
    return sum * half / rate;
}

double replicas_mean_life(const struct replicas_model *model)
{
    if (clean(model->host_rate) == 0)
        return INFINITY;
    return isinf(model->host_rate) ? 0 : integral(model, INFINITY);
}

/* ---- Utilisation -------------------------------------------------------------------------- */

/* A cycle of length C = T + V ends well with probability S.  Then with probability q no host was
 * lost in it, and the next one begins at once, in whose first D seconds a loss still undoes both;
 * else the job waits for the commit and is restored with all hosts.  By renewal,
 * U = T S (1 - q (1 - S(D))) / (integral of S to C + S (1 - q) (D + R) + (1 - S) Td). */
double replicas_utilisation(const struct replicas_model *model, double interval)
{
    double rate = clean(model->host_rate), delay = clean(model->delay);
    double work = fmax(clean(interval), delay), cycle = work + clean(model->cost);

    if (rate == 0)
        return cycle > 0 ? isinf(work) ? 1 : work / cycle : 1;
    if (isinf(rate) || isinf(cycle) || work == 0)
        return 0;
    double well = replicas_survival(model, cycle);
    if (well == 0)
        return 0;
    double hosts = count(model->cells) * count(model->replicas);
    double whole = fmin(exp(-rate * hosts * cycle) / well, 1);
    double kept = well * (1 - whole * (1 - replicas_survival(model, delay)));
    double time = integral(model, cycle) + well * (1 - whole) * (delay + clean(model->replace)) +
                  (1 - well) * clean(model->restore);

    return isfinite(time) && time > 0 ? fmin(work * kept / time, 1) : 0;
}

/* The utilisation rises to one maximum and falls: the best of a coarse scale, and then
 * golden-section search around it, but not below the delay, where it is level. */
double replicas_best(const struct replicas_model *model)
{
    double life = replicas_mean_life(model), delay = clean(model->delay);
    const double golden = 0.6180339887498949;

    if (isinf(life) || life == 0)
        return isinf(life) ? INFINITY : delay;
    double best = 8 * life, value = -1;
    for (int i = 0; i <= SCALES; i++) {
        double interval = ldexp(8 * life, -i), there = replicas_utilisation(model, interval);
        if (there > value) {
            value = there;
            best = interval;
        }
    }
    double low = log(fmax(best / 2, delay)), high = fmax(log(best * 2), low);
    while (high - low > PRECISION) {
        double one = high - golden * (high - low), two = low + golden * (high - low);
        if (replicas_utilisation(model, exp(one)) < replicas_utilisation(model, exp(two)))
            low = one;
        else
            high = two;
    }
    best = exp((low + high) / 2);
    return replicas_utilisation(model, delay) >= replicas_utilisation(model, best) ? delay : best;
}

/* ---- How many ----------------------------------------------------------------------------- */

struct replicas_advice replicas_advise(const struct replicas_model *model, uint32_t hosts)
{
    struct replicas_advice advice = {.replicas = 1};
    uint32_t all = hosts > 0 ? hosts : 1;

    for (uint32_t replicas = 1; replicas <= REPLICAS_MODEL_MOST && replicas <= all; replicas++) {
        struct replicas_model with = *model;
        with.replicas = replicas;
        with.cells = all / replicas;
        advice.cells[replicas] = with.cells;
        advice.interval[replicas] = replicas_best(&with);
        advice.utilisation[replicas] = replicas_utilisation(&with, advice.interval[replicas]);
        advice.speed[replicas] = with.cells * advice.utilisation[replicas];
        if (advice.speed[replicas] > advice.speed[advice.replicas])
            advice.replicas = replicas;
    }
    return advice;
}
