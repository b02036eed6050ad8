/* ask_hosts.h - executes a command on several hosts at once and collects the answers. */
#ifndef BSPRUN_ASK_HOSTS_H
#define BSPRUN_ASK_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/hosts/hosts.h"
#include "bsprun/hosts/launch_command.h"

/* One of the two is set for each host that was asked; free both with free(). */
struct ask_answer {
    char *output;  /* its standard output, up to 1 MiB; it has ended with status 0 */
    char *failure; /* lines with the host and why it did not answer */
};

struct ask {
    const struct hosts *hosts;
    const bool *wanted; /* by host: whether to ask it */
    enum launch_kind kind;
    bool one_call; /* with Slurm: one call asks all hosts, and its output is the answer of each */
    const char *launcher;     /* the value of --launcher, or NULL */
    const char *const *words; /* the command, NULL-terminated */
    uint64_t timeout_ms;      /* for each host; 0: none */
};

/* Asks and waits for all.  answers[] has an empty entry for each host. 0 or -errno: no host was
 * asked. */
int ask_hosts(const struct ask *ask, struct ask_answer *answers);

#endif
