/* bspstat.c - shows the status of the user's running jobs. */
#include <math.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/status/follow.h"
#include "bsprun/status/jobs.h"
#include "bsprun/status/metrics_merge.h"
#include "bsprun/status/watch.h"
#include "lib/base/stdout.h"

#define STATUS_USAGE 2

static const char help[] =
    "Usage: bspstat [--json [--follow] | --prometheus | --watch] [JOB...]\n"
    "Shows the status of your jobs that run under bsprun on this host: processes,\n"
    "superstep, snapshots, and the position of each process.  JOB is the process id of\n"
    "bsprun, by which the output names the job; by default all jobs are shown.\n"
    "  --json           print a line of JSON for each job\n"
    "  --follow         repeat until the jobs have ended, with a line for each end\n"
    "  --watch          show one job on the whole terminal, with keys to sort, take a\n"
    "                   snapshot, drain a host, end the job; q quits\n"
    "  --interval S     with --follow or --watch: update every S seconds (default 1)\n"
    "  --prometheus     print metrics in OpenMetrics text format\n"
    "  --help, --version\n"
    "The exit status is 0, even if there is no job; 1 if a given job is not running\n"
    "or does not answer; 2 for wrong usage.\n";

/* What is shown: the request that bsprun is sent. */
struct request {
    const char *word; /* status, json, metrics */
    bool follow, watch;
    double interval; /* seconds; 0: not given */
    struct job_list jobs;
    bool named; /* the jobs were given; else they are all that there are */
};

static int usage(const char *word, const char *what)
{
    fprintf(stderr, "bspstat: %s: %s; see bspstat --help\n", word, what);
    return STATUS_USAGE;
}

/* ---- Showing ---- */

static bool is(const struct request *request, const char *word)
{
    return strcmp(request->word, word) == 0;
}

/* The answers of all jobs go to texts[count]; false: a job that was named did not answer. */
static bool ask(const struct request *request, char **texts)
{
    bool good = true;

    for (size_t i = 0; i < request->jobs.count; i++) {
        enum jobs_silence why;

        texts[i] = jobs_answer(request->jobs.items[i], request->word, &why);
        if (texts[i] || (why == JOBS_GONE && !request->named))
            continue; /* it is there, or has just ended */
        jobs_say_silent("bspstat", request->jobs.items[i], why);
        good = false;
    }
    return good;
}

static bool show(const struct request *request)
{
    size_t count = request->jobs.count, answers = 0;
    char **texts = calloc(count + 1, sizeof *texts), *merged = NULL;
    bool good = texts && ask(request, texts);

    for (size_t i = 0; texts && i < count; i++)
        if (texts[i])
            texts[answers++] = texts[i];
    if (texts && is(request, "metrics"))
        merged = metrics_merge(texts, answers);
    if (!texts || (is(request, "metrics") && !merged)) {
        fprintf(stderr, "bspstat: out of memory\n");
        good = false;
    }
    if (merged)
        good = bspz_stdout_text("bspstat", merged) && good;
    bool writes = !merged;
    for (size_t i = 0; texts && i < answers; i++) {
        if (writes)
            good = (writes = bspz_stdout_text("bspstat", texts[i])) && good;
        free(texts[i]);
    }
    if (count == 0 && is(request, "status"))
        puts("no job of yours runs under bsprun on this host");
    free(merged);
    free(texts);
    return good;
}

/* Returns the exit status. */
static int carry_out(struct request *request)
{
    double interval = request->interval > 0 ? request->interval : 1;
    bool good = true;

    if (request->watch)
        return watch_job(request->named ? request->jobs.items[0] : 0, interval);
    if (request->follow)
        return follow_jobs(request->jobs.items, request->jobs.count, interval) ? 0 : 1;
    if (!request->named) {
        jobs_free(&request->jobs);
        good = jobs_find(&request->jobs);
    }
    if (!good) {
        fprintf(stderr, "bspstat: out of memory\n");
        return 1;
    }
    return show(request) ? 0 : 1;
}

/* ---- The command line ---- */

enum { OPT_JSON = 1, OPT_FOLLOW, OPT_INTERVAL, OPT_PROMETHEUS, OPT_WATCH };

#define OLD POPT_ARGFLAG_ONEDASH /* -name as well as --name */

static const struct poptOption table[] = {
    {"json", '\0', POPT_ARG_NONE | OLD, NULL, OPT_JSON, NULL, NULL},
    {"follow", '\0', POPT_ARG_NONE | OLD, NULL, OPT_FOLLOW, NULL, NULL},
    {"interval", '\0', POPT_ARG_STRING | OLD, NULL, OPT_INTERVAL, NULL, NULL},
    {"prometheus", '\0', POPT_ARG_NONE | OLD, NULL, OPT_PROMETHEUS, NULL, NULL},
    {"watch", '\0', POPT_ARG_NONE | OLD, NULL, OPT_WATCH, NULL, NULL},
    POPT_TABLEEND,
};

static int take_interval(struct request *request, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !isfinite(seconds) || seconds < FOLLOW_LEAST ||
        seconds > FOLLOW_MOST)
        return usage(text, "give seconds, from 0.1 to 86400");
    request->interval = seconds;
    return 0;
}

static int take_form(struct request *request, const char *form)
{
    if (!is(request, "status") && !is(request, form))
        return usage("--json and --prometheus", "give one of them");
    request->word = form;
    return 0;
}

static int take_option(struct request *request, int option, const char *value)
{
    if (option == OPT_JSON || option == OPT_PROMETHEUS)
        return take_form(request, option == OPT_JSON ? "json" : "metrics");
    if (option == OPT_INTERVAL)
        return take_interval(request, value);
    if (option == OPT_FOLLOW)
        request->follow = true;
    else
        request->watch = true;
    return 0;
}

static int take_jobs(struct request *request, const char **words)
{
    for (; words && *words; words++) {
        if (!jobs_is_name(*words))
            return usage(*words, "give the process id of bsprun");
        request->jobs.items[request->jobs.count++] = (pid_t)atoi(*words);
        request->named = true;
    }
    return 0;
}

static int take_words(struct request *request, poptContext context)
{
    int status = 0, option = 0;

    while (status == 0 && (option = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context);

        status = take_option(request, option, value);
        free(value);
    }
    if (status == 0 && option < -1)
        status = usage(poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(option));
    if (status == 0)
        status = take_jobs(request, poptGetArgs(context));
    if (status == 0 && request->follow && !is(request, "json"))
        status = usage("--follow", "it requires --json");
    if (status == 0 && request->watch && !is(request, "status"))
        status = usage("--watch", "it cannot be combined with --json or --prometheus");
    if (status == 0 && request->watch && request->jobs.count > 1)
        status = usage("--watch", "give one job, or none");
    if (status == 0 && request->interval > 0 && !request->follow && !request->watch)
        status = usage("--interval", "it requires --follow or --watch");
    return status;
}

int main(int argc, const char **argv)
{
    struct request request = {.word = "status"};
    int status;

    for (int i = 1; i < argc; i++)
        if (jobs_tells_about(argv[i], "bspstat", help, &status))
            return status;
    request.jobs.items = calloc((size_t)argc, sizeof *request.jobs.items);
    if (!request.jobs.items) {
        fprintf(stderr, "bspstat: out of memory\n");
        return 1;
    }
    poptContext context = poptGetContext("bspstat", argc, argv, table, 0);
    status = take_words(&request, context);
    poptFreeContext(context);
    if (status == 0)
        status = carry_out(&request);
    jobs_free(&request.jobs);
    return bspz_stdout_flushed("bspstat") ? status : 1;
}
