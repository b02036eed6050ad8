/* bspstat.c - shows the status of the user's running jobs. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/status/jobs.h"

#define STATUS_USAGE 2
#define ANSWER_MS    10000

static const char help[] =
    "Usage: bspstat [--json] [JOB...]\n"
    "Shows how your jobs on this host are that run under bsprun: processes, superstep,\n"
    "snapshots, and where each process is.  JOB is the process id of bsprun, which is\n"
    "what a job is called in the output; without one, all are shown.\n"
    "  --json           a line of JSON for each job\n"
    "  --help, --version\n"
    "The exit status is 0, also when there is no job; 1 when one that was named does\n"
    "not run, or does not answer.\n";

/* False: failed, reported. */
static bool show(pid_t job, bool json, bool named)
{
    int fd = jobs_ask(job, json ? "json" : "status");
    bool ended = false;
    char *text = fd < 0 ? NULL : jobs_read(fd, ANSWER_MS, &ended);

    if (fd >= 0)
        close(fd);
    if (!text || !*text) {
        bool gone = fd < 0 || ended;

        free(text);
        if (gone && !named)
            return true; /* it has just ended */
        fprintf(stderr, "bspstat: job %d %s\n", (int)job,
                gone ? "does not run (any more) on this host, or is not yours" : "does not answer");
        return false;
    }
    fputs(text, stdout);
    free(text);
    return true;
}

static bool show_all(bool json)
{
    struct job_list jobs;
    bool good = jobs_find(&jobs);

    if (!good)
        fprintf(stderr, "bspstat: out of memory\n");
    else if (jobs.count == 0 && !json)
        puts("no job of yours runs under bsprun on this host");
    for (size_t i = 0; good && i < jobs.count; i++)
        good = show(jobs.items[i], json, false);
    jobs_free(&jobs);
    return good;
}

static int usage(const char *word, const char *what)
{
    fprintf(stderr, "bspstat: %s: %s; bspstat --help says more\n", word, what);
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    bool json = false, good = true, any = false;
    int status;

    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];

        if (jobs_tells_about(word, "bspstat", help, &status))
            return status;
        if (strcmp(word, "--json") == 0 || strcmp(word, "-json") == 0)
            json = true;
        else if (word[0] == '-')
            return usage(word, "unknown option");
        else if (!jobs_is_name(word))
            return usage(word, "give the process id of bsprun");
    }
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-') {
            any = true;
            good = show((pid_t)atoi(argv[i]), json, true) && good;
        }
    if (!any)
        good = show_all(json);
    return fflush(stdout) == 0 && good ? 0 : 1;
}
