/* intervals.c - lives of a job between failures, played one after the other: whether the model of
 * coordinator/core/interval.h tells what happens, and which of the intervals known from the
 * literature is best.
 *
 *     intervals --check      the settings below, with bounds; exit status 1 when one is exceeded
 *     intervals [LIVES]      the table of doc/interval.md, from so many lives (2,000,000) a cell
 *
 * What is played knows no formula: a job runs, pauses, runs on while the image is written, fails at
 * a time that was drawn, and falls back to what was committed then.  All intervals of a setting see
 * the same failures, so their differences are far more certain than their values.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/interval.h"
#include "tests/unit/interval_harsh.h"

#define CHECK_LIVES 100000u
#define LONG_LIVES  2000000u

static double chance(uint64_t *random)
{
    uint64_t mixed = *random += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((mixed ^ mixed >> 31) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

struct played {
    double utilisation, error; /* standard error */
};

/* What of a life is still there after it. */
static double kept_of(const struct interval_model *model, double first, double interval,
                      double life)
{
    double now = 0, work = 0, kept = 0, commit = 0, pending = 0;

    for (;;) {
        double due = now + (now > 0 ? interval : first);
        if (pending > 0 && due < commit) /* one is written at a time */
            due = commit;
        if (pending > 0 && commit <= life && commit <= due) {
            kept = pending;
            pending = 0;
        }
        if (due + model->cost > life)
            return kept;
        work += due - now;
        now = due + model->cost;
        pending = work;
        commit = now + model->delay;
    }
}

/* harsh: a failure during a restore is possible, and begins it anew. */
static struct played play(const struct interval_model *model, double first, double interval,
                          unsigned lives, bool harsh)
{
    double useful = 0, time = 0, useful_2 = 0, time_2 = 0, both = 0;
    uint64_t random = 1;

    for (unsigned i = 0; i < lives; i++) {
        double life = -log(chance(&random)) / model->rate, kept;
        double down = model->restore;
        if (harsh && life < down) { /* it ends in the restore */
            down = 0;
            kept = 0;
        } else {
            kept = kept_of(model, first, interval, harsh ? life - down : life);
            down = harsh ? 0 : down;
        }
        useful += kept;
        time += life + down;
        useful_2 += kept * kept;
        time_2 += (life + down) * (life + down);
        both += kept * (life + down);
    }
    double u = useful / time;
    return (struct played){u, sqrt(useful_2 - 2 * u * both + u * u * time_2) / time};
}

struct setting {
    double hosts, life, cost, restore, delay;
};

