/* status_folder.h - where the sockets are by which running jobs are asked: a directory that only
 * the user may enter, with a socket for each job.
 *
 * It is $XDG_RUNTIME_DIR/bspzero, or where that does not serve /tmp/bspzero-UID; questions are
 * asked in either.  BSPZERO_STATUS_DIR names another one, which is then the only one.  It must
 * belong to the user and nobody else may have any right on it, or it is not touched.
 */
#ifndef BSPRUN_STATUS_FOLDER_H
#define BSPRUN_STATUS_FOLDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#define STATUS_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path))

/* A listening socket (close-on-exec, non-blocking) for this process's job, and its path; or -errno.
 * Removes what killed jobs have left there. */
int status_folder_listen(char path[STATUS_PATH_MAX]);
/* Removes the socket, and the directory if it was the last. */
void status_folder_leave(const char *path);

/* The sockets of this user's jobs: calls job(context, fd, os_pid) with a connection to each, which
 * the callee closes; os_pid is that of bsprun.  Those of killed jobs are removed.  Returns the
 * number of jobs. */
int status_folder_jobs(void (*job)(void *context, int fd, pid_t os_pid), void *context);

#endif
