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
/* Forks and waits until the exec has succeeded or failed.  The child's id, or -errno. */
pid_t agent_launch(struct agent_launch *launch);

/* "BSPZ_ENV_BOARD=value"; for free(), NULL: no memory. */
char *agent_board_variable(const struct agent *agent);

#endif
