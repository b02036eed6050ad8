/* bspstat.c - shows the status of the user's running jobs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/status/follow.h"
#include "bsprun/status/jobs.h"
#include "bsprun/status/metrics_merge.h"
#include "lib/base/stdout.h"

#define STATUS_USAGE 2

static const char help[] =
    "Usage: bspstat [--json [--follow] | --prometheus] [JOB...]\n"
    "Shows how your jobs on this host are that run under bsprun: processes, superstep,\n"
    "snapshots, and where each process is.  JOB is the process id of bsprun, which is\n"
    "what a job is called in the output; without one, all are shown.\n"
    "  --json           a line of JSON for each job\n"
    "  --follow         again and again until they have ended; a line says that, too\n"
    "  --interval S     every S seconds, with --follow (default 1)\n"
    "  --prometheus     metrics in OpenMetrics text, as Prometheus reads them\n"
    "  --help, --version\n"
    "The exit status is 0, also when there is no job; 1 when one that was named does\n"
    "not run, or does not answer.\n";

/* What is shown: the request that bsprun is sent. */
struct request {
    const char *word; /* status, json, metrics */
    bool follow;
    double interval; /* seconds; 0: not given */
    struct job_list jobs;
    bool named; /* the jobs were given; else they are all that there are */
};

static int usage(const char *word, const char *what)
{
    fprintf(stderr, "bspstat: %s: %s; bspstat --help says more\n", word, what);
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
        bool gone;

        texts[i] = jobs_answer(request->jobs.items[i], request->word, &gone);
        if (texts[i] || (gone && !request->named))
            continue; /* it is there, or has just ended */
        jobs_say_silent("bspstat", request->jobs.items[i], gone);
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
        fputs(merged, stdout);
    for (size_t i = 0; texts && i < answers; i++) {
        if (!merged)
            fputs(texts[i], stdout);
        free(texts[i]);
    }
    if (count == 0 && is(request, "status"))
        puts("no job of yours runs under bsprun on this host");
    free(merged);
    free(texts);
    return good;
}

static bool carry_out(struct request *request)
{
    bool good = true;

    if (request->follow)
        return follow_jobs(request->jobs.items, request->jobs.count,
                           request->interval > 0 ? request->interval : 1);
    if (!request->named) {
        jobs_free(&request->jobs);
        good = jobs_find(&request->jobs);
    }
    if (!good) {
        fprintf(stderr, "bspstat: out of memory\n");
        return false;
    }
    return show(request);
}

/* ---- The command line ---- */

static int take_interval(struct request *request, const char *text)
{
    char *end;
    double seconds = strtod(text ? text : "", &end);

    if (!text || end == text || *end || !isfinite(seconds) || seconds < FOLLOW_LEAST ||
        seconds > FOLLOW_MOST)
        return usage(text ? text : "--interval", "give seconds, from 0.1 to 86400");
    request->interval = seconds;
    return 0;
}

static int take_job(struct request *request, const char *word)
{
    if (!jobs_is_name(word))
        return usage(word, "give the process id of bsprun");
    request->jobs.items[request->jobs.count++] = (pid_t)atoi(word);
    request->named = true;
    return 0;
}

/* Whether the word is that option, with one or two dashes. */
static bool names(const char *word, const char *option)
{
    return word[0] == '-' && strcmp(word + 1 + (word[1] == '-'), option) == 0;
}

static int take_words(struct request *request, int argc, char **argv)
{
    static const char interval[] = "interval=";
    int status = 0;

    for (int i = 1; i < argc && status == 0; i++) {
        const char *word = argv[i], *bare = word + strspn(word, "-");

        if (names(word, "json") || names(word, "prometheus")) {
            const char *form = names(word, "json") ? "json" : "metrics";

            if (!is(request, "status") && !is(request, form))
                return usage(word, "give --json or --prometheus");
            request->word = form;
        } else if (names(word, "follow")) {
            request->follow = true;
        } else if (names(word, "interval")) {
            status = take_interval(request, i + 1 < argc ? argv[++i] : NULL);
        } else if (bare > word && strncmp(bare, interval, strlen(interval)) == 0) {
            status = take_interval(request, bare + strlen(interval));
        } else if (word[0] == '-') {
            return usage(word, "unknown option");
        } else {
            status = take_job(request, word);
        }
    }
    if (status == 0 && request->follow && !is(request, "json"))
        return usage("--follow", "it goes with --json");
    if (status == 0 && request->interval > 0 && !request->follow)
        return usage("--interval", "it goes with --follow");
    return status;
}

int main(int argc, char **argv)
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
    status = take_words(&request, argc, argv);
    if (status == 0)
        status = carry_out(&request) ? 0 : 1;
    jobs_free(&request.jobs);
    return bspz_stdout_flushed("bspstat") ? status : 1;
}