static const struct setting settings[] = {
    {8, 4000, 20, 50, 0},   {8, 7200, 20, 50, 0},         {8, 14400, 20, 50, 0},
    {32, 4000, 20, 50, 0},  {32, 7200, 20, 50, 0},        {128, 7200, 20, 50, 0},
    {8, 7200, 5, 50, 0},    {8, 7200, 80, 50, 0},         {8, 7200, 20, 10, 0},
    {8, 7200, 20, 200, 0},  {32, 4000, 20, 200, 0},       {8, 7200, 20, 50, 60},
    {8, 7200, 20, 50, 400}, {1000, 31536000, 60, 300, 0}, {1, 3600, 0.02, 2, 1},
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

enum { EXACT, PAPER, YOUNG, DALY, FOUND, RULES };
static const char *const names[RULES] = {"exact", "paper", "Young", "Daly", "found"};

static struct interval_model model_of(const struct setting *setting)
{
    return (struct interval_model){setting->hosts / setting->life, setting->cost, setting->restore,
                                   setting->delay};
}

/* By search: the best of what is played, each five hundredths longer than the one before. */
static double found(const struct interval_model *model, unsigned lives)
{
    double best = 0, most = -1, from = interval_exact(model) / 4;

    for (double interval = from; interval < 64 * from; interval *= 1.05) {
        double value = play(model, interval, interval, lives, false).utilisation;
        if (value > most) {
            most = value;
            best = interval;
        }
    }
    return best;
}

static void fill(const struct interval_model *model, unsigned lives, double interval[RULES])
{
    interval[EXACT] = interval_best(model);
    interval[PAPER] = interval_paper(model);
    interval[YOUNG] = interval_young(model);
    interval[DALY] = interval_daly(model);
    interval[FOUND] = found(model, lives);
}

/* ---- With bounds --------------------------------------------------------------------------- */

static unsigned complain(const struct setting *setting, const char *what, double is, double wanted)
{
    printf("hosts %g, life %g s, V %g s, Td %g s, D %g s: %s: %.5f, not %.5f\n", setting->hosts,
           setting->life, setting->cost, setting->restore, setting->delay, what, is, wanted);
    return 1;
}

/* Where the first interval is another one, and none shorter than the delay can follow. */
static double formula(const struct interval_model *model, double first, double interval, bool harsh)
{
    double length = fmax(interval, model->delay), a = model->rate;
    double value =
        harsh ? interval_utilisation_harsh(model, length) : interval_utilisation(model, length);
    double after = length / expm1(a * (length + model->cost));

    return value / after * exp(-a * (first + model->cost)) * (first + after);
}

static unsigned check_value(const struct setting *setting, double first, double interval,
                            bool harsh)
{
    struct interval_model model = model_of(setting);
    double value = formula(&model, first, interval, harsh);
    struct played played = play(&model, first, interval, CHECK_LIVES, harsh);

    /* 4.5 deviations: once in 10^5, and the failures are always the same. */
    if (fabs(played.utilisation - value) <= 4.5 * played.error + 1e-9)
        return 0;
    return complain(setting, harsh ? "harsh utilisation" : "utilisation", value,
                    played.utilisation);
}

static unsigned check(const struct setting *setting)
{
    struct interval_model model = model_of(setting);
    double interval[RULES], value[RULES];
    unsigned bad = 0;

    fill(&model, CHECK_LIVES / 10, interval);
    for (unsigned i = 0; i < RULES; i++) {
        double first = i == EXACT ? interval_first(&model) : interval[i];
        value[i] = play(&model, first, interval[i], CHECK_LIVES, false).utilisation;
        bad += check_value(setting, first, interval[i], false);
        bad += check_value(setting, first, interval[i], true);
        /* No other rule is better, by more than what these failures are not those of the mean. */
        if (value[i] > value[EXACT] * 1.002)
            bad += complain(setting, names[i], value[EXACT], value[i]);
    }
    return bad;
}

/* ---- The table ----------------------------------------------------------------------------- */

static void print_row(const struct setting *setting, unsigned lives)
{
    struct interval_model model = model_of(setting);
    double interval[RULES];

    fill(&model, lives / 20, interval);
    printf("| %g | %g | %g | %g | %g |", setting->hosts, setting->life, setting->cost,
           setting->restore, setting->delay);
    for (unsigned i = 0; i < RULES; i++)
        printf(" %.4g: %.4f |", interval[i],
               play(&model, i == EXACT ? interval_first(&model) : interval[i], interval[i], lives,
                    false)
                   .utilisation);
    printf(" %.4f | %.4f |\n", interval_utilisation(&model, interval[EXACT]),
           interval_paper_utilisation(&model, interval[PAPER]));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    bool bounds = argc > 1 && strcmp(argv[1], "--check") == 0;
    unsigned lives = argc > 1 && !bounds ? (unsigned)strtoul(argv[1], NULL, 10) : LONG_LIVES;
    unsigned bad = 0;

    if (!bounds)
        printf("| hosts | life | V | Td | D | exact | paper | Young | Daly | search | by the exact "
               "formula | by the paper's |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < SETTINGS; i++) {
        if (bounds)
            bad += check(&settings[i]);
        else
            print_row(&settings[i], lives);
    }
    if (bounds)
        printf("%zu settings, %u lives each: %u wrong\n", SETTINGS, CHECK_LIVES, bad);
    return bad > 0;
}
