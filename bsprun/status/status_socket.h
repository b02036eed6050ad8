/* status_socket.h - bsprun's answers to bspstat and bspkill: a socket in the user's own directory
 * (status_folder.h), on which anybody of the same user may ask one thing per connection:
 *
 *   status, json      how the job is: a text, or JSON; then the connection is closed
 *   stop, kill        end it as SIGTERM would without snapshots; end it at once
 *   save              end it after a snapshot, so that it can be restarted
 *
 * The last three are answered by "ok", or a line that says why not, and the connection is closed
 * when the job has ended.
 *
 * Where the processes are is asked of the agents for each question, twice with a moment in between
 * if need be, since a rate takes two looks.
 */
#ifndef BSPRUN_STATUS_SOCKET_H
#define BSPRUN_STATUS_SOCKET_H

#include <uv.h>

#include "bsprun/status/status_text.h"
#include "lib/wire/wire.h"

enum status_wish { STATUS_STOP, STATUS_KILL, STATUS_SAVE };

struct status_socket;

struct status_calls {
    /* Have every agent answer with a STATUS.  Returns how many are asked. */
    uint32_t (*ask)(void *context);
    /* Fills what the job is, but for what a STATUS says; what it points to need only live until the
     * next event.  hosts[i] is host number i. */
    void (*describe)(void *context, struct status_facts *facts);
    /* Carries the wish out; NULL, or why not. */
    const char *(*wish)(void *context, enum status_wish wish);
};

/* NULL: there is none (no directory for it), which is no reason not to run a job. `signal` and the
 * like may end the process without a call of close; the socket is then swept by the next job. */
struct status_socket *status_socket_open(uv_loop_t *loop, const struct status_calls *calls,
                                         void *context);
/* A STATUS has come; whether or not it was asked for by this. NULL socket is fine, here and below.
 */
void status_socket_take(struct status_socket *status, const struct wire_status *message);
/* Nobody is answered any more, and the socket is removed; who waits for the job's end is told when
 * this process ends.  The handles close in the loop. */
void status_socket_close(struct status_socket *status);

#endif
