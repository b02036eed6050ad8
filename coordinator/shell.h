/* shell.h - Processor Zero inside an agent.
 *
 * The shell owns the state machine (coordinator/core).  It passes one message after the other to
 * the machine and carries out the effects.  It does no I/O of its own: the agent passes in received
 * messages and provides functions to send, to set a timer and to report the end.  The agent's own
 * host is treated like any other, except that its messages use no connection.
 *
 * None of the functions in coord_shell_calls may free the shell.  They may pass in new messages:
 * these are queued and handled after the effects of the present one.
 */
#ifndef COORD_SHELL_H
#define COORD_SHELL_H

#include "coordinator/core/coord.h"
#include "lib/wire/wire.h"

struct coord_shell_calls {
    /* Sends to the agent of a host (including this one), or to bsprun (COORD_BSPRUN: CHOSEN, SAVED,
     * CLOSING; only in jobs with snapshots).  The message is valid during the call.  A failure is
     * reported later as coord_shell_host_lost. */
    void (*send)(void *context, uint32_t host, const struct wire_message *message);
    /* Starts, restarts or stops a timer, whose expiry is coord_shell_timer. */
    void (*set_timer)(void *context, enum coord_timer timer, uint64_t milliseconds);
    void (*cancel_timer)(void *context, enum coord_timer timer);
    /* A host broke the protocol: drop its connection.  The shell already counts it as lost. */
    void (*drop_host)(void *context, uint32_t host, const char *complaint);
    /* The term is over; the job too unless outcome->again.  Called once; outcome->text is valid
     * while the shell lives. */
    void (*finish)(void *context, const struct coord_outcome *outcome);
    /* Takes a line of the -vv trace; NULL: no trace. */
    void (*trace)(void *context, const char *text);
    /* A monotonic clock; NULL: always 0. */
    uint64_t (*now_ns)(void *context);
    /* The superstep in which the processes of this host are, as far as is known without asking;
     * COORD_NEVER, or no function: there are none. */
    uint64_t (*superstep)(void *context);
};

struct coord_shell;

/* `config->moved` and its context are set by the shell; otherwise as for coord_new.  NULL as for
 * coord_new. */
struct coord_shell *coord_shell_new(const struct coord_config *config,
                                    const struct coord_shell_calls *calls, void *context);
void coord_shell_free(struct coord_shell *shell); /* NULL is fine */

/* A message from the agent of `host`, or (COORD_BSPRUN) from bsprun; as in coord_step.  Messages of
 * another job, of a kind that is not for Processor Zero, or that name a host other than the
 * sender's break the rules. */
void coord_shell_message(struct coord_shell *shell, uint32_t host,
                         const struct wire_message *message);
/* The same for STOP, SAVE and LINK_LOST, which apply to the present term; fills in job and term of
 * the envelope. */
void coord_shell_order(struct coord_shell *shell, const struct wire_message *order);
/* LINK_LOST: the host is gone. */
void coord_shell_host_lost(struct coord_shell *shell, uint32_t host);
/* Not from within one of the functions of coord_shell_calls. */
void coord_shell_timer(struct coord_shell *shell, enum coord_timer timer);

/* The machine, for inspection. */
const struct coord *coord_shell_state(const struct coord_shell *shell);

#endif
