/* service.c - see service.h. */
#include "bsprun/dataspace/service.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/keeper.h"
#include "lib/base/digest.h"
#include "lib/base/states.h"

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

#define TO BSPZ_STATES_TO
static const struct bspz_states_row client_rows[CLIENT_STATE_COUNT] = {
    [CLIENT_IDLE] = {"idle", TO(CLIENT_STORING) | TO(CLIENT_ASKING)},
    [CLIENT_STORING] = {"storing", TO(CLIENT_STALLED) | TO(CLIENT_SENT) | TO(CLIENT_IDLE)},
    [CLIENT_STALLED] = {"stalled", TO(CLIENT_STORING)},
    [CLIENT_SENT] = {"sent", TO(CLIENT_IDLE)},
    [CLIENT_ASKING] = {"asking",
                       TO(CLIENT_WITHDRAWN) | TO(CLIENT_RECEIVING) | TO(CLIENT_TAKING)},
    [CLIENT_WITHDRAWN] = {"withdrawn", TO(CLIENT_IDLE) | TO(CLIENT_RECEIVING)},
    [CLIENT_RECEIVING] = {"receiving", TO(CLIENT_TAKING)},
    [CLIENT_TAKING] = {"taking", TO(CLIENT_IDLE)},
};
static const struct bspz_states client_states = {"a request", CLIENT_STATE_COUNT, client_rows};

/* A request of a process of another host as the owner of its tag sees it. */
enum guest_state {
    GUEST_IDLE,
    GUEST_STORING,  /* put: pieces come */
    GUEST_WAITING,  /* get, read: there is no object yet, or none that it was granted */
    GUEST_GRANTING, /* ... its pieces go out */
    GUEST_STATE_COUNT
};

static const struct bspz_states_row guest_rows[GUEST_STATE_COUNT] = {
    [GUEST_IDLE] = {"idle", TO(GUEST_STORING) | TO(GUEST_WAITING)},
    [GUEST_STORING] = {"storing", TO(GUEST_IDLE)},
    [GUEST_WAITING] = {"waiting", TO(GUEST_GRANTING) | TO(GUEST_IDLE)},
    [GUEST_GRANTING] = {"granting", TO(GUEST_IDLE)},
};
static const struct bspz_states guest_states = {"a guest", GUEST_STATE_COUNT, guest_rows};

struct process {
    uint32_t home;
    enum client_state client; /* of a process of this host */
    enum guest_state guest;   /* of another one */
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
    struct dataspace_traffic traffic;
};

/* ---- Owners ---------------------------------------------------------------------------------- */

uint32_t dataspace_owner(const struct dataspace *space, const void *tag, size_t size)
{
    uint64_t digest = bspz_digest(BSPZ_DIGEST_NOTHING, tag, size);

    digest ^= digest >> 32; /* the low bits alone are those of few bytes of the tag */
    return space->owners[digest * UINT64_C(0x9e3779b97f4a7c15) % space->owner_count];
}

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* False: no memory. */
static bool find_owners(struct dataspace *space, const uint32_t *homes)
{
    uint32_t count = 0;

    space->owners = malloc(((size_t)space->nprocs + 1) * sizeof *space->owners);
    if (!space->owners)
        return false;
    memcpy(space->owners, homes, space->nprocs * sizeof *homes);
    qsort(space->owners, space->nprocs, sizeof *space->owners, ascending);
    for (uint32_t i = 0; i < space->nprocs; i++)
        if (i == 0 || space->owners[i] != space->owners[i - 1])
            space->owners[count++] = space->owners[i];
    space->owner_count = count;
    return true;
}

/* ---- States ---------------------------------------------------------------------------------- */

static bool is_stalled(const struct process *process)
{
    return process->client == CLIENT_STALLED || process->guest == GUEST_GRANTING;
}

static void move_client(struct dataspace *space, struct process *process, enum client_state to)
{
    space->stalled -= is_stalled(process);
    process->client = (enum client_state)bspz_states_move(&client_states, process->client, to);
    space->stalled += is_stalled(process);
    if (to == CLIENT_IDLE) {
        object_drop(process->object);
        process->object = NULL;
    }
}

