/* client.c - requests of this host's processes; see inside.h. */
#include "bsprun/dataspace/inside.h"

#include <assert.h>
#include <string.h>

/* After which an object is not waited for that another replica is to send. */
#define SILENT_MS 200u

/* The next piece goes into the window of a process of this host. */
static void give_piece(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    uint64_t size = process->size;
    uint32_t length = (uint32_t)service_least(size - process->done, process->request.length);

    if (length > 0)
        memcpy(process->request.piece, process->object->bytes + process->done, length);
    process->done += length;
    if (process->done == size)
        client_move(space, process, CLIENT_IDLE);
    space->calls->answer(space->context, pid, size, length);
}

static void give(struct dataspace *space, uint32_t pid, struct object *object)
{
    struct process *process = service_own(space, pid);

    process->object = object;
    process->size = service_least(object->size, process->request.size);
    process->done = 0;
    process->answered = process->request.number;
    if (space->replicas) {
        behind_given(space, pid, process->size);
        passing_whole(space, pid, object);
    }
    client_move(space, process, CLIENT_TAKING);
    give_piece(space, pid);
}

static void stored(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    put_forget(process, process->request.number);
    process->answered = process->request.number;
    client_move(space, process, CLIENT_IDLE);
    space->calls->answer(space->context, pid, process->request.size, process->request.length);
}

/* Whether an answer is to the present life of a process of this host. */
static bool is_present(const struct dataspace *space, uint32_t pid, uint32_t life)
{
    return service_own(space, pid)->life == life;
}

void client_answered(struct dataspace *space, const struct asker *asker, struct object *object)
{
    if (!is_present(space, asker->pid, asker->life))
        object_drop(object);
    else if (object)
        give(space, asker->pid, object);
    else
        stored(space, asker->pid);
}

/* ---- Gets and reads -------------------------------------------------------------------------- */

static void ask(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    const struct dataspace_request *request = &process->request;
    bool removes = request->kind == DATASPACE_GET;
    struct wire_message message = {.kind = WIRE_DATA_ASK};

    process->asked = dataspace_owner(space, request->tag, request->tag_size);
    if (process->asked == space->host) {
        copies_ask(space->copies, client_request(space, pid), removes);
        return;
    }
    message.data_ask.pid = pid;
    message.data_ask.life = process->life;
    message.data_ask.request = request->number;
    message.data_ask.repeats = service_repeats(process);
    message.data_ask.plain = request->plain;
    message.data_ask.tag = (struct wire_bytes){request->tag, request->tag_size};
    message.data_ask.removes = removes;
    message.data_ask.room = request->size;
    replicas_announce(space, pid);
    service_send(space, process->asked, &message);
    if (space->replicas)
        passing_fetch_early(space, pid);
}

/* Who is asked has granted it if it cannot be withdrawn. */
static void withdraw(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    const struct dataspace_request *request = &process->request;
    struct wire_message message = {.kind = WIRE_DATA_WITHDRAW};

    if (process->asked == space->host) {
        if (!copies_withdraw(space->copies, client_request(space, pid)))
            return;
        client_move(space, process, CLIENT_IDLE);
        space->calls->withdrawn(space->context, pid);
        return;
    }
    message.data_withdraw.pid = pid;
    message.data_withdraw.life = process->life;
    message.data_withdraw.tag = (struct wire_bytes){request->tag, request->tag_size};
    service_send(space, process->asked, &message);
}

static void withdraw_request(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (process->client != CLIENT_ASKING || space->part_lost)
        return;
    client_move(space, process, CLIENT_WITHDRAWN);
    withdraw(space, pid);
}

void dataspace_withdraw(struct dataspace *space, uint32_t pid)
{
    service_check(space);
    withdraw_request(space, pid);
    service_check(space);
}

const struct dataspace_request *dataspace_waits_for(const struct dataspace *space, uint32_t pid)
{
    const struct process *process = service_own(space, pid);

    return process->client == CLIENT_ASKING ? &process->request : NULL;
}

/* ---- What processes do ----------------------------------------------------------------------- */

void client_begin(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (space->replicas)
        replicas_begin(space, pid);
    if (process->request.kind != DATASPACE_PUT) {
        client_move(space, process, CLIENT_ASKING);
        ask(space, pid);
        return;
    }
    process->done = 0;
    client_move(space, process, CLIENT_STORING);
    put_piece(space, pid, &process->request);
}

