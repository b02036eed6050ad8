/* bspkill.c - ends the user's running jobs: bsprun is asked, then told, and finally killed; agents
 * of bare runs get SIGTERM.
 */
#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <popt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/process.h"
#include "bsprun/status/jobs.h"
#include "lib/base/clock.h"
#include "lib/base/stdout.h"

#define STATUS_USAGE 2
#define ACCEPTED     "ok\n"
#define AGENT_NAME   "bspnode"
#define ASKED_MS     15000
#define TOLD_MS      10000
#define KILLED_MS    5000

static const char help[] =
    "Usage: bspkill [-f | --save] [--all | JOB...]\n"
    "Ends your jobs that run under bsprun on this host, with all their processes on all\n"
    "hosts.  JOB is the process id of bsprun, as bspstat shows it; by default all jobs\n"
    "are ended.\n"
    "  --all            also end the jobs of programs that run without bsprun\n"
    "  -f, --force      immediately, without asking the processes to exit\n"
    "  --save           after a snapshot, from which bsprun --restart continues the job\n"
    "  --help, --version\n"
    "The exit status is 0 if all have ended, even if there was none; 1 if a given job\n"
    "is not running, or a job cannot be ended or, with --save, saved; 2 for wrong usage.\n";

enum how { HOW_ASK, HOW_FORCE, HOW_SAVE };

/* ---- Jobs of bsprun ---- */

enum answer {
    ANSWER_GONE,
    ANSWER_HIDDEN,
    ANSWER_ENDED,
    ANSWER_UNSAVED,
    ANSWER_REFUSED,
    ANSWER_STAYS
};

/* Sends the request, and waits for the end of the job.  Of a job that could not be saved, a line
 * says so just before that. */
static enum answer ask(pid_t job, const char *request, int milliseconds)
{
    uint64_t until = bspz_now_ns() + (uint64_t)milliseconds * BSPZ_NS_PER_MS;
    enum answer answer = ANSWER_STAYS;
    enum jobs_silence why;
    bool ended;

    int fd = jobs_ask(job, request, milliseconds, &why);
    if (fd < 0)
        return why == JOBS_GONE ? ANSWER_GONE : why == JOBS_HIDDEN ? ANSWER_HIDDEN : ANSWER_STAYS;
    char *text = jobs_read(fd, milliseconds < 0 ? -1 : bspz_ms_until(until), &ended);
    bool accepted = text && strncmp(text, ACCEPTED, sizeof ACCEPTED - 1) == 0;
    const char *line = text && accepted ? text + sizeof ACCEPTED - 1 : text;
    if (line && *line) {
        fprintf(stderr, "bspkill: job %d: %s", (int)job, line);
        answer = accepted ? ANSWER_UNSAVED : ANSWER_REFUSED;
    } else if (ended) {
        answer = ANSWER_ENDED;
    }
    free(text);
    close(fd);
    return answer;
}

/* A zombie counts as ended, too. */
static bool wait_until_gone(pid_t pid, int milliseconds)
{
    int pidfd = process_pidfd(pid);
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};

    if (pidfd < 0)
        return true;
    bool gone = poll(&ended, 1, milliseconds) > 0;
    close(pidfd);
    return gone;
}

/* False: it still runs, was not saved as wanted, or there is no such job; reported. */
static bool end_job(pid_t job, enum how how, bool named)
{
    enum answer answer = how == HOW_SAVE  ? ask(job, "save", -1)
                         : how == HOW_ASK ? ask(job, "stop", ASKED_MS)
                                          : ask(job, "kill", TOLD_MS);

    if (answer == ANSWER_GONE && named)
        fprintf(stderr, "bspkill: job %d is not running on this host, or is not yours\n", (int)job);
    if (answer == ANSWER_HIDDEN) /* it may be as well as any, and is not killed */
        fprintf(stderr,
                "bspkill: job %d cannot be asked, as it has no socket where jobs are looked for; "
                "'kill %d' asks it to end\n",
                (int)job, (int)job);
    if (answer == ANSWER_REFUSED || answer == ANSWER_GONE || answer == ANSWER_HIDDEN)
        return answer == ANSWER_GONE && !named;
    if (answer == ANSWER_STAYS && how == HOW_ASK)
        answer = ask(job, "kill", TOLD_MS);
    if (answer == ANSWER_STAYS || answer == ANSWER_HIDDEN) { /* its agents exit when it has ended */
        kill(job, SIGKILL);
        answer = wait_until_gone(job, KILLED_MS) ? ANSWER_ENDED : ANSWER_STAYS;
    }
    bool saved = answer != ANSWER_UNSAVED;
    if (!saved && !wait_until_gone(job, ASKED_MS))
        answer = ANSWER_STAYS;
    if (answer == ANSWER_STAYS)
        fprintf(stderr, "bspkill: job %d does not end\n", (int)job);
    else
        printf("job %d has ended\n", (int)job);
    return saved && answer != ANSWER_STAYS;
}

