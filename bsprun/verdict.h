/* verdict.h - the consequences of the death of a process: cause, exit status, message. */
#ifndef BSPRUN_VERDICT_H
#define BSPRUN_VERDICT_H

#include <stdbool.h>

#include "bsprun/whereabouts.h"
#include "lib/wire/wire.h"

/* How a process ended, as far as its agent knows. */
struct death {
    bool known; /* false: only its own marks are known */
    int signal; /* 0: it exited */
    int status; /* with signal 0 */
};

struct verdict {
    enum wire_cause cause; /* NONE: a permitted end */
    int status;            /* exit status of the job because of it */
    int signal;
    bool with_table; /* the table of processes follows the message */
    uint64_t since;  /* snapshots of so many supersteps may be wrong, as replicas differ; 0: none */
    char text[512];  /* "" if the process has printed the message itself */
};

/* A process that ended (or has announced its end: mark EXITED, ABORTED, FAILED). */
void verdict_of_rank(const struct whereabouts *where, const struct death *death,
                     struct verdict *verdict);

/* The started program ended before any process reached bsp_begin.  attached: libbsp was in it; then
 * its status, 0 or not, is passed on without a message. */
void verdict_of_program(const char *program, bool attached, const struct death *death,
                        struct verdict *verdict);

/* "9 (Killed)" */
void verdict_signal_text(int signal, char *text, size_t size);

/* The resource limit behind an error: " (the limit ...)", or "". */
const char *verdict_limit_hint(int error);

#endif
