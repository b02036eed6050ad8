/* ask_hosts.h - executes something on several hosts at once and collects what each says. */
#ifndef BSPRUN_ASK_HOSTS_H
#define BSPRUN_ASK_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/hosts/hosts.h"
#include "bsprun/hosts/launch_command.h"

/* One of the two is set for each host that was asked; both are for free(). */
struct ask_answer {
    char *output;  /* its standard output, up to 1 MiB; it has ended with status 0 */
    char *failure; /* lines: which host, and why it has not answered */
};

struct ask {
    const struct hosts *hosts;
    const bool *wanted; /* by host: those that are asked */
    enum launch_kind kind;
    bool one_call;        /* with Slurm: one call asks all, and its output is the answer of each */
    const char *launcher; /* as of --launcher; or NULL */
    const char *const *words; /* what is executed there, NULL-terminated */
    uint64_t timeout_ms;      /* for each host; 0: none */
};

/* Asks and waits for all.  answers[] has an entry for each host and is empty.  0 or -errno: then
 * nobody was asked. */
int ask_hosts(const struct ask *ask, struct ask_answer *answers);

#endif
