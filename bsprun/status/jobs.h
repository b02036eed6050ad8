/* jobs.h - the running jobs of the user, for bspstat and bspkill. */
#ifndef BSPRUN_JOBS_H
#define BSPRUN_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct job_list {
    pid_t *items; /* of bsprun, ascending; owned */
    size_t count;
};

/* Whether a word of the command line can name a job: the process id of its bsprun. */
bool jobs_is_name(const char *word);

/* Whether it asks for the help or the version of a command: both are printed, *status its exit
 * status. */
bool jobs_tells_about(const char *word, const char *command, const char *help, int *status);

/* Those that run under bsprun on this host.  False: no memory. */
bool jobs_find(struct job_list *jobs);
void jobs_free(struct job_list *jobs);

/* Asks bsprun one thing (see status_socket.h).  A connection from which the answer can be read, or
 * -1: there is no such job (any more). */
int jobs_ask(pid_t job, const char *request);

/* Reads what comes until the end, or for at most so many milliseconds (negative: as long as it
 * takes).  `ended`: the end has come. To be freed, NULL: no memory. */
char *jobs_read(int fd, int milliseconds, bool *ended);

#endif
