/* inside.h - what the files of the service share; see service.h.
 *
 *   service.c  messages, life
 *   client.c   requests of this host's processes
 *   guest.c    requests of processes of other hosts
 *   lives.c    processes that are restarted alone
 *   owners.c   which host has which tags
 *   pieces.c   objects that go and come in pieces
 */
#ifndef BSPRUN_DATASPACE_INSIDE_H
#define BSPRUN_DATASPACE_INSIDE_H

#include "bsprun/dataspace/log.h"
#include "bsprun/dataspace/service.h"

/* A request of a process as its own host sees it. */
enum client_state {
    CLIENT_IDLE,      /* no request */
    CLIENT_STORING,   /* put: the next piece is to be posted */
    CLIENT_STALLED,   /* put: the posted piece waits for room to the owner */
    CLIENT_SENT,      /* put: the owner has it all, and is to say that it is stored */
    CLIENT_ASKING,    /* get, read: the owner is to grant it */
    CLIENT_WITHDRAWN, /* ... is to forget it, or has granted it */
    CLIENT_RECEIVING, /* ... has granted it, and its pieces come from another host */
    CLIENT_TAKING,    /* ... is granted: the process is to ask for the next piece */
    CLIENT_STATE_COUNT
};

/* A request of a process of another host as the owner of its tag sees it. */
enum guest_state {
    GUEST_IDLE,
    GUEST_STORING,  /* put: pieces come */
    GUEST_WAITING,  /* get, read: there is no object yet, or none that it was granted */
    GUEST_GRANTING, /* ... its pieces go out */
    GUEST_STATE_COUNT
};

struct process {
    uint32_t home;
    enum client_state client; /* of a process of this host */
    enum guest_state guest;   /* of another one */
    uint32_t life;            /* how often it was restarted alone, as far as this host knows */
    uint64_t behind;          /* of this host: the last request of its earlier lives */
    struct dataspace_request request;
    struct object *object; /* that is put together or delivered */
    uint64_t done;         /* bytes of it that have come or gone */
    uint64_t size;         /* bytes of it that the process gets */
};

struct dataspace {
    const struct dataspace_calls *calls;
    void *context;
    uint32_t host, nprocs, piece, owner_count, stalled;
    uint32_t *owners; /* the hosts with processes, ascending */
    struct process *processes;
    struct pool *pool;
    struct tags *tags;
    struct log *log;
    struct dataspace_traffic traffic;
};

/* A piece of an object: its place, and of how many bytes. */
struct piece {
    uint64_t size, offset;
    struct wire_bytes data;
};

static inline uint64_t service_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The request of a process of this host was answered in an earlier life. */
static inline bool service_repeats(const struct process *process)
{
    return process->request.number < process->behind;
}

/* Whether it waits for room to another host. */
static inline bool service_is_stalled(const struct process *process)
{
    return process->client == CLIENT_STALLED || process->guest == GUEST_GRANTING;
}

/* ---- owners.c ---- */

/* Which of `count` parts a tag belongs to. */
uint32_t owners_place(const void *tag, size_t size, uint32_t count);
/* homes: of each process.  False: no memory. */
bool service_find_owners(struct dataspace *space, const uint32_t *homes);

/* ---- pieces.c ---- */

void service_send(struct dataspace *space, uint32_t host, const struct wire_message *message);
void service_broken(struct dataspace *space, uint32_t host, const char *complaint);
void service_no_memory(struct dataspace *space, uint32_t pid, uint64_t bytes);
/* The object that is put together for the process; false: no memory, and the caller is told. */
bool service_begin_object(struct dataspace *space, uint32_t pid, uint64_t size);
struct object *service_take_object(struct process *process);
bool piece_is_last(const struct piece *piece);
/* Adds the piece that comes next; false: it is not that. */
bool piece_add(struct process *process, const struct piece *piece);

/* ---- lives.c ---- */

/* A request of a process to this host, the owner of its tag. */
struct arrival {
    struct asker asker;
    bool repeats;
    const void *tag;
    uint32_t tag_size;
};
/* A put that is here, whole: stores it unless it is stored already.  Takes over the reference.
 * False: there is no memory, or it differs from what was put before; the caller is told. */
bool lives_store(struct dataspace *space, const struct arrival *put, struct object *object);
/* A get or read. */
enum lives_answer {
    LIVES_ASKED,   /* it is granted by the tags, now or later */
    LIVES_KNOWN,   /* it was granted before: *object, whose reference the caller owns */
    LIVES_REFUSED, /* there is no memory, or it differs; the caller is told */
};
enum lives_answer lives_ask(struct dataspace *space, struct arrival *ask, bool removes,
                            struct object **object);
/* Whether an answer is to the present life of a process of this host. */
bool lives_is_present(const struct dataspace *space, uint32_t pid, uint32_t life);

/* ---- client.c ---- */

/* The process's request is granted: takes over the reference. */
void client_give(struct dataspace *space, uint32_t pid, struct object *object);
/* A put waits for room. */
void client_go_on(struct dataspace *space, uint32_t pid);
void client_stored(struct dataspace *space, uint32_t host, const struct wire_data_stored *of);
void client_differs(struct dataspace *space, const struct wire_data_differs *of);
void client_granted(struct dataspace *space, uint32_t host, const struct wire_data_grant *grant);
void client_withdrawn(struct dataspace *space, uint32_t host, const struct wire_data_withdrawn *of);

/* ---- guest.c ---- */

/* The request of a process of another host is granted: takes over the reference. */
void guest_give(struct dataspace *space, const struct asker *to, struct object *object);
/* A grant waits for room. */
void guest_go_on(struct dataspace *space, uint32_t pid);
void guest_put(struct dataspace *space, uint32_t host, const struct wire_data_put *put);
void guest_ask(struct dataspace *space, uint32_t host, const struct wire_data_ask *ask);
void guest_withdraw(struct dataspace *space, uint32_t host, const struct wire_data_withdraw *of);

#endif
