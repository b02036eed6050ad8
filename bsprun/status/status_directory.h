/* status_directory.h - the directory of status sockets: only the user may enter it, and it has a
 * socket for each running job.
 *
 * It is $XDG_RUNTIME_DIR/bspzero or, if that cannot be used, the first of /tmp/bspzero-UID,
 * /tmp/bspzero-UID-2 to -8 that can; jobs are looked for in all of them.  BSPZERO_STATUS_DIR
 * replaces them.  A socket that is removed with its directory has to be made again, as
 * status_socket.c does; jobs are found wherever they are.  A directory that does not belong to the
 * user, or is accessible to others, is not used.
 */
#ifndef BSPRUN_STATUS_DIRECTORY_H
#define BSPRUN_STATUS_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#define STATUS_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path))

/* The line that a client gets in place of an answer when bsprun has as many as it serves. */
#define STATUS_BUSY     "too many commands ask it at once; try again"

/* Makes a listening socket (close-on-exec, non-blocking) for this process's job, and returns its
 * path; or -errno.  Removes sockets of killed jobs. */
int status_directory_listen(char path[STATUS_PATH_MAX]);
/* Whether the socket has been removed, as that in $XDG_RUNTIME_DIR is when the user logs out.  Not
 * for BSPZERO_STATUS_DIR, which may be on a file system that does not answer. */
bool status_directory_is_gone(const char *path);
/* Removes the socket, and the directory if it was the last. */
void status_directory_leave(const char *path);

/* The sockets of this user's jobs: calls job(context, fd, os_pid) with a connection to each, which
 * the callee closes; os_pid is that of bsprun.  fd -1: it accepts no more connections now, as it is
 * stopped, hangs, or many come at once.  Removes those of killed jobs.  Returns the number of
 * jobs. */
int status_directory_jobs(void (*job)(void *context, int fd, pid_t os_pid), void *context);

/* Whether that is a bsprun of this user's, be there a socket of it or not. */
bool status_directory_runs(pid_t job);

#endif
