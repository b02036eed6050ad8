/* launch.h - starts a process of the job: the program, or a rank to be restored. */
#ifndef BSPRUN_AGENT_LAUNCH_H
#define BSPRUN_AGENT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct agent;
struct shares; /* ckpt/shares.h */

/* A process to be started; by default like the program.  tool: it is none of the job and gets
 * nothing of it. */
struct agent_launch {
    const struct agent *agent;
    const char *path;
    char **arguments;
    char **environment;
    const char *directory;
    bool tool;
    bool own_group;       /* not the program's */
    int standard[3];      /* its descriptors 0 to 2, -1 = inherit */
    const int *handed_on; /* descriptors inherited under their numbers */
    int handed_on_count;
    const struct shares *shares; /* ... as are those of `group` here; NULL: none */
    uint32_t group;
    pid_t parent; /* this and the next members are set by agent_launch */
    int errors;
};

/* Notes the signals, the limit of descriptors and the process group that this process was started
 * with, which every process that it starts gets back: before any of them is changed.  0 or -ENOMEM.
 */
int agent_launch_open(struct agent *agent);
void agent_launch_free(struct agent *agent);
/* Whether that signal was ignored then. */
bool agent_signal_was_ignored(const struct agent *agent, int signal);

/* Forks and waits until the exec has succeeded or failed.  The child's id, or -errno. */
pid_t agent_launch(struct agent_launch *launch);

/* "BSPZ_ENV_BOARD=value"; for free(), NULL: no memory. */
char *agent_board_variable(const struct agent *agent);

#endif
