/* learned_text.c - the estimates of a job as text; see learned_text.h. */
#include "bsprun/status/learned_text.h"

#include <math.h>

#include "lib/base/units.h"

#define NS    1e9
#define NEVER UINT64_MAX

static const char *const names[ESTIMATE_KINDS] = {[ESTIMATE_HOST] = "host",
                                                  [ESTIMATE_PROCESS] = "process",
                                                  [ESTIMATE_PREEMPTION] = "preemption",
                                                  [ESTIMATE_SPLIT] = "split"};

const char *learned_kind(unsigned kind)
{
    return names[kind];
}

/* ---- For people ---- */

static void print_rate(FILE *file, const struct learned_facts *facts, enum estimate_kind kind,
                       const char *margin)
{
    struct estimate_life life = estimate_life(&facts->estimate, kind);
    char watched[BSPZ_TIME_TEXT], mean[BSPZ_TIME_TEXT] = "-", low[BSPZ_TIME_TEXT],
                                  high[BSPZ_TIME_TEXT], bounds[2 * BSPZ_TIME_TEXT + 8];

    bspz_time_text(life.low, low);
    snprintf(bounds, sizeof bounds, "above %s", low);
    if (life.known) {
        bspz_time_text(life.mean, mean);
        snprintf(bounds, sizeof bounds, "%s to %s", low, bspz_time_text(life.high, high));
    }
    fprintf(file, "%s%-10s  %4.0f  %9s  %9s  %s\n", margin, names[kind], life.seen,
            bspz_time_text(life.watched, watched), mean, bounds);
}

static void print_restores(FILE *file, const struct learned_facts *facts)
{
    char text[BSPZ_TIME_TEXT];

    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        const struct estimate_cost *cost = &facts->estimate.restores[kind];

        if (cost->count > 0)
            fprintf(file, "; a restore takes %s (%s, of %.0f)", bspz_time_text(cost->mean, text),
                    names[kind], cost->count);
        else if (cost->mean > 0 && kind <= ESTIMATE_PROCESS)
            fprintf(file, "; a restore would take about %s (%s)", bspz_time_text(cost->mean, text),
                    names[kind]);
    }
}

void learned_interval_text(const struct learned_facts *facts, char *text, size_t size)
{
    struct interval_model model;
    char time[BSPZ_TIME_TEXT], useful[48] = "";
    double interval = (double)facts->interval_ns / NS;

    if (estimate_model(&facts->estimate, facts->units, &model) && facts->interval_ns != NEVER)
        snprintf(useful, sizeof useful, "; %.3g %% of the time is useful",
                 100 * interval_utilisation(&model, interval));
    if (facts->interval_ns == NEVER)
        snprintf(text, size, "snapshots: %s", facts->why);
    else if (facts->interval_ns == 0)
        snprintf(text, size, "a snapshot at the next barrier: %s", facts->why);
    else
        snprintf(text, size, "a snapshot every %s: %s%s", bspz_time_text(interval, time),
                 facts->why, useful);
}

void learned_print(FILE *file, const struct learned_facts *facts, const char *margin)
{
    const struct estimate *estimate = &facts->estimate;
    char text[256];

    fprintf(file, "%s%-10s  %4s  %9s  %9s  %s\n", margin, "failure", "seen", "in", "mean life",
            "5 % to 95 %");
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        print_rate(file, facts, (enum estimate_kind)kind, margin);
    fprintf(file, "%s", margin);
    if (estimate->snapshot.count > 0)
        fprintf(file, "a snapshot costs %s", bspz_time_text(estimate->snapshot.mean, text));
    else
        fprintf(file, "no snapshot has been measured");
    if (estimate->snapshot.count > 0 && estimate->delay.count > 0) {
        fprintf(file, " and is committed %s later (of %.0f)",
                bspz_time_text(estimate->delay.mean, text), estimate->snapshot.count);
    }
    print_restores(file, facts);
    fputc('\n', file);
    if (!facts->told)
        return;
    learned_interval_text(facts, text, sizeof text);
    fprintf(file, "%s%s\n", margin, text);
}

/* ---- JSON ---- */

static void write_cost(struct bspz_json *json, const char *name, const struct estimate_cost *cost)
{
    bspz_json_object(json, name);
    bspz_json_real(json, "seconds", cost->count > 0 || cost->mean > 0 ? cost->mean : INFINITY);
    bspz_json_real(json, "spread", cost->spread);
    bspz_json_format(json, "count", "%.0f", cost->count);
    bspz_json_end(json);
}

static void write_life(struct bspz_json *json, const struct estimate_life *life)
{
    bspz_json_real(json, "mean_life", life->mean);
    bspz_json_real(json, "low", life->low);
    bspz_json_real(json, "high", life->high);
    bspz_json_end(json);
}

static void write_interval(struct bspz_json *json, const struct learned_facts *facts,
                           const struct interval_model *model, bool known)
{
    bool told = facts->told && facts->interval_ns != NEVER;
    double seconds = told ? (double)facts->interval_ns / NS : INFINITY;

    bspz_json_real(json, "interval", seconds);
    bspz_json_real(json, "utilisation",
                   known && told ? interval_utilisation(model, seconds) : INFINITY);
    bspz_json_text(json, "why", facts->told ? facts->why : NULL);
}

void learned_json(struct bspz_json *json, const char *name, const struct learned_facts *facts)
{
    const struct estimate *estimate = &facts->estimate;
    struct estimate_life job = estimate_job_life(estimate, facts->units);
    struct interval_model model;
    bool known = estimate_model(estimate, facts->units, &model);

    bspz_json_object(json, name);
    bspz_json_flag(json, "known", known);
    bspz_json_format(json, "hosts", "%.0f", facts->units.hosts);
    bspz_json_format(json, "processes", "%.0f", facts->units.processes);
    bspz_json_array(json, "kinds");
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        struct estimate_life life = estimate_life(estimate, (enum estimate_kind)kind);

        bspz_json_object(json, NULL);
        bspz_json_text(json, "kind", names[kind]);
        bspz_json_format(json, "seen", "%.0f", life.seen);
        bspz_json_real(json, "watched", life.watched);
        write_life(json, &life);
    }
    bspz_json_end(json);
    bspz_json_object(json, "job");
    bspz_json_format(json, "seen", "%.0f", job.seen);
    write_life(json, &job);
    write_cost(json, "snapshot", &estimate->snapshot);
    write_cost(json, "delay", &estimate->delay);
    bspz_json_object(json, "restores");
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        write_cost(json, names[kind], &estimate->restores[kind]);
    bspz_json_end(json);
    bspz_json_object(json, "model");
    bspz_json_real(json, "rate", model.rate);
    bspz_json_real(json, "cost", model.cost);
    bspz_json_real(json, "restore", model.restore);
    bspz_json_real(json, "delay", model.delay);
    bspz_json_end(json);
    bspz_json_number(json, "image_bytes", facts->image_bytes);
    write_interval(json, facts, &model, known);
    bspz_json_end(json);
}
