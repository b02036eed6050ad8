/* shell_state.h - the inside of Processor Zero's shell, shared by shell.c and translate.c. */
#ifndef COORD_SHELL_STATE_H
#define COORD_SHELL_STATE_H

#include "coordinator/shell.h"

struct queued;

struct coord_shell {
    struct coord *state;
    unsigned char job[WIRE_JOB_SIZE];
    struct coord_shell_calls calls;
    void *context;
    uint32_t host_count;
    uint32_t *hosts;   /* ids */
    uint64_t *numbers; /* room for the lists of a message: two numbers per process or host */
    struct wire_image *images; /* with snapshots: one per process */
    struct queued *first, **last;
    bool busy;
};

/* translate.c */

/* The message that tells a host of the effect.  Its lists are the shell's, until the next one. */
void coord_shell_message_of(struct coord_shell *shell, const struct coord_effect *effect,
                            struct wire_message *message);
/* Fills the event from a host's message, whose texts and lists it shares.  Says what is wrong when
 * it cannot be one; then the event has at least the term and the host. */
const char *coord_shell_event_of(const struct coord_shell *shell, uint32_t host,
                                 const struct wire_message *message, struct coord_event *event);

#endif
