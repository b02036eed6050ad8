/* status_metrics.c - the status of a running job as OpenMetrics text; see status_metrics.h. */
#include "bsprun/status/status_metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/utf8.h"
#include "lib/wire/wire.h"

/* What the samples of a family are written to. */
struct samples {
    FILE *file;
    const char *name; /* with the suffix of the type */
    const struct status_facts *facts;
};

/* ---- Samples ---- */

/* The value of a label; bytes that are no UTF-8 are taken for Latin-1, as in JSON. */
static void write_value(FILE *file, const char *text)
{
    while (*text) {
        char character[BSPZ_UTF8_MOST];
        unsigned length = bspz_utf8_take(&text, character);

        if (*character == '\n')
            fputs("\\n", file);
        else if (*character == '"' || *character == '\\')
            fprintf(file, "\\%c", *character);
        else
            fwrite(character, 1, length, file);
    }
}

static void label(const struct samples *samples, const char *name, const char *value)
{
    fprintf(samples->file, ",%s=\"", name);
    write_value(samples->file, value);
    fputc('"', samples->file);
}

static void label_number(const struct samples *samples, const char *name, uint64_t value)
{
    fprintf(samples->file, ",%s=\"%" PRIu64 "\"", name, value);
}

/* Every sample names the job first. */
static void begin(const struct samples *samples)
{
    fprintf(samples->file, "%s{bsprun=\"%d\"", samples->name, samples->facts->os_pid);
}

static void end(const struct samples *samples, double value)
{
    fprintf(samples->file, "} %.15g\n", value);
}

static void only(const struct samples *samples, double value)
{
    if (!isfinite(value))
        return;
    begin(samples);
    end(samples, value);
}

/* ---- The job ---- */

static void job(const struct samples *samples)
{
    const struct status_facts *facts = samples->facts;

    begin(samples);
    label(samples, "program", facts->program);
    label(samples, "directory", facts->directory);
    label(samples, "name", facts->job);
    label(samples, "zero", facts->zero);
    end(samples, 1);
}

static void processes(const struct samples *samples)
{
    only(samples, samples->facts->processes);
}

static void running(const struct samples *samples)
{
    only(samples, samples->facts->seconds);
}

static void superstep(const struct samples *samples)
{
    if (samples->facts->rank_count > 0)
        only(samples, (double)status_superstep(samples->facts->ranks, samples->facts->rank_count));
}

static void rate(const struct samples *samples)
{
    only(samples, samples->facts->rate >= 0 ? samples->facts->rate : NAN);
}

static void term(const struct samples *samples)
{
    only(samples, samples->facts->term);
}

static void restarts(const struct samples *samples)
{
    only(samples, samples->facts->restarts);
}

static void restarted_alone(const struct samples *samples)
{
    only(samples, samples->facts->restarted_alone);
}

/* ---- Snapshots and failures ---- */

static void taken(const struct samples *samples)
{
    if (samples->facts->snapshots)
        only(samples, samples->facts->has_snapshot ? (double)samples->facts->snapshot_count : 0);
}

static void last_superstep(const struct samples *samples)
{
    if (samples->facts->has_snapshot)
        only(samples, (double)samples->facts->snapshot_superstep);
}

static void age(const struct samples *samples)
{
    if (samples->facts->has_snapshot && samples->facts->snapshot_age >= 0)
        only(samples, samples->facts->snapshot_age);
}

static void image_bytes(const struct samples *samples)
{
    if (samples->facts->learned && samples->facts->learned->image_bytes > 0)
        only(samples, (double)samples->facts->learned->image_bytes);
}

static void cost(const struct samples *samples, const struct estimate_cost *cost)
{
    if (cost->count > 0)
        only(samples, cost->mean);
}

static void snapshot_cost(const struct samples *samples)
{
    if (samples->facts->learned)
        cost(samples, &samples->facts->learned->estimate.snapshot);
}

static void snapshot_delay(const struct samples *samples)
{
    if (samples->facts->learned)
        cost(samples, &samples->facts->learned->estimate.delay);
}

static void interval(const struct samples *samples)
{
    const struct learned_facts *learned = samples->facts->learned;

    if (learned && learned->told && learned->interval_ns != WIRE_NEVER)
        only(samples, (double)learned->interval_ns / BSPZ_NS_PER_S);
}

static void failure_rate(const struct samples *samples)
{
    const struct learned_facts *learned = samples->facts->learned;
    struct interval_model model;

    if (learned && estimate_model(&learned->estimate, learned->units, &model))
        only(samples, model.rate);
}

static void failures(const struct samples *samples)
{
    const struct learned_facts *learned = samples->facts->learned;

    for (unsigned kind = 0; learned && kind < ESTIMATE_KINDS; kind++) {
        begin(samples);
        label(samples, "kind", learned_kind(kind));
        end(samples, estimate_life(&learned->estimate, (enum estimate_kind)kind).seen);
    }
}

/* ---- Hosts ---- */

static void begin_host(const struct samples *samples, uint32_t host)
{
    begin(samples);
    label(samples, "host",
          host < samples->facts->host_count ? samples->facts->hosts[host].name : "");
}

static void host(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->host_count; i++) {
        begin_host(samples, i);
        label(samples, "state", samples->facts->hosts[i].state);
        end(samples, 1);
    }
}

static void host_slots(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->host_count; i++)
        if (samples->facts->hosts[i].slots > 0) {
            begin_host(samples, i);
            end(samples, samples->facts->hosts[i].slots);
        }
}