static bool end_all(enum how how, size_t *count)
{
    struct job_list jobs;
    bool good = jobs_find(&jobs);

    if (!good)
        fprintf(stderr, "bspkill: out of memory\n");
    for (size_t i = 0; i < jobs.count; i++)
        good = end_job(jobs.items[i], how, false) && good;
    *count += jobs.count;
    jobs_free(&jobs);
    return good;
}

/* ---- Programs without bsprun ---- */

/* Whether it is a process of the user and the agent of a bare run. */
static bool is_bare_agent(const char *pid)
{
    char path[64], words[64] = "";
    struct stat status;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%.16s", pid);
    if (stat(path, &status) != 0 || status.st_uid != geteuid())
        return false;
    snprintf(path, sizeof path, "/proc/%.16s/cmdline", pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    size_t size = fread(words, 1, sizeof words - 1, file);
    fclose(file);
    return size > sizeof AGENT_NAME && strcmp(words, AGENT_NAME) == 0 &&
           strcmp(words + sizeof AGENT_NAME, "--bare") == 0;
}

static bool end_bare(enum how how, size_t *count)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    bool good = true;

    while (processes && (entry = readdir(processes))) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !is_bare_agent(entry->d_name))
            continue;
        pid_t agent = (pid_t)atoi(entry->d_name);
        ++*count;
        kill(agent, SIGTERM);
        if (how == HOW_FORCE)
            kill(agent, SIGTERM); /* as a second Ctrl-C */
        bool gone = wait_until_gone(agent, ASKED_MS);
        if (!gone) {
            kill(agent, SIGKILL); /* its processes exit when they notice */
            gone = wait_until_gone(agent, KILLED_MS);
        }
        if (gone)
            printf("a job without bsprun has ended (" AGENT_NAME " %d)\n", (int)agent);
        else
            fprintf(stderr, "bspkill: " AGENT_NAME " %d does not end\n", (int)agent);
        good = good && gone;
    }
    if (processes)
        closedir(processes);
    return good;
}

/* ---- The command ---- */

static int usage(const char *word, const char *what)
{
    fprintf(stderr, "bspkill: %s: %s; see bspkill --help\n", word, what);
    return STATUS_USAGE;
}

enum { OPT_FORCE = 1, OPT_SAVE, OPT_ALL };

#define OLD POPT_ARGFLAG_ONEDASH /* -name as well as --name */

static const struct poptOption table[] = {
    {"force", 'f', POPT_ARG_NONE, NULL, OPT_FORCE, NULL, NULL},
    {"save", '\0', POPT_ARG_NONE | OLD, NULL, OPT_SAVE, NULL, NULL},
    {"all", '\0', POPT_ARG_NONE | OLD, NULL, OPT_ALL, NULL, NULL},
    POPT_TABLEEND,
};

struct request {
    enum how how;
    bool bare;
    const char **jobs; /* NULL: all; as long as popt's context */
};

/* 0, or the exit status after wrong words. */
static int take_words(struct request *request, poptContext context)
{
    int option;

    while ((option = poptGetNextOpt(context)) > 0) {
        if (option == OPT_ALL)
            request->bare = true;
        else
            request->how = option == OPT_FORCE ? HOW_FORCE : HOW_SAVE;
    }
    if (option < -1)
        return usage(poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(option));
    request->jobs = poptGetArgs(context);
    for (const char **job = request->jobs; job && *job; job++)
        if (!jobs_is_name(*job))
            return usage(*job, "give the process id of bsprun");
    return 0;
}

static bool carry_out(const struct request *request)
{
    size_t count = 0;
    bool good = true;

    for (const char **job = request->jobs; job && *job; job++)
        good = end_job((pid_t)atoi(*job), request->how, true) && good;
    if (request->jobs)
        return good;
    good = end_all(request->how, &count);
    if (request->bare)
        good = end_bare(request->how, &count) && good;
    if (good && count == 0)
        puts("no job of yours runs under bsprun on this host");
    return good;
}

int main(int argc, const char **argv)
{
    struct request request = {.how = HOW_ASK};
    int status;

    for (int i = 1; i < argc; i++)
        if (jobs_tells_about(argv[i], "bspkill", help, &status))
            return status;
    poptContext context = poptGetContext("bspkill", argc, argv, table, 0);
    status = take_words(&request, context);
    if (status == 0)
        status = carry_out(&request) ? 0 : 1;
    poptFreeContext(context);
    return bspz_stdout_flushed("bspkill") ? status : 1;
}
