/* remote_start.h - starts programs on other hosts by ssh, srun or a command of the user's, and
 * watches these.
 *
 * Each host gets a child (with Slurm all hosts that are added together share one) without a
 * terminal, so that it cannot ask for a password; its standard input begins with the bytes passed
 * and stays open as long as the child is wanted; its standard error is collected.  A limited number
 * of children starts at a time.
 *
 *   remote_start_add -> (child runs) -> remote_start_ready, said by the caller -> ended
 *                                    -> failed: not started, ended before, or too late
 *
 * For each host that was added there is one call of `failed` or `ended`, or none if it was stopped
 * before.  These are called from the loop, never from within a function.  SIGPIPE must be ignored.
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

#define REMOTE_START_TEXT 8192u /* the last bytes of a child's standard error are kept */

struct remote_start;

struct remote_start_config {
    enum launch_kind kind;
    const char *launcher;     /* the value of --launcher; copied */
    const char *const *words; /* the remote command; copied */
    uint64_t timeout_ms;      /* from the child's start to remote_start_ready; 0: none */
    uint32_t at_once;         /* children that may be unready at a time; 0: 32 */
    bool keep_output;         /* standard output is collected, too (up to 1 MiB), else discarded */
    const struct process_signals
        *signals; /* dispositions of children; NULL: inherited; not copied */
    /* `text` says which host and why, with the child's last output; several lines. */
    void (*failed)(void *context, uint32_t host, const char *text);
    /* After remote_start_ready.  wait_status as of waitpid; `text` is its output on standard
     * error. */
    void (*ended)(void *context, uint32_t host, int wait_status, const char *text);
    /* With keep_output: the child has ended with status 0 (replaces `failed` and `ended`).  If one
     * child asks several hosts (Slurm), it is the output of all, and some of them have answered. */
    void (*output)(void *context, uint32_t host, const char *bytes, size_t size);
};

/* A host on which to start a program.  All members are copied; the input is wiped when it has been
 * written. */
struct remote_start_host {
    uint32_t number; /* for callbacks */
    const struct host *host;
    const void *input; /* for its standard input; with Slurm that of the first serves all */
    size_t size;
};

/* 0 or -errno. */
int remote_start_open(uv_loop_t *loop, const struct remote_start_config *config, void *context,
                      struct remote_start **start);
/* Starts them in this order, as far as there is room. 0 or -ENOMEM: none was added. */
int remote_start_add(struct remote_start *start, const struct remote_start_host *hosts,
                     uint32_t count);
/* The remote program has connected: the timeout no longer applies. */
void remote_start_ready(struct remote_start *start, uint32_t host);
/* Stops the child: closes its standard input, sends SIGTERM, and SIGKILL a moment later (with
 * Slurm: once no host of that call is wanted).  The host may be added again at once. */
void remote_start_stop(struct remote_start *start, uint32_t host);
/* Whether that process is a child made here. */
bool remote_start_owns(const struct remote_start *start, pid_t pid);
/* Stops all, waits for them, and calls `closed` (may be NULL) after freeing everything.  Those that
 * are ready may end by themselves, for 3 s: their programs may still have files to remove. */
void remote_start_close(struct remote_start *start, void (*closed)(void *context));

#endif
