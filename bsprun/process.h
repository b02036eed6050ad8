/* process.h - utilities for processes: pidfds, how a process ended, killing a process tree. */
#ifndef BSPRUN_PROCESS_H
#define BSPRUN_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "bsprun/verdict.h"

/* Opens /dev/null on each of the descriptors 0, 1, 2 that is closed.  0 or -errno. */
int process_open_standard(void);

/* This process's environment without the variables that begin with the prefix, and with `more`
 * unless NULL.  For free(), not its items; NULL: no memory. */
char **process_environment_but(const char *prefix, char *more);

/* 0 when `count` more descriptors can be opened, else -errno.  To be called before the event loop
 * is made: libuv aborts if there are too few. */
#define DESCRIPTORS_MOST 32
int process_enough_descriptors(int count);

/* A close-on-exec pidfd, or -errno (-ESRCH: no such process). */
int process_pidfd(pid_t pid);

/* Sends a signal through a pidfd; errors are ignored (the process has ended). */
void process_signal(int pidfd, int signal);

/* How the process of the pidfd ended, without reaping it.  Unknown if it was reaped or is not a
 * child. */
struct death process_death(int pidfd);

/* SIGKILL to every living descendant of this process, except `spared` (0: none).  Returns how many
 * there were.  Call again until 0: a tree that forks may outrun one pass. */
int process_kill_descendants(pid_t spared);
/* The same, sparing all for which spare(context, pid) is true. */
int process_kill_descendants_but(bool (*spare)(const void *context, pid_t pid),
                                 const void *context);
/* The same, sparing also all descendants of those for which beside(context, pid) is true. */
int process_kill_descendants_beside(bool (*beside)(const void *context, pid_t pid),
                                    const void *context);

/* Whether it executes no more code: it is dead, or the kernel is freeing its memory, which may take
 * a while. */
bool process_is_dying(pid_t pid);

/* Whether it is stopped, by a signal or a debugger. */
bool process_is_stopped(pid_t pid);

/* Its CPU time; 0: there is no such process. */
uint64_t process_cpu_ns(pid_t pid);

/* Whether it is a copy of a rank, frozen or writing an image. */
bool process_is_copy(pid_t pid);

/* Reaps the child if it has ended.  Returns its CPU time if it was a copy of a rank, else 0. */
uint64_t process_reap(pid_t pid);

/* Reaps children that have ended, except those for which keep(context, pid) is true.  Returns the
 * CPU time of those that were copies of ranks. */
uint64_t process_reap_strangers(bool (*keep)(const void *context, pid_t pid), const void *context);

/* Reaps children that have ended. */
void process_reap_all(void);

/* Whether the descriptor is a pipe or socket without a reader. */
bool process_reader_gone(int fd);

/* Raises the limit of descriptors as far as possible if it is less than that; in a child it can be
 * set back, which is async-signal-safe. */
void process_allow_descriptors(uint64_t needed);
void process_restore_descriptors(void);

/* Original dispositions of the signals that launcher and agent handle, for programs they start. */
struct process_signals {
    struct sigaction actions[NSIG];
    sigset_t mask;
};
void process_signals_save(struct process_signals *saved);
void process_signals_restore(const struct process_signals *saved); /* async-signal-safe */
bool process_signal_ignored(const struct process_signals *saved, int signal);

#endif
