/* client.c - requests of this host's processes; see inside.h. */
#include "bsprun/dataspace/inside.h"

#include <assert.h>
#include <string.h>

/* After which an object is not waited for that another replica is to send. */
#define SILENT_MS   200u

/* Bytes of an object that its process is given before all have come, at least: while it takes them
 * the next ones come, but each time it has to be woken. */
#define GIVEN_LEAST 131072u
#define GIVEN_TIMES 16u

/* What is here of an object that was granted goes into the window of the process, if that waits for
 * it and there is enough. */
static void give_piece(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    uint64_t size = process->size, here = service_least(process->done, size);
    uint64_t least = size / GIVEN_TIMES > GIVEN_LEAST ? size / GIVEN_TIMES : GIVEN_LEAST;
    uint32_t length;

    if (!process->object || process->room == 0 || here < process->given ||
        (here < size && here - process->given < service_least(least, process->room)))
        return;
    length = (uint32_t)service_least(here - process->given, process->room);
    if (length > 0)
        memcpy(process->request.piece, process->object->bytes + process->given, length);
    process->given += length;
    process->room = 0;
    if (process->given == size)
        client_move(space, process, CLIENT_IDLE);
    space->calls->answer(space->context, pid, size, length);
}

/* The object is whole, and granted. */
static void give(struct dataspace *space, uint32_t pid, struct object *object)
{
    struct process *process = service_own(space, pid);

    process->object = object;
    process->size = service_least(object->size, process->request.size);
    process->done = object->size;
    process->answered = process->request.number;
    if (space->replicas) {
        behind_given(space, pid, process->size);
        passing_whole(space, pid, object);
    }
    client_move(space, process, CLIENT_TAKING);
    give_piece(space, pid);
}

/* The object that comes; what the process has of it already came from a host that is lost, or that
 * was silent.  False: no memory, or it is another one; the caller is told. */
static bool begin_object(struct dataspace *space, uint32_t pid, uint32_t host, uint64_t size)
{
    struct process *process = service_own(space, pid);

    if (process->given > 0 && process->size != size) {
        service_broken(space, host, "another object than the one that came in part");
        return false;
    }
    process->size = size;
    return service_begin_object(space, process, pid, size);
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

    if (process->client != CLIENT_ASKING || process->given > 0 || space->part_lost)
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

    return process->client == CLIENT_ASKING && process->given == 0 ? &process->request : NULL;
}

/* ---- What processes do ----------------------------------------------------------------------- */

void client_begin(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (space->replicas)
        replicas_begin(space, pid);
    if (process->request.kind != DATASPACE_PUT) {
        process->room = process->request.length;
        client_move(space, process, CLIENT_ASKING);
        ask(space, pid);
        return;
    }
    process->done = 0;
    client_move(space, process, CLIENT_STORING);
    put_piece(space, pid, &process->request);
}

static void wait_for_piece(struct process *process, const struct dataspace_request *posted)
{
    process->request.piece = posted->piece;
    process->room = posted->length;
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
    case CLIENT_RECEIVING:
    case CLIENT_FETCHING:
    case CLIENT_TAKING:
        wait_for_piece(process, request);
        give_piece(space, pid);
        return;
    case CLIENT_ASKING: /* again, as what it had of the object came from a host that is lost */
        wait_for_piece(process, request);
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
        if (!begin_object(space, grant->pid, host, grant->size))
            return;
        client_move(space, process, CLIENT_RECEIVING);
    }
    if (!fits || !piece_add(process->object, &process->done, &piece)) {
        service_broken(space, host, "a piece of an object that was not asked for");
        return;
    }
    if (piece_is_last(&piece)) {
        give(space, grant->pid, service_take_object(process));
        return;
    }
    if (space->replicas)
        passing_come(space, grant->pid);
    give_piece(space, grant->pid);
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
        else if (process->object)
            give_piece(space, refer->pid);
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
        !begin_object(space, pass->pid, host, pass->size))
        return;
    if (!process->object || !piece_add(process->object, &process->done, &piece)) {
        service_broken(space, host, "a piece of what another replica has got is out of place");
        return;
    }
    process->heard = now(space);
    if (piece_is_last(&piece) && process->client == CLIENT_FETCHING) {
        take_fetched(space, pass->pid);
        return;
    }
    passing_come(space, pass->pid);
    if (process->client == CLIENT_FETCHING)
        give_piece(space, pass->pid);
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
