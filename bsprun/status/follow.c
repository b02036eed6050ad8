/* follow.c - the status of jobs again and again; see follow.h. */
#include "bsprun/status/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bsprun/status/jobs.h"
#include "lib/base/clock.h"
#include "lib/base/stdout.h"

static bool holds(const struct job_list *jobs, pid_t job)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->items[i] == job)
            return true;
    return false;
}

/* Adds the jobs that have begun.  False: no memory. */
static bool add_new(struct job_list *followed)
{
    struct job_list found;
    bool good = jobs_find(&found);

    for (size_t i = 0; good && i < found.count; i++)
        good = holds(followed, found.items[i]) || jobs_add(followed, found.items[i]);
    jobs_free(&found);
    return good;
}

/* Prints the status of each; those that have ended leave the list.  A job that does not answer now
 * is asked again the next time.  False: standard output cannot be written (reported). */
static bool show(struct job_list *followed)
{
    bool good = true;
    size_t left = 0;

    for (size_t i = 0; i < followed->count; i++) {
        pid_t job = followed->items[i];
        enum jobs_silence why;
        char *text = jobs_answer(job, "json", &why);

        if (text)
            good = good && bspz_stdout_text("bspstat", text);
        else if (why == JOBS_GONE)
            printf("{\"pid\": %d, \"ended\": true}\n", (int)job);
        if (text || why != JOBS_GONE)
            followed->items[left++] = job;
        free(text);
    }
    followed->count = left;
    return good;
}

static bool all_run(const pid_t *jobs, size_t count)
{
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        enum jobs_silence why;
        char *text = jobs_answer(jobs[i], "json", &why);

        good = good && text;
        if (!text)
            jobs_say_silent("bspstat", jobs[i], why);
        free(text);
    }
    return good;
}

bool follow_jobs(const pid_t *jobs, size_t count, double interval)
{
    struct job_list followed = {NULL, 0};
    uint64_t next = bspz_now_ns(), step = (uint64_t)(interval * 1e9);
    bool good = all_run(jobs, count);

    for (size_t i = 0; good && i < count; i++)
        good = holds(&followed, jobs[i]) || jobs_add(&followed, jobs[i]);
    while (good) {
        if (count == 0 && !add_new(&followed)) {
            fprintf(stderr, "bspstat: out of memory\n");
            good = false;
        }
        if (followed.count == 0)
            break;
        good = show(&followed) && good;
        good = bspz_stdout_flushed("bspstat") && good;
        next += step;
        if (next < bspz_now_ns()) /* a job took longer to answer */
            next = bspz_now_ns();
        struct timespec until = {.tv_sec = (time_t)(next / BSPZ_NS_PER_S),
                                 .tv_nsec = (long)(next % BSPZ_NS_PER_S)};
        if (good && followed.count > 0)
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    jobs_free(&followed);
    return good;
}
