/* load_history.c - bspload --history; see load_history.h.
 *
 * What can fail: there is no history (reported), or it is invalid (status 1).
 */
#include "bsprun/load/load_history.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bsprun/history/history.h"
#include "coordinator/core/estimate.h"
#include "lib/base/json.h"
#include "lib/base/stdout.h"

static const char *variable(const char *name)
{
    return getenv(name);
}

static void day_of(int64_t seconds, char text[16])
{
    time_t time = (time_t)seconds;
    struct tm day;

    if (!gmtime_r(&time, &day) || strftime(text, 16, "%Y-%m-%d", &day) == 0)
        snprintf(text, 16, "-");
}

/* The estimate with which a job at that site would begin. */
static struct estimate_life life_of(const struct history_rate *rate)
{
    struct estimate estimate = {0};

    estimate_prior_of_history(&estimate, ESTIMATE_HOST, rate->events, rate->seconds);
    return estimate_life(&estimate, ESTIMATE_HOST);
}

static void print_hours(double seconds, int width)
{
    if (isfinite(seconds))
        printf("  %*.4g", width, seconds / 3600);
    else
        printf("  %*s", width, "-");
}

static void print_cost(const char *what, const struct history_cost *cost)
{
    if (cost->count > 0)
        printf("  %-22s %10.3f s  (of %" PRIu64 ")\n", what, cost->seconds, cost->count);
}

static void print_site(const struct history_site *site)
{
    char first[16], last[16], what[40];

    day_of(site->first, first);
    day_of(site->last, last);
    printf("%s: %" PRIu64 " job%s on at most %" PRIu64 " host%s, %s to %s\n", site->name,
           site->jobs, site->jobs == 1 ? "" : "s", site->hosts, site->hosts == 1 ? "" : "s", first,
           last);
    printf("  %-10s  %6s  %10s  %12s  %10s  %10s\n", "failure", "seen", "in hours", "mean life, h",
           "5 %", "95 %");
    for (unsigned kind = 0; kind < HISTORY_FAULT_COUNT; kind++) {
        const struct history_rate *rate = &site->rates[kind];
        struct estimate_life life = life_of(rate);
        bool known = life.known && rate->events > 0;

        printf("  %-10s  %6.0f", history_fault_name((enum history_fault)kind), rate->all_events);
        print_hours(rate->all_seconds, 10);
        print_hours(known ? life.mean : INFINITY, 12);
        print_hours(known ? life.low : INFINITY, 10);
        print_hours(known ? life.high : INFINITY, 10);
        putchar('\n');
    }
    print_cost("a snapshot costs", &site->snapshot);
    print_cost("is committed after", &site->commit);
    for (unsigned kind = 0; kind < HISTORY_FAULT_COUNT; kind++) {
        snprintf(what, sizeof what, "restore (%s)", history_fault_name((enum history_fault)kind));
        print_cost(what, &site->restore[kind]);
    }
}

static void print_shares(const struct history_share *shares, size_t count)
{
    if (count > 0)
        printf("  %-22s %10s %10s %10s\n", "left by others of host", "mean", "deviation",
               "in hours");
    for (size_t i = 0; i < count; i++) {
        double mean = shares[i].sum / shares[i].seconds;
        double variance = shares[i].squares / shares[i].seconds - mean * mean;

        printf("  %-22s %8.0f %% %8.0f %% %10.4g\n", shares[i].name, 100 * mean,
               100 * sqrt(fmax(variance, 0)), shares[i].all_seconds / 3600);
    }
}

static void write_shares(struct bspz_json *json, const struct history_share *shares, size_t count)
{
    bspz_json_array(json, "shares");
    for (size_t i = 0; i < count; i++) {
        double mean = shares[i].sum / shares[i].seconds;
        double variance = shares[i].squares / shares[i].seconds - mean * mean;

        bspz_json_object(json, NULL);
        bspz_json_text(json, "host", shares[i].name);
        bspz_json_format(json, "mean", "%.4f", mean);
        bspz_json_format(json, "deviation", "%.4f", sqrt(fmax(variance, 0)));
        bspz_json_real(json, "seconds", shares[i].all_seconds);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_cost(struct bspz_json *json, const char *name, const struct history_cost *cost)
{
    bspz_json_object(json, name);
    bspz_json_real(json, "seconds", cost->count > 0 ? cost->seconds : INFINITY);
    bspz_json_number(json, "count", cost->count);
    bspz_json_number(json, "bytes", cost->bytes);
    bspz_json_end(json);
}

static void write_site(const struct history_site *site, const struct history_share *shares,
                       size_t count)
{
    struct bspz_json json = {.file = stdout};

    bspz_json_object(&json, NULL);
    bspz_json_text(&json, "site", site->name);
    bspz_json_number(&json, "jobs", site->jobs);
    bspz_json_number(&json, "hosts", site->hosts);
    bspz_json_signed(&json, "first", site->first);
    bspz_json_signed(&json, "last", site->last);
    bspz_json_array(&json, "kinds");
    for (unsigned kind = 0; kind < HISTORY_FAULT_COUNT; kind++) {
        const struct history_rate *rate = &site->rates[kind];
        struct estimate_life life = life_of(rate);
        bool known = life.known && rate->events > 0;

        bspz_json_object(&json, NULL);
        bspz_json_text(&json, "kind", history_fault_name((enum history_fault)kind));
        bspz_json_format(&json, "seen", "%.9g", rate->all_events);
        bspz_json_real(&json, "watched", rate->all_seconds);
        bspz_json_real(&json, "mean_life", known ? life.mean : INFINITY);
        bspz_json_real(&json, "low", known ? life.low : INFINITY);
        bspz_json_real(&json, "high", known ? life.high : INFINITY);
        bspz_json_end(&json);
    }
    bspz_json_end(&json);
    write_cost(&json, "snapshot", &site->snapshot);
    write_cost(&json, "commit", &site->commit);
    for (unsigned kind = 0; kind < HISTORY_FAULT_COUNT; kind++) {
        char name[40];

        snprintf(name, sizeof name, "restore_%s", history_fault_name((enum history_fault)kind));
        write_cost(&json, name, &site->restore[kind]);
    }
    write_shares(&json, shares, count);
    bspz_json_end(&json);
}

int load_history_show(bool json)
{
    const char *names[HISTORY_SITES_MAX];
    char path[HISTORY_PATH_MAX], why[512];
    struct history history;
    struct history_site site;

    if (!history_path(variable, path, why, sizeof why)) {
        fprintf(stderr, "bspload: %s\n",
                why[0] ? why : "the history is switched off: BSPZERO_HISTORY=off");
        return 1;
    }
    if (history_load(path, &history, why, sizeof why) != 0) {
        fprintf(stderr, "bspload: %s\n", why);
        return 1;
    }
    size_t count = history_sites(&history, names, HISTORY_SITES_MAX);
    if (count == 0 && !json)
        printf("no job has recorded anything yet: %s\n", path);
    for (size_t i = 0; i < count; i++) {
        history_look(&history, names[i], &site);
        size_t hosts = 0;
        struct history_share *shares = history_shares(&history, names[i], &hosts);
        if (json) {
            write_site(&site, shares, hosts);
        } else {
            print_site(&site);
            print_shares(shares, hosts);
        }
        free(shares);
    }
    if (history.bad > 0)
        fprintf(stderr, "bspload: %s: %zu unreadable line%s ignored\n", path, history.bad,
                history.bad == 1 ? "" : "s");
    history_free(&history);
    return bspz_stdout_flushed("bspload") ? 0 : 1;
}