static void take_posted(struct dataspace *space, uint32_t pid,
                        const struct dataspace_request *request)
{
    struct process *process = service_own(space, pid);

    assert(pid < space->nprocs && process->home == space->host);
    if (space->part_lost)
        return;
    switch (process->client) {
    case CLIENT_IDLE:
        process->request = *request;
        process->request.plain &= !space->replicas;
        if (process->missing > 0 || halt_holds(space, pid))
            client_move(space, process, CLIENT_HELD);
        else
            client_begin(space, pid);
        if (space->replicas) {
            halt_withdraw(space, pid);
            behind_watch(space);
        }
        return;
    case CLIENT_STORING:
        put_piece(space, pid, request);
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

void dataspace_posted(struct dataspace *space, uint32_t pid,
                      const struct dataspace_request *request)
{
    service_check(space);
    take_posted(space, pid, request);
    service_check(space);
}

static void again(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (process->request.plain) { /* it has no number by which it would be known again */
        if (process->client != CLIENT_IDLE && process->client != CLIENT_TAKING)
            space->calls->differs(space->context, pid);
        return;
    }
    if (space->replicas)
        passing_fetch_no_more(space, pid);
    switch (process->client) {
    case CLIENT_STORING:
    case CLIENT_SENDING:
    case CLIENT_SENT:
        put_again(space, pid);
        return;
    case CLIENT_FETCHING:
    case CLIENT_RECEIVING: /* the next owner grants it the same object */
        object_drop(service_take_object(process));
        client_move(space, process, CLIENT_ASKING);
        ask(space, pid);
        return;
    case CLIENT_ASKING:
        ask(space, pid);
        return;
    case CLIENT_WITHDRAWN: /* it may have been granted */
        ask(space, pid);
        if (process->client == CLIENT_WITHDRAWN)
            withdraw(space, pid);
        return;
    default:
        return;
    }
}

void client_losses(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    bool fetches = process->client == CLIENT_FETCHING;

    if (space->replicas && process->from != NOWHERE && space->others[process->from].lost)
        passing_fetch_no_more(space, pid);
    if (space->others[process->asked].lost || (fetches && process->from == NOWHERE))
        again(space, pid);
}

/* ---- What other hosts answer ----------------------------------------------------------------- */

void client_stored(struct dataspace *space, uint32_t host, const struct wire_data_stored *of)
{
    const struct process *process = service_own(space, of->pid);

    if (!is_present(space, of->pid, of->life))
        return;
    if (process->client != CLIENT_SENT || process->asked != host)
        service_broken(space, host, "an answer to a put that there is none of");
    else
        stored(space, of->pid);
}

void client_granted(struct dataspace *space, uint32_t host, const struct wire_data_grant *grant)
{
    struct process *process = service_own(space, grant->pid);
    struct piece piece = {grant->size, grant->offset, grant->data};
    bool begins = process->client == CLIENT_ASKING || process->client == CLIENT_WITHDRAWN;
    bool fits = (begins || process->client == CLIENT_RECEIVING) && process->asked == host &&
                grant->size <= process->request.size;

    if (!is_present(space, grant->pid, grant->life))
        return;
    if (fits && begins) {
        if (space->replicas) {
            passing_fetch_no_more(space, grant->pid);
            process->source = NOWHERE;
        }
        if (!service_begin_object(space, process, grant->pid, grant->size))
            return;
        client_move(space, process, CLIENT_RECEIVING);
    }
    if (!fits || !piece_add(process->object, &process->done, &piece)) {
        service_broken(space, host, "a piece of an object that was not asked for");
        return;
    }
    if (piece_is_last(&piece))
        give(space, grant->pid, service_take_object(process));
    else if (space->replicas)
        passing_come(space, grant->pid);
}

/* ---- What comes from another replica --------------------------------------------------------- */

static uint64_t now(const struct dataspace *space)
{
    return space->calls->now_ms ? space->calls->now_ms(space->context) : 0;
}

static bool is_asking(const struct process *process)
{
    return process->client == CLIENT_ASKING || process->client == CLIENT_WITHDRAWN;
}

/* The object is here, and the owner has granted it. */
static void take_fetched(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    process->source = process->from;
    process->from = NOWHERE;
    give(space, pid, service_take_object(process));
}

void client_referred(struct dataspace *space, uint32_t host, const struct wire_data_refer *refer)
{
    struct process *process = service_own(space, refer->pid);

    if (!space->replicas || refer->from >= space->hosts || refer->from == space->host ||
        !service_has(space, refer->pid, refer->from) || process->asked != host ||
        !is_asking(process)) {
        service_broken(space, host, "a replica is referred to another one without need");
        return;
    }
    client_move(space, process, CLIENT_FETCHING);
    process->heard = now(space);
    if (process->from == refer->from) {
        if (process->object && process->done == process->object->size)
            take_fetched(space, refer->pid);
        return;
    }
    passing_fetch_no_more(space, refer->pid);
    if (space->others[refer->from].lost)
        again(space, refer->pid);
    else
        passing_fetch(space, refer->pid, refer->from);
}

/* The host has not got what is fetched, or not any more. */
static void is_not_there(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    process->source = NOWHERE;
    if (process->client == CLIENT_FETCHING)
        again(space, pid);
    else
        passing_fetch_no_more(space, pid);
}

void client_passed(struct dataspace *space, uint32_t host, const struct wire_data_pass *pass)
{
    struct process *process = service_own(space, pass->pid);
    struct piece piece = {pass->size, pass->offset, pass->data};

    if (!space->replicas || process->from != host || process->fetch != pass->round)
        return; /* it has been got in another way since */
    if (!pass->here) {
        is_not_there(space, pass->pid);
        return;
    }
    if (!process->object && pass->size <= process->request.size &&
        !service_begin_object(space, process, pass->pid, pass->size))
        return;
    if (!process->object || !piece_add(process->object, &process->done, &piece)) {
        service_broken(space, host, "a piece of what another replica has got is out of place");
        return;
    }
    process->heard = now(space);
    if (piece_is_last(&piece) && process->client == CLIENT_FETCHING)
        take_fetched(space, pass->pid);
    else
        passing_come(space, pass->pid);
}

void client_go_on(struct dataspace *space, uint32_t pid)
{
    if (space->calls->now_ms && now(space) >= service_own(space, pid)->heard + SILENT_MS)
        again(space, pid);
}

void client_withdrawn(struct dataspace *space, uint32_t host, const struct wire_data_withdrawn *of)
{
    struct process *process = service_own(space, of->pid);

    if (!is_present(space, of->pid, of->life))
        return;
    if (process->client != CLIENT_WITHDRAWN || process->asked != host) {
        service_broken(space, host, "a request is forgotten that was not withdrawn");
        return;
    }
    if (space->replicas)
        passing_fetch_no_more(space, of->pid);
    client_move(space, process, CLIENT_IDLE);
    space->calls->withdrawn(space->context, of->pid);
}

void client_differs(struct dataspace *space, const struct wire_data_differs *of)
{
    if (is_present(space, of->pid, of->life))
        space->calls->differs(space->context, of->pid);
}
