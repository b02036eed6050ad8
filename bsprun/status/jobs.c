/* jobs.c - the running jobs of the user; see jobs.h. */
#include "bsprun/status/jobs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/status/status_directory.h"
#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/stdout.h"

#define ANSWER_MS 10000
#define HIDDEN_MS 15000    /* longer than it takes until a socket that was removed is made again */
#define PAUSE_NS  50000000 /* between attempts to connect */

/* ---- Finding --------------------------------------------------------------------------------- */

bool jobs_is_name(const char *word)
{
    size_t length = strlen(word);

    return length > 0 && length < 9 && strspn(word, "0123456789") == length && word[0] != '0';
}

bool jobs_tells_about(const char *word, const char *command, const char *help, int *status)
{
    bool wants_help =
        strcmp(word, "--help") == 0 || strcmp(word, "-help") == 0 || strcmp(word, "-h") == 0;

    if (wants_help)
        fputs(help, stdout);
    else if (strcmp(word, "--version") == 0 || strcmp(word, "-version") == 0)
        printf("%s (bspzero) %s\n", command, BSPZ_VERSION);
    else
        return false;
    *status = bspz_stdout_flushed(command) ? 0 : 1;
    return true;
}

bool jobs_add(struct job_list *jobs, pid_t job)
{
    if (!BSPZ_GROW(jobs->items, jobs->count))
        return false;
    jobs->items[jobs->count++] = job;
    return true;
}

struct search {
    struct job_list *jobs;
    bool short_of_memory;
};

static void note(void *context, int fd, pid_t os_pid)
{
    struct search *search = context;

    if (fd >= 0)
        close(fd);
    if (!jobs_add(search->jobs, os_pid))
        search->short_of_memory = true;
}

static int ascending(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

bool jobs_find(struct job_list *jobs)
{
    struct search search = {jobs, false};

    *jobs = (struct job_list){NULL, 0};
    status_directory_jobs(note, &search);
    if (jobs->count > 0)
        qsort(jobs->items, jobs->count, sizeof *jobs->items, ascending);
    return !search.short_of_memory;
}

void jobs_free(struct job_list *jobs)
{
    free(jobs->items);
    *jobs = (struct job_list){NULL, 0};
}

/* ---- Asking ---------------------------------------------------------------------------------- */

struct question {
    pid_t job;
    int fd;
    bool found;  /* its socket */
    bool hidden; /* it runs without */
};

static void keep_if_meant(void *context, int fd, pid_t os_pid)
{
    struct question *question = context;

    question->found = question->found || os_pid == question->job;
    if (os_pid == question->job && question->fd < 0)
        question->fd = fd;
    else if (fd >= 0)
        close(fd);
}

/* Tries again for so long while bsprun accepts no connection: many may come at once, or its socket
 * was removed. */
static void connect_within(struct question *question, int milliseconds)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t begin = bspz_now_ns();

    for (;;) {
        question->found = false;
        status_directory_jobs(keep_if_meant, question);
        question->hidden = !question->found && status_directory_runs(question->job);
        int limit = question->hidden && (milliseconds < 0 || milliseconds > HIDDEN_MS)
                        ? HIDDEN_MS
                        : milliseconds;
        if (question->fd >= 0 || (!question->found && !question->hidden) ||
            (limit >= 0 && bspz_now_ns() >= begin + (uint64_t)limit * BSPZ_NS_PER_MS))
            return;
        nanosleep(&pause, NULL);
    }
}

int jobs_ask(pid_t job, const char *request, int milliseconds, enum jobs_silence *why)
{
    struct question question = {job, -1, false, false};
    char *line;
    int length = asprintf(&line, "%s\n", request);

    *why = JOBS_GONE;
    if (length < 0)
        return -1;
    connect_within(&question, milliseconds);
    if (question.found || question.hidden)
        *why = question.found ? JOBS_SILENT : JOBS_HIDDEN;
    /* What bsprun sent before it closed the connection can be read even when this fails. */
    if (question.fd >= 0)
        (void)!send(question.fd, line, (size_t)length, MSG_NOSIGNAL);
    free(line);
    return question.fd;
}

char *jobs_read(int fd, int milliseconds, bool *ended)
{
    char *text = NULL, bytes[4096];
    size_t size;
    FILE *file = open_memstream(&text, &size);

    *ended = false;
    if (!file)
        return NULL;
    uint64_t until =
        bspz_now_ns() + (uint64_t)(milliseconds < 0 ? 0 : milliseconds) * BSPZ_NS_PER_MS;
    for (;;) {
        struct pollfd readable = {.fd = fd, .events = POLLIN};
        int ready = poll(&readable, 1, milliseconds < 0 ? -1 : bspz_ms_until(until));
        ssize_t got = ready > 0 ? read(fd, bytes, sizeof bytes) : -1;

        if (ready < 0 && errno == EINTR)
            continue;
        if (got > 0) {
            fwrite(bytes, 1, (size_t)got, file);
            continue;
        }
        *ended = ready > 0;
        break;
    }
    return fclose(file) == 0 ? text : NULL;
}

char *jobs_answer(pid_t job, const char *request, enum jobs_silence *why)
{
    uint64_t until = bspz_now_ns() + ANSWER_MS * BSPZ_NS_PER_MS;
    int fd = jobs_ask(job, request, ANSWER_MS, why);
    bool ended = false;
    char *text = fd < 0 ? NULL : jobs_read(fd, bspz_ms_until(until), &ended);
    bool is_busy = text && strcmp(text, STATUS_BUSY "\n") == 0;

    if (fd >= 0)
        close(fd);
    if (text && *text && !is_busy)
        return text;
    free(text);
    if (fd >= 0)
        *why = is_busy ? JOBS_BUSY : ended ? JOBS_GONE : JOBS_SILENT;
    return NULL;
}

void jobs_say_silent(const char *command, pid_t job, enum jobs_silence why)
{
    static const char *const what[] = {
        [JOBS_GONE] = " is not running on this host, or is not yours",
        [JOBS_SILENT] = " does not answer",
        [JOBS_HIDDEN] = " does not answer",
        [JOBS_BUSY] = (": " STATUS_BUSY),
    };

    fprintf(stderr, "%s: job %d%s\n", command, (int)job, what[why]);
}
