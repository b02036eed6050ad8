/* ask_hosts.h - executes something on several hosts at once and collects what each says. */
#ifndef BSPRUN_ASK_HOSTS_H
#define BSPRUN_ASK_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/hosts/hosts.h"

/* One of the two is set for each host that was asked; both are for free(). */
struct ask_answer {
    char *output;  /* its standard output, up to 1 MiB; it has ended with status 0 */
    char *failure; /* one line: which host, and why it has not answered */
};

struct ask {
    const struct hosts *hosts;
    const bool *wanted;       /* by host: those that are asked */
    const char *launcher;     /* as of --launcher; NULL: ssh, or srun inside a Slurm allocation */
    const char *const *words; /* what is executed there, NULL-terminated */
    uint64_t timeout_ms;      /* for each host; 0: none */
};

/* Asks and waits for all.  answers[] has an entry for each host and is empty.  0 or -errno: then
 * nobody was asked. */
int ask_hosts(const struct ask *ask, struct ask_answer *answers);

#endif
