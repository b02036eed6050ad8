/* remote_start.h - starts something on other hosts by ssh, srun or a command of the user's, and
 * watches those.
 *
 * Each host gets a child of ours (with Slurm all that are added together get one), which has no
 * terminal, so that nothing can ask for a password; its standard input begins with given bytes and
 * stays open as long as the child is wanted; its standard error is collected.  A limited number of
 * them is on its way at a time.
 *
 *   remote_start_add -> (child runs) -> remote_start_ready, said by the caller -> ended
 *                                    -> failed: not started, ended before, or too late
 *
 * For each host that was added there is one call of `failed`, or of `ended`, or none if it was
 * stopped before.  No function calls one of these; they come from the loop.  SIGPIPE must be
 * ignored.
 */
#ifndef BSPRUN_REMOTE_START_H
#define BSPRUN_REMOTE_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "bsprun/hosts/launch_command.h"
#include "bsprun/process.h"

#define REMOTE_START_TEXT                                                                          \
    8192u /* of what a child says on its standard error the last bytes stay                        \
           */

struct remote_start;

struct remote_start_config {
    enum launch_kind kind;
    const char *launcher;     /* as given by --launcher; copied */
    const char *const *words; /* what is executed there; copied */
    uint64_t timeout_ms;      /* from the child's start to remote_start_ready; 0: none */
    uint32_t at_once;         /* children that are not ready at a time; 0: 32 */
    bool keep_output;         /* standard output is collected, too (all of it, up to 1 MiB), else
                                 it is thrown away */
    const struct process_signals *signals; /* what children get; NULL: as they are; must stay */
    /* `text` says which host and why, with what the child said last; several lines. */
    void (*failed)(void *context, uint32_t host, const char *text);
    /* After remote_start_ready. wait_status as of waitpid; `text` is what it said on its standard
     * error, "" if nothing. */
    void (*ended)(void *context, uint32_t host, int wait_status, const char *text);
    /* With keep_output: the child has ended with status 0 (instead of failed and ended).  Of several
     * hosts that one child asks (Slurm) it is the output of all, and some of them have answered. */
    void (*output)(void *context, uint32_t host, const char *bytes, size_t size);
};

/* A host to start something on.  All is copied; the bytes are wiped when they have been written. */
struct remote_start_host {
    uint32_t number; /* the caller's, for callbacks */
    const struct host *host;
    const void *input; /* for its standard input; with Slurm that of the first serves all */
    size_t size;
};

/* 0 or -errno. */
int remote_start_open(uv_loop_t *loop, const struct remote_start_config *config, void *context,
                      struct remote_start **start);
/* In this order as far as there is room.  0 or -ENOMEM: then none was added. */
int remote_start_add(struct remote_start *start, const struct remote_start_host *hosts,
                     uint32_t count);
/* What was started there has come: it is not too late any more. */
void remote_start_ready(struct remote_start *start, uint32_t host);
/* It is not wanted any more: standard input ends, SIGTERM, SIGKILL a moment later (with Slurm: once
 * no host of that call is wanted).  It may be added again at once. */
void remote_start_stop(struct remote_start *start, uint32_t host);
/* Standard input of all children ends: what they have started shall leave by itself. */
void remote_start_end_input(struct remote_start *start);
/* Whether that process is a child made here. */
bool remote_start_owns(const struct remote_start *start, pid_t pid);
/* Stops all, waits for them, and calls `closed` (may be NULL) once nothing is left; memory is freed
 * before that. */
void remote_start_close(struct remote_start *start, void (*closed)(void *context));

#endif
