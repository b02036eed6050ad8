/* client.c - requests of this host's processes; see inside.h. */
#include "bsprun/dataspace/inside.h"

#include <assert.h>
#include <string.h>

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO
static const struct bspz_states_row client_rows[CLIENT_STATE_COUNT] = {
    [CLIENT_IDLE] = {"idle", TO(CLIENT_STORING) | TO(CLIENT_ASKING)},
    [CLIENT_STORING] = {"storing", TO(CLIENT_STALLED) | TO(CLIENT_SENT) | TO(CLIENT_IDLE)},
    [CLIENT_STALLED] = {"stalled", TO(CLIENT_STORING) | TO(CLIENT_IDLE)},
    [CLIENT_SENT] = {"sent", TO(CLIENT_IDLE)},
    [CLIENT_ASKING] = {"asking", TO(CLIENT_WITHDRAWN) | TO(CLIENT_RECEIVING) | TO(CLIENT_TAKING) |
                                     TO(CLIENT_IDLE)},
    [CLIENT_WITHDRAWN] = {"withdrawn", TO(CLIENT_IDLE) | TO(CLIENT_RECEIVING)},
    [CLIENT_RECEIVING] = {"receiving", TO(CLIENT_TAKING) | TO(CLIENT_IDLE)},
    [CLIENT_TAKING] = {"taking", TO(CLIENT_IDLE)},
};
static const struct bspz_states client_states = {"a request", CLIENT_STATE_COUNT, client_rows};

static void move_client(struct dataspace *space, struct process *process, enum client_state to)
{
    space->stalled -= service_is_stalled(process);
    process->client = (enum client_state)bspz_states_move(&client_states, process->client, to);
    space->stalled += service_is_stalled(process);
    if (to == CLIENT_IDLE) {
        object_drop(process->object);
        process->object = NULL;
    }
}

/* The next piece goes into the window of a process of this host. */
static void give_piece(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    uint64_t size = process->size;
    uint32_t length = (uint32_t)service_least(size - process->done, process->request.length);

    if (length > 0)
        memcpy(process->request.piece, process->object->bytes + process->done, length);
    process->done += length;
    if (process->done == size)
        move_client(space, process, CLIENT_IDLE);
    space->calls->answer(space->context, pid, size, length);
}

void client_give(struct dataspace *space, uint32_t pid, struct object *object)
{
    struct process *process = &space->processes[pid];

    process->object = object;
    process->size = service_least(object->size, process->request.size);
    process->done = 0;
    move_client(space, process, CLIENT_TAKING);
    give_piece(space, pid);
}

/* The posted piece is the last one of its object. */
static bool is_whole(const struct process *process)
{
    return process->done + process->request.length == process->request.size;
}

/* The present request, as it arrives at the owner if that is this host. */
static struct arrival arrival_of(const struct dataspace *space, uint32_t pid)
{
    const struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;

    return (struct arrival){.asker = {.host = space->host,
                                      .pid = pid,
                                      .room = request->size,
                                      .life = process->life,
                                      .number = request->number},
                            .repeats = service_repeats(process),
                            .tag = request->tag,
                            .tag_size = request->tag_size};
}

