/* status_socket.h - bsprun's answers to bspstat and bspkill: a socket in the user's own directory
 * (status_directory.h), which takes one request per connection from the same user:
 *
 *   status, json the status of the job as text or JSON; then the connection is closed
 *   stop, kill        end it as SIGTERM would without snapshots; end it at once
 *   save              end it after a snapshot, so that it can be restarted
 *
 * The answer to the last three is "ok" or a line with the reason of a refusal, and the connection
 * is closed when the job has ended.
 *
 * The agents are asked for the places of processes at each request, twice if a rate is needed.
 */
#ifndef BSPRUN_STATUS_SOCKET_H
#define BSPRUN_STATUS_SOCKET_H

#include <uv.h>

#include "bsprun/status/status_text.h"
#include "lib/wire/wire.h"

enum status_request { STATUS_STOP, STATUS_KILL, STATUS_SAVE };

struct status_socket;

struct status_calls {
    /* Asks every agent for a STATUS.  Returns the number of agents asked. */
    uint32_t (*ask)(void *context);
    /* Fills in the facts that are not in a STATUS; pointers must be valid until the next event.
     * hosts[i] is host number i. */
    void (*describe)(void *context, struct status_facts *facts);
    /* Carries out a request; returns NULL, or the reason of a refusal. */
    const char *(*request)(void *context, enum status_request request);
};

/* NULL: failed (no directory for it); the job can run without.  If the process is killed, the next
 * job removes the socket. */
struct status_socket *status_socket_open(uv_loop_t *loop, const struct status_calls *calls,
                                         void *context);
/* A STATUS has arrived, for this module or not.  Here and below the socket may be NULL. */
void status_socket_take(struct status_socket *status, const struct wire_status *message);
/* Removes the socket and answers no more requests; clients that wait for the end of the job learn
 * of it when this process exits.  The handles close in the loop. */
void status_socket_close(struct status_socket *status);

#endif