static void move_guest(struct dataspace *space, struct process *process, enum guest_state to)
{
    space->stalled -= is_stalled(process);
    process->guest = (enum guest_state)bspz_states_move(&guest_states, process->guest, to);
    space->stalled += is_stalled(process);
    if (to == GUEST_IDLE) {
        object_drop(process->object);
        process->object = NULL;
    }
}

static void send_to(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    space->traffic.sent++;
    space->calls->send(space->context, host, message);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- Delivery -------------------------------------------------------------------------------- */

/* The next piece goes into the window of a process of this host. */
static void give_piece(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    uint64_t size = process->size;
    uint32_t length = (uint32_t)least(size - process->done, process->request.length);

    if (length > 0)
        memcpy(process->request.piece, process->object->bytes + process->done, length);
    process->done += length;
    if (process->done == size)
        move_client(space, process, CLIENT_IDLE);
    space->calls->answer(space->context, pid, size, length);
}

static void give(struct dataspace *space, uint32_t pid, struct object *object)
{
    struct process *process = &space->processes[pid];

    process->object = object;
    process->size = least(object->size, process->request.size);
    process->done = 0;
    move_client(space, process, CLIENT_TAKING);
    give_piece(space, pid);
}

/* Sends pieces to a process of another host while there is room.  One of no bytes has one piece,
 * too. */
static void send_pieces(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    struct wire_message message = {.kind = WIRE_DATA_GRANT};
    bool more = true;

    message.data_grant.pid = pid;
    message.data_grant.size = process->size;
    while (more && space->calls->has_room(space->context, process->home)) {
        uint64_t length = least(process->size - process->done, space->piece);

        message.data_grant.offset = process->done;
        message.data_grant.data =
            (struct wire_bytes){process->object->bytes + process->done, (uint32_t)length};
        send_to(space, process->home, &message);
        process->done += length;
        more = process->done < process->size;
    }
    if (!more)
        move_guest(space, process, GUEST_IDLE);
}

static void on_grant(void *context, const struct asker *to, struct object *object)
{
    struct dataspace *space = context;
    struct process *process = &space->processes[to->pid];

    if (to->host == space->host) {
        give(space, to->pid, object);
        return;
    }
    process->object = object;
    process->size = least(object->size, to->room);
    process->done = 0;
    move_guest(space, process, GUEST_GRANTING);
    send_pieces(space, to->pid);
}

static const struct tags_calls tags_calls = {.grant = on_grant};

/* ---- Requests of this host's processes ------------------------------------------------------- */

static void no_memory(struct dataspace *space, uint32_t pid, uint64_t bytes)
{
    space->calls->no_memory(space->context, pid, bytes);
}

/* The object that is put together for the process; false: no memory, and the caller is told. */
static bool begin_object(struct dataspace *space, uint32_t pid, uint64_t size)
{
    struct process *process = &space->processes[pid];

    process->done = 0;
    process->object = object_make(space->pool, size);
    if (!process->object)
        no_memory(space, pid, size);
    return process->object != NULL;
}

static struct object *take_object(struct process *process)
{
    struct object *object = process->object;

    process->object = NULL;
    return object;
}

/* The posted piece is the last one of its object. */
static bool is_whole(const struct process *process)
{
    return process->done + process->request.length == process->request.size;
}

static void store_here(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;
    bool whole = is_whole(process);

    if (!process->object && !begin_object(space, pid, request->size))
        return;
    memcpy(process->object->bytes + process->done, request->piece, request->length);
    process->done += request->length;
    if (whole) {
        struct object *object = take_object(process);

        move_client(space, process, CLIENT_IDLE);
        if (tags_put(space->tags, request->tag, request->tag_size, object) != 0) {
            no_memory(space, pid, request->tag_size);
            return;
        }
    }
    space->calls->answer(space->context, pid, request->size, request->length);
}

/* The tag goes with the last piece. */
static void store_there(struct dataspace *space, uint32_t pid, uint32_t owner)
{
    struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;
    struct wire_message message = {.kind = WIRE_DATA_PUT};
    bool whole = is_whole(process);

    if (!space->calls->has_room(space->context, owner)) {
        move_client(space, process, CLIENT_STALLED);
        return;
    }
    message.data_put.pid = pid;
    if (whole)
        message.data_put.tag = (struct wire_bytes){request->tag, request->tag_size};
    message.data_put.size = request->size;
    message.data_put.offset = process->done;
    message.data_put.data = (struct wire_bytes){request->piece, request->length};
    process->done += request->length;
    send_to(space, owner, &message);
    if (whole)
        move_client(space, process, CLIENT_SENT);
    else
        space->calls->answer(space->context, pid, request->size, request->length);
}

static void store(struct dataspace *space, uint32_t pid)
{
    const struct dataspace_request *request = &space->processes[pid].request;
    uint32_t owner = dataspace_owner(space, request->tag, request->tag_size);

    if (owner == space->host)
        store_here(space, pid);
    else
        store_there(space, pid, owner);
}

/* Takes the piece that the process has posted of its object. */
static void store_piece(struct dataspace *space, uint32_t pid,
                        const struct dataspace_request *posted)
{
    struct process *process = &space->processes[pid];

    process->request.piece = posted->piece;
    process->request.length =
        (uint32_t)least(posted->length, process->request.size - process->done);
    store(space, pid);
}

static void ask(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;
    uint32_t owner = dataspace_owner(space, request->tag, request->tag_size);
    bool removes = request->kind == DATASPACE_GET;
    struct wire_message message = {.kind = WIRE_DATA_ASK};
    struct asker asker = {space->host, pid, request->size};

    move_client(space, process, CLIENT_ASKING);
    if (owner == space->host) {
        if (tags_ask(space->tags, request->tag, request->tag_size, removes, &asker) != 0)
            no_memory(space, pid, request->tag_size);
        return;
    }
    message.data_ask.pid = pid;
    message.data_ask.tag = (struct wire_bytes){request->tag, request->tag_size};
    message.data_ask.removes = removes;
    message.data_ask.room = request->size;
    send_to(space, owner, &message);
}

void dataspace_posted(struct dataspace *space, uint32_t pid,
                      const struct dataspace_request *request)
{
    struct process *process = &space->processes[pid];

    assert(pid < space->nprocs && process->home == space->host);
    switch (process->client) {
    case CLIENT_IDLE:
        process->request = *request;
        if (request->kind != DATASPACE_PUT) {
            ask(space, pid);
            return;
        }
        process->done = 0;
        move_client(space, process, CLIENT_STORING);
        store_piece(space, pid, request);
        return;
    case CLIENT_STORING:
        store_piece(space, pid, request);
        return;
    case CLIENT_TAKING:
        process->request.piece = request->piece;
        process->request.length = request->length;
        give_piece(space, pid);
        return;
    default:
        return; /* known already */
    }
}

void dataspace_withdraw(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;
    struct wire_message message = {.kind = WIRE_DATA_WITHDRAW};
    uint32_t owner;

    if (process->client != CLIENT_ASKING)
        return;
    owner = dataspace_owner(space, request->tag, request->tag_size);
    move_client(space, process, CLIENT_WITHDRAWN);
    if (owner == space->host) {
        tags_withdraw(space->tags, request->tag, request->tag_size, pid);
        move_client(space, process, CLIENT_IDLE);
        space->calls->withdrawn(space->context, pid);
        return;
    }
    message.data_withdraw.pid = pid;
    message.data_withdraw.tag = (struct wire_bytes){request->tag, request->tag_size};
    send_to(space, owner, &message);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void broken(struct dataspace *space, uint32_t host, const char *complaint)
{
    space->calls->broken(space->context, host, complaint);
}

/* A piece of an object: its place, and of how many bytes. */
struct piece {
    uint64_t size, offset;
    struct wire_bytes data;
};

static bool is_last(const struct piece *piece)
{
    return piece->offset + piece->data.size == piece->size;
}

/* Adds the piece that comes next; false: it is not that. */
static bool add_piece(struct process *process, const struct piece *piece)
{
    if (process->object->size != piece->size || piece->offset != process->done ||
        piece->data.size > piece->size - piece->offset ||
        (piece->data.size == 0 && !is_last(piece)))
        return false;
    if (piece->data.size > 0)
        memcpy(process->object->bytes + piece->offset, piece->data.data, piece->data.size);
    process->done += piece->data.size;
    return true;
}

static void on_put(struct dataspace *space, uint32_t host, const struct wire_data_put *put)
{
    struct process *process = &space->processes[put->pid];
    struct piece piece = {put->size, put->offset, put->data};
    struct wire_message stored = {.kind = WIRE_DATA_STORED};
    struct object *object;

    if (put->offset == 0 && process->guest == GUEST_IDLE) {
        if (!begin_object(space, put->pid, put->size))
            return;
        move_guest(space, process, GUEST_STORING);
    }
    if (process->guest != GUEST_STORING || !add_piece(process, &piece)) {
        broken(space, host, "a piece of an object that is out of place");
        return;
    }
    if (!is_last(&piece))
        return;
    if (dataspace_owner(space, put->tag.data, put->tag.size) != space->host) {
        broken(space, host, "an object for a tag of another host");
        return;
    }
    object = take_object(process);
    move_guest(space, process, GUEST_IDLE);
    if (tags_put(space->tags, put->tag.data, put->tag.size, object) != 0) {
        no_memory(space, put->pid, put->tag.size);
        return;
    }
    stored.data_stored.pid = put->pid;
    send_to(space, host, &stored);
}

static void on_ask(struct dataspace *space, uint32_t host, const struct wire_data_ask *ask)
{
    struct process *process = &space->processes[ask->pid];
    struct asker asker = {host, ask->pid, ask->room};

    if (process->guest != GUEST_IDLE) {
        broken(space, host, "a second request of a process");
    } else if (dataspace_owner(space, ask->tag.data, ask->tag.size) != space->host) {
        broken(space, host, "a request for a tag of another host");
    } else {
        move_guest(space, process, GUEST_WAITING);
        if (tags_ask(space->tags, ask->tag.data, ask->tag.size, ask->removes, &asker) != 0)
            no_memory(space, ask->pid, ask->tag.size);
    }
}

/* Whether the host is the one that the process of this host has asked. */
static bool was_asked(const struct dataspace *space, const struct process *process, uint32_t host)
{
    return dataspace_owner(space, process->request.tag, process->request.tag_size) == host;
}

static void on_stored(struct dataspace *space, uint32_t host, uint32_t pid)
{
    struct process *process = &space->processes[pid];

    if (process->client != CLIENT_SENT || !was_asked(space, process, host)) {
        broken(space, host, "an answer to a put that there is none of");
        return;
    }
    move_client(space, process, CLIENT_IDLE);
    space->calls->answer(space->context, pid, process->request.size, process->request.length);
}

static void on_granted(struct dataspace *space, uint32_t host, const struct wire_data_grant *grant)
{
    struct process *process = &space->processes[grant->pid];
    struct piece piece = {grant->size, grant->offset, grant->data};
    bool begins = process->client == CLIENT_ASKING || process->client == CLIENT_WITHDRAWN;
    bool fits = (begins || process->client == CLIENT_RECEIVING) &&
                was_asked(space, process, host) && grant->size <= process->request.size;

    if (fits && begins) {
        if (!begin_object(space, grant->pid, grant->size))
            return;
        move_client(space, process, CLIENT_RECEIVING);
    }
    if (!fits || !add_piece(process, &piece)) {
        broken(space, host, "a piece of an object that was not asked for");
        return;
    }
    if (is_last(&piece))
        give(space, grant->pid, take_object(process));
}

/* What is not granted yet is forgotten; else the grant is on its way. */
static void on_withdraw(struct dataspace *space, uint32_t host, const struct wire_data_withdraw *of)
{
    struct process *process = &space->processes[of->pid];
    struct wire_message withdrawn = {.kind = WIRE_DATA_WITHDRAWN};

    if (process->guest != GUEST_WAITING)
        return;
    if (!tags_withdraw(space->tags, of->tag.data, of->tag.size, of->pid)) {
        broken(space, host, "a request for another tag is withdrawn");
        return;
    }
    move_guest(space, process, GUEST_IDLE);
    withdrawn.data_withdrawn.pid = of->pid;
    send_to(space, host, &withdrawn);
}

static void on_withdrawn(struct dataspace *space, uint32_t host, uint32_t pid)
{
    struct process *process = &space->processes[pid];

    if (process->client != CLIENT_WITHDRAWN || !was_asked(space, process, host)) {
        broken(space, host, "a request is forgotten that was not withdrawn");
        return;
    }
    move_client(space, process, CLIENT_IDLE);
    space->calls->withdrawn(space->context, pid);
}

/* The process that a message is about; at least nprocs: none. */
static uint32_t pid_of(const struct wire_message *message)
{
    switch (message->kind) {
    case WIRE_DATA_PUT:
        return message->data_put.pid;
    case WIRE_DATA_ASK:
        return message->data_ask.pid;
    case WIRE_DATA_STORED:
        return message->data_stored.pid;
    case WIRE_DATA_GRANT:
        return message->data_grant.pid;
    case WIRE_DATA_WITHDRAW:
        return message->data_withdraw.pid;
    case WIRE_DATA_WITHDRAWN:
        return message->data_withdrawn.pid;
    default:
        return UINT32_MAX;
    }
}

void dataspace_message(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    uint32_t pid = pid_of(message);
    bool asks = message->kind == WIRE_DATA_PUT || message->kind == WIRE_DATA_ASK ||
                message->kind == WIRE_DATA_WITHDRAW;

    space->traffic.received++;
    if (pid >= space->nprocs || space->processes[pid].home != (asks ? host : space->host)) {
        broken(space, host, "a request for a process that it does not have");
        return;
    }
    if (message->kind == WIRE_DATA_PUT)
        on_put(space, host, &message->data_put);
    else if (message->kind == WIRE_DATA_ASK)
        on_ask(space, host, &message->data_ask);
    else if (message->kind == WIRE_DATA_STORED)
        on_stored(space, host, pid);
    else if (message->kind == WIRE_DATA_WITHDRAW)
        on_withdraw(space, host, &message->data_withdraw);
    else if (message->kind == WIRE_DATA_WITHDRAWN)
        on_withdrawn(space, host, pid);
    else
        on_granted(space, host, &message->data_grant);
}

/* ---- Life ------------------------------------------------------------------------------------ */

bool dataspace_go_on(struct dataspace *space)
{
    for (uint32_t pid = 0; pid < space->nprocs && space->stalled > 0; pid++) {
        struct process *process = &space->processes[pid];

        if (process->client == CLIENT_STALLED) {
            move_client(space, process, CLIENT_STORING);
            store(space, pid);
        } else if (process->guest == GUEST_GRANTING) {
            send_pieces(space, pid);
        }
    }
    return space->stalled > 0;
}

struct dataspace *dataspace_open(const struct dataspace_setup *setup,
                                 const struct dataspace_calls *calls, void *context)
{
    uint32_t nprocs = setup->nprocs;
    struct dataspace *space = calloc(1, sizeof *space);

    if (!space)
        return NULL;
    *space = (struct dataspace){.calls = calls,
                                .context = context,
                                .host = setup->host,
                                .nprocs = nprocs,
                                .piece = setup->piece,
                                .pool = setup->pool};
    space->processes = calloc(nprocs, sizeof *space->processes);
    space->tags = tags_open(&tags_calls, space);
    if (!space->processes || !space->tags || !find_owners(space, setup->homes)) {
        dataspace_close(space);
        return NULL;
    }
    for (uint32_t pid = 0; pid < nprocs; pid++)
        space->processes[pid].home = setup->homes[pid];
    return space;
}

void dataspace_close(struct dataspace *space)
{
    if (!space)
        return;
    for (uint32_t pid = 0; space->processes && pid < space->nprocs; pid++)
        object_drop(space->processes[pid].object);
    tags_close(space->tags);
    free(space->processes);
    free(space->owners);
    free(space);
}

const struct dataspace_request *dataspace_waits_for(const struct dataspace *space, uint32_t pid)
{
    const struct process *process = &space->processes[pid];

    return process->client == CLIENT_ASKING ? &process->request : NULL;
}

struct keeper *dataspace_keep(const struct dataspace *space)
{
    return keeper_begin(space->tags);
}

struct dataspace_traffic dataspace_traffic(const struct dataspace *space)
{
    return space->traffic;
}

struct tags_totals dataspace_totals(const struct dataspace *space)
{
    return tags_totals(space->tags);
}