static void store_here(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;
    bool whole = is_whole(process);

    if (!process->object && !service_begin_object(space, pid, request->size))
        return;
    memcpy(process->object->bytes + process->done, request->piece, request->length);
    process->done += request->length;
    if (whole) {
        struct object *object = service_take_object(process);
        struct arrival put = arrival_of(space, pid);

        move_client(space, process, CLIENT_IDLE);
        if (!lives_store(space, &put, object))
            return;
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
    message.data_put.life = process->life;
    message.data_put.request = request->number;
    message.data_put.repeats = service_repeats(process);
    if (whole)
        message.data_put.tag = (struct wire_bytes){request->tag, request->tag_size};
    message.data_put.size = request->size;
    message.data_put.offset = process->done;
    message.data_put.data = (struct wire_bytes){request->piece, request->length};
    process->done += request->length;
    service_send(space, owner, &message);
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
        (uint32_t)service_least(posted->length, process->request.size - process->done);
    store(space, pid);
}

static void ask(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;
    uint32_t owner = dataspace_owner(space, request->tag, request->tag_size);
    bool removes = request->kind == DATASPACE_GET;
    struct wire_message message = {.kind = WIRE_DATA_ASK};
    struct arrival arrival = arrival_of(space, pid);
    struct object *object;

    move_client(space, process, CLIENT_ASKING);
    if (owner == space->host) {
        if (lives_ask(space, &arrival, removes, &object) == LIVES_KNOWN)
            client_give(space, pid, object);
        return;
    }
    message.data_ask.pid = pid;
    message.data_ask.life = process->life;
    message.data_ask.request = request->number;
    message.data_ask.repeats = arrival.repeats;
    message.data_ask.tag = (struct wire_bytes){request->tag, request->tag_size};
    message.data_ask.removes = removes;
    message.data_ask.room = request->size;
    service_send(space, owner, &message);
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
    message.data_withdraw.life = process->life;
    message.data_withdraw.tag = (struct wire_bytes){request->tag, request->tag_size};
    service_send(space, owner, &message);
}

/* Whether the host is the one that the process of this host has asked. */
static bool was_asked(const struct dataspace *space, const struct process *process, uint32_t host)
{
    return dataspace_owner(space, process->request.tag, process->request.tag_size) == host;
}

void client_stored(struct dataspace *space, uint32_t host, const struct wire_data_stored *of)
{
    uint32_t pid = of->pid;
    struct process *process = &space->processes[pid];

    if (!lives_is_present(space, pid, of->life))
        return;
    if (process->client != CLIENT_SENT || !was_asked(space, process, host)) {
        service_broken(space, host, "an answer to a put that there is none of");
        return;
    }
    move_client(space, process, CLIENT_IDLE);
    space->calls->answer(space->context, pid, process->request.size, process->request.length);
}

void client_granted(struct dataspace *space, uint32_t host, const struct wire_data_grant *grant)
{
    struct process *process = &space->processes[grant->pid];
    struct piece piece = {grant->size, grant->offset, grant->data};
    bool begins = process->client == CLIENT_ASKING || process->client == CLIENT_WITHDRAWN;
    bool fits = (begins || process->client == CLIENT_RECEIVING) &&
                was_asked(space, process, host) && grant->size <= process->request.size;

    if (!lives_is_present(space, grant->pid, grant->life))
        return;
    if (fits && begins) {
        if (!service_begin_object(space, grant->pid, grant->size))
            return;
        move_client(space, process, CLIENT_RECEIVING);
    }
    if (!fits || !piece_add(process, &piece)) {
        service_broken(space, host, "a piece of an object that was not asked for");
        return;
    }
    if (piece_is_last(&piece))
        client_give(space, grant->pid, service_take_object(process));
}

void client_withdrawn(struct dataspace *space, uint32_t host, const struct wire_data_withdrawn *of)
{
    uint32_t pid = of->pid;
    struct process *process = &space->processes[pid];

    if (!lives_is_present(space, pid, of->life))
        return;
    if (process->client != CLIENT_WITHDRAWN || !was_asked(space, process, host)) {
        service_broken(space, host, "a request is forgotten that was not withdrawn");
        return;
    }
    move_client(space, process, CLIENT_IDLE);
    space->calls->withdrawn(space->context, pid);
}

void client_differs(struct dataspace *space, const struct wire_data_differs *of)
{
    if (lives_is_present(space, of->pid, of->life))
        space->calls->differs(space->context, of->pid);
}

void dataspace_restarted(struct dataspace *space, uint32_t pid)
{
    struct process *process = &space->processes[pid];
    const struct dataspace_request *request = &process->request;

    if (process->client == CLIENT_ASKING)
        tags_withdraw(space->tags, request->tag, request->tag_size, pid);
    if (process->client != CLIENT_IDLE)
        move_client(space, process, CLIENT_IDLE);
    process->life++;
    if (process->behind < request->number)
        process->behind = request->number;
}

const struct dataspace_request *dataspace_waits_for(const struct dataspace *space, uint32_t pid)
{
    const struct process *process = &space->processes[pid];

    return process->client == CLIENT_ASKING ? &process->request : NULL;
}

void client_go_on(struct dataspace *space, uint32_t pid)
{
    move_client(space, &space->processes[pid], CLIENT_STORING);
    store(space, pid);
}
