/* launch.h - starting a process of the job: the program, or a rank that is restored. */
#ifndef BSPRUN_AGENT_LAUNCH_H
#define BSPRUN_AGENT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct agent;
struct shares; /* ckpt/shares.h */

/* A process to be started: as the program is, but for what is said here. */
struct agent_launch {
    const struct agent *agent;
    const char *path;
    char **arguments;
    char **environment;
    const char *directory;
    bool own_group;           /* not the program's */
    int standard[3];          /* its descriptors 0 to 2, -1 = inherit */
    const int *handed_on;     /* descriptors that stay open under their numbers */
    int handed_on_count;
    const struct shares *shares; /* those of `group` are; NULL: none */
    uint32_t group;
    pid_t parent;             /* from here on by agent_launch */
    int errors;
};
/* Forks and waits until the exec has succeeded or failed.  The child's id, or -errno. */
pid_t agent_launch(struct agent_launch *launch);

/* The value of BSPZ_ENV_BOARD, behind its name and "="; for free(), NULL: no memory. */
char *agent_board_variable(const struct agent *agent);

#endif