static void host_memory(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->host_count; i++)
        if (samples->facts->hosts[i].available != UINT64_MAX) {
            begin_host(samples, i);
            end(samples, (double)samples->facts->hosts[i].available);
        }
}

static void host_processes(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->host_count; i++) {
        begin_host(samples, i);
        end(samples, status_processes_on(samples->facts, i));
    }
}

/* ---- Processes ---- */

static void begin_rank(const struct samples *samples, const struct status_rank *rank)
{
    begin_host(samples, rank->host);
    label_number(samples, "pid", rank->pid);
}

static void rank(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->rank_count; i++) {
        const struct status_rank *rank = &samples->facts->ranks[i];

        begin_rank(samples, rank);
        label_number(samples, "os_pid", rank->os_pid);
        label(samples, "state", rank->state);
        label(samples, "function", rank->function);
        label(samples, "file", rank->file);
        label_number(samples, "line", rank->line);
        end(samples, 1);
    }
}

static void rank_superstep(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->rank_count; i++) {
        begin_rank(samples, &samples->facts->ranks[i]);
        end(samples, (double)samples->facts->ranks[i].superstep);
    }
}

static void rank_memory(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->rank_count; i++)
        if (samples->facts->ranks[i].memory > 0) {
            begin_rank(samples, &samples->facts->ranks[i]);
            end(samples, (double)samples->facts->ranks[i].memory);
        }
}

static void rank_seconds(const struct samples *samples)
{
    for (uint32_t i = 0; i < samples->facts->rank_count; i++) {
        const struct status_rank *rank = &samples->facts->ranks[i];
        const struct {
            const char *what;
            double seconds;
        } times[] = {{"computing", rank->computing},
                     {"communicating", rank->communicating},
                     {"waiting", rank->waiting}};

        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            begin_rank(samples, rank);
            label(samples, "what", times[k].what);
            end(samples, times[k].seconds);
        }
    }
}

/* ---- Families ---- */

/* The name of a counter's samples ends in _total, that of an info's in _info. */
static const struct family {
    const char *name, *type, *unit, *help;
    void (*write)(const struct samples *samples);
} families[] = {
    {"bspzero_job", "info", NULL, "A job; bsprun is the process id of its launcher.", job},
    {"bspzero_processes", "gauge", NULL, "Processes of the job; 0 before bsp_begin.", processes},
    {"bspzero_running_seconds", "gauge", "seconds", "Time since bsp_begin.", running},
    {"bspzero_superstep", "gauge", NULL, "Least superstep of all processes.", superstep},
    {"bspzero_supersteps_per_second", "gauge", NULL, "Supersteps per second at present.", rate},
    {"bspzero_term", "gauge", NULL, "Term, which each failure and each move begin anew.", term},
    {"bspzero_restarts", "counter", NULL, "Rollbacks to a committed snapshot.", restarts},
    {"bspzero_restarted_alone", "counter", NULL,
     "Processes restarted alone, while the others went on.", restarted_alone},
    {"bspzero_snapshots", "counter", NULL, "Snapshots committed.", taken},
    {"bspzero_snapshot_superstep", "gauge", NULL, "Superstep of the last committed snapshot.",
     last_superstep},
    {"bspzero_snapshot_age_seconds", "gauge", "seconds", "Age of the last committed snapshot.",
     age},
    {"bspzero_snapshot_bytes", "gauge", "bytes", "All images of the last committed snapshot.",
     image_bytes},
    {"bspzero_snapshot_cost_seconds", "gauge", "seconds", "Run time that a snapshot costs.",
     snapshot_cost},
    {"bspzero_snapshot_commit_seconds", "gauge", "seconds", "Time until a snapshot is committed.",
     snapshot_delay},
    {"bspzero_snapshot_interval_seconds", "gauge", "seconds",
     "Interval between snapshots that was chosen.", interval},
    {"bspzero_failures_per_second", "gauge", NULL, "Estimated failure rate of the job.",
     failure_rate},
    {"bspzero_failures", "counter", NULL, "Failures that the job has seen.", failures},
    {"bspzero_host", "info", NULL, "A host of the job.", host},
    {"bspzero_host_slots", "gauge", NULL, "Slots of the host.", host_slots},
    {"bspzero_host_available_bytes", "gauge", "bytes", "Memory for further processes.",
     host_memory},
    {"bspzero_host_processes", "gauge", NULL, "Processes of the job on the host.", host_processes},
    {"bspzero_rank", "info", NULL, "A process of the job and its last BSPlib call.", rank},
    {"bspzero_rank_superstep", "gauge", NULL, "Superstep of the process.", rank_superstep},
    {"bspzero_rank_memory_bytes", "gauge", "bytes", "Resident private memory of the process.",
     rank_memory},
    {"bspzero_rank_seconds", "counter", "seconds",
     "Time in which the process has computed, communicated and waited, while it was counted.",
     rank_seconds},
};

static void write_family(FILE *file, const struct family *family, const struct status_facts *facts)
{
    char name[64];
    const char *suffix = strcmp(family->type, "counter") == 0 ? "_total"
                         : strcmp(family->type, "info") == 0  ? "_info"
                                                              : "";
    struct samples samples = {file, name, facts};

    snprintf(name, sizeof name, "%s%s", family->name, suffix);
    fprintf(file, "# TYPE %s %s\n", family->name, family->type);
    if (family->unit)
        fprintf(file, "# UNIT %s %s\n", family->name, family->unit);
    fprintf(file, "# HELP %s %s\n", family->name, family->help);
    family->write(&samples);
}

char *status_metrics(const struct status_facts *facts)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        write_family(file, &families[i], facts);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}
