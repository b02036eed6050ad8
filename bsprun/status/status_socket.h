/* status_socket.h - bsprun's answers to bspstat, bspctl and bspkill: a socket in the user's own
 * directory (status_directory.h), which takes one request per connection from the same user, and
 * sends STATUS_BUSY to who comes when 16 are connected:
 *
 *   status, json, metrics the status of the job as text, JSON or OpenMetrics
 *   hosts                 that of its hosts, as text
 *   stacks                the C stacks of its processes, as text
 *   stop, kill            end it as SIGTERM would without snapshots; end it at once
 *   save                  end it after a snapshot, so that it can be restarted
 *   snapshot              take a snapshot, and go on
 *   drain HOST            move the processes off that host, which then gets no more
 *   remove HOST           and go on without it
 *   open HOST             give processes to a drained host again, or have it join: HOST:SLOTS
 *   place                 distribute the processes as at the beginning
 *   move HOST PID         move that process to the host
 *
 * After the answer to the first five the connection is closed.  The others are answered by "ok",
 * or by a line with the reason of a refusal, then by "done" when what was asked for has happened,
 * or by a line that says why it has not; the connection is closed after that, or when the job has
 * ended.  "already" and why is the only answer where nothing has to be done.
 *
 * The agents are asked for the places of processes and for memory before each of the first four is
 * answered, twice if a rate is needed, and once before processes are moved or placed: what does not
 * fit is refused.
 */
#ifndef BSPRUN_STATUS_SOCKET_H
#define BSPRUN_STATUS_SOCKET_H

#include <uv.h>

#include "bsprun/status/status_text.h"
#include "lib/wire/wire.h"

/* Within so many milliseconds agents answer for the stacks. */
#define STATUS_STACKS_MS 10000u

enum status_request {
    STATUS_STOP,
    STATUS_KILL,
    STATUS_SAVE,
    STATUS_SNAPSHOT,
    STATUS_DRAIN,
    STATUS_REMOVE,
    STATUS_OPEN,
    STATUS_PLACE,
    STATUS_MOVE,
    STATUS_REPLICAS,
    STATUS_REQUEST_COUNT
};

struct status_order {
    enum status_request what;
    const char *host;    /* its name, or ""; REPLICAS: how many */
    uint32_t pid;        /* MOVE */
    const char *already; /* set by the request: it is so already, and nothing begins; else NULL */
};

struct status_socket;

struct status_calls {
    /* Asks every agent for a STATUS; times: with the times of activities.  Returns the number of
     * agents asked. */
    uint32_t (*ask)(void *context, bool times);
    /* Fills in the facts that are not in a STATUS; pointers must be valid until the next event.
     * hosts[i] is host number i. */
    void (*describe)(void *context, struct status_facts *facts);
    /* Begins to carry out a request, and replaces the host by the name by which its outcome will be
     * told, which must stay.  Returns NULL, or the reason of a refusal, valid until the next
     * request, as is order->already. */
    const char *(*request)(void *context, struct status_order *order);
    /* Begins to gather the stacks: status_socket_give_stacks follows. */
    void (*stacks)(void *context);
};

/* NULL: failed (no directory for it); the job can run without.  If the process is killed, the next
 * job removes the socket. */
struct status_socket *status_socket_open(uv_loop_t *loop, const struct status_calls *calls,
                                         void *context);
/* A STATUS has arrived, for this module or not.  Here and below the socket may be NULL. */
void status_socket_take(struct status_socket *status, const struct wire_status *message);
/* The stacks of the processes, for all clients that wait for them; NULL: they get nothing.  Never
 * called from inside `stacks`. */
void status_socket_give_stacks(struct status_socket *status, const char *text);
/* Requests of these kinds (bits) that were made so far have been carried out. */
void status_socket_done(struct status_socket *status, unsigned kinds);
/* The outcome of those that name this host: "done", or why not; a line without its end. */
void status_socket_tell(struct status_socket *status, unsigned kinds, const char *host,
                        const char *outcome);
/* The outcome of those that move this process, but not to the host `but`, unless NULL; of all of
 * these kinds. */
void status_socket_tell_move(struct status_socket *status, uint32_t pid, const char *but,
                             const char *outcome);
/* ... and of all of these kinds that do not name `but`. */
void status_socket_tell_others(struct status_socket *status, unsigned kinds, const char *but,
                               const char *outcome);
void status_socket_tell_all(struct status_socket *status, unsigned kinds, const char *outcome);
/* Removes the socket and answers no more requests; clients that wait for the end of the job learn
 * of it when this process exits.  The handles close in the loop. */
void status_socket_close(struct status_socket *status);

#endif
