/* hosts.h - what the made-up worlds of the dataspace on several hosts share: their hosts, the links
 * between these, and the calls of processes, piece by piece.  A world is defined by each simulator.
 */
#ifndef SIM_DATASPACE_HOSTS_H
#define SIM_DATASPACE_HOSTS_H

#include "bsprun/dataspace/service.h"
#include "tests/sim/dataspace/calls.h"
#include "tests/sim/timeline.h"

#define HOSTS_MOST 6u
#define WINDOW     40u /* bytes that a process posts at a time */
#define PIECE      24u /* ... that go to another host at a time */
#define SIZE_MOST  150u
#define MEMORY     260u  /* of a host, with what is beside objects: then they go to files */
#define SMALL      8u    /* ... but smaller ones */
#define IN_FLIGHT  3u    /* messages of a link that is full */
#define SETTLED    3000u /* after which nothing of a withdrawal is on its way */
#define LOOK_EVERY 40u
#define LOOKS_MOST 800u /* after which nothing will change any more */

struct world;

struct host {
    struct world *world;
    struct timeline *time;
    uint32_t number;
    bool lost, knows[HOSTS_MOST];     /* ... that others are */
    uint64_t heard_until[HOSTS_MOST]; /* of a host that is lost: what comes later does not */
    struct pool *pool;
    struct dataspace *space;
    uint32_t queued[HOSTS_MOST];      /* messages to each other host */
    uint64_t last_moment[HOSTS_MOST]; /* when the last of them comes */
    bool goes_on;
    uint64_t last_quiet, last_asked;
};

/* The number and the rest of `setup` but for pieces and the pool, which counts what it spills. */
void host_open(struct host *host, struct world *world, struct timeline *time,
               struct dataspace_setup setup, const struct dataspace_calls *calls,
               uint64_t *spilled);
void host_close(struct host *host);

/* A copy of the message, for host_drop, which is to come after *delay, in order with the others. */
struct wire_message *host_send(struct host *host, uint32_t to, const struct wire_message *message,
                               uint64_t *delay);
void host_drop(struct wire_message *message);
bool host_has_room(const struct host *host, uint32_t to);
/* Whether what `from` has sent comes. */
bool host_hears(const struct host *host, const struct host *from);
/* What the service must not say; the context is the host. */
void host_no_memory(void *context, uint32_t pid, uint64_t bytes);
void host_broken(void *context, uint32_t other, const char *complaint);
void host_differs(void *context, uint32_t pid);
/* Have all messages come that hosts that live have sent each other? */
void hosts_check_traffic(const struct host *hosts, uint32_t count, const char *otherwise);

/* The delay of what hosts and Processor Zero tell each other, in order with what was planned for
 * the same way, the last of it for the moment *last. */
uint64_t hosts_delay(struct timeline *time, uint64_t *last);
/* What a host says of which nothing is known but its traffic. */
struct wire_quiet host_quiet(const struct host *host, uint64_t round);
/* ... in a message of its own, for free. */
struct wire_message *host_tells(const struct wire_quiet *quiet);

/* ---- A call, piece by piece ---- */

struct transfer {
    struct dataspace_request request;
    bool busy, posted;
    bool taken_back; /* it has withdrawn its request, and does not know yet what became of it */
    unsigned char window[WINDOW], data[SIZE_MOST];
    uint64_t done;
};

/* The size of a new object, or the room for it. */
void transfer_pick_size(struct timeline *time, struct call *call);
void transfer_begin(struct transfer *transfer, const struct call *call, uint64_t number,
                    uint32_t tag);
/* The next piece of the call, whose object has that number, is in the window. */
void transfer_fill(struct transfer *transfer, uint32_t value);
/* What the service answers; whether it was too late to withdraw the request. */
bool transfer_answered(struct transfer *transfer, const struct host *host, uint32_t pid,
                       uint64_t size, uint32_t length);
void transfer_withdrawn(struct transfer *transfer, const struct host *host, uint32_t pid);
/* ... of replicas, whose puts are withdrawn, too; and whether the next one is to be made again. */
void transfer_held(struct transfer *transfer, const struct host *host, uint32_t pid);
bool transfer_is_held(const struct transfer *transfer);
/* The number of the object that has come. */
uint32_t transfer_value(const struct transfer *transfer, const struct timeline *time, uint32_t pid);
/* Is the object as it was put?  Whether it is cut short. */
bool transfer_check(const struct transfer *transfer, const struct timeline *time, uint32_t pid);

#endif
