/* jobs.h - the running jobs of the user, for bspstat, bspctl and bspkill. */
#ifndef BSPRUN_JOBS_H
#define BSPRUN_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct job_list {
    pid_t *items; /* of bsprun, ascending; owned */
    size_t count;
};

/* Whether a word of the command line can be a job: the process id of its bsprun. */
bool jobs_is_name(const char *word);

/* Handles --help and --version: prints them; true: exit with *status. */
bool jobs_tells_about(const char *word, const char *command, const char *help, int *status);

/* Lists the jobs under a bsprun on this host.  False: no memory. */
bool jobs_find(struct job_list *jobs);
/* False: no memory. */
bool jobs_add(struct job_list *jobs, pid_t job);
void jobs_free(struct job_list *jobs);

/* Why a job has given no answer. */
enum jobs_silence {
    JOBS_GONE,   /* it has ended, or is not the user's */
    JOBS_SILENT, /* it does not answer in time */
    JOBS_HIDDEN, /* it runs, but has no socket; after a logout it soon has another */
    JOBS_BUSY    /* bsprun has as many clients as it serves */
};

/* Sends a request to bsprun (see status_socket.h).  Returns a connection for the answer, which a
 * bsprun with too many clients may have closed already; or -1 and *why: GONE, or SILENT, if it
 * accepts no connection within so many milliseconds (negative: no limit), or HIDDEN, if it has no
 * socket in that time (15 s at most). */
int jobs_ask(pid_t job, const char *request, int milliseconds, enum jobs_silence *why);

/* Reads until the end, or for at most so many milliseconds (negative: no limit).  `ended`: the end
 * was reached.  To be freed, NULL: no memory. */
char *jobs_read(int fd, int milliseconds, bool *ended);

/* Asks and reads the answer, waiting 10 s at most.  NULL: there is none, and *why says why.  To be
 * freed. */
char *jobs_answer(pid_t job, const char *request, enum jobs_silence *why);
/* One line on stderr about a job that has given no answer. */
void jobs_say_silent(const char *command, pid_t job, enum jobs_silence why);

#endif
