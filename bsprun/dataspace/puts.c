/* puts.c - objects that processes of this host put, on their way to the owner; see inside.h.
 *
 * Each piece goes as it is posted, if the owner is another host.  Where the loss of a host is borne
 * the object is kept until it is stored, too, as it has to be put again if its owner is lost.  An
 * owner that this host backs does not send it back: the copy is what is kept.  It is kept also if
 * the process is restarted meanwhile, until it has put the object again: by then what the owner
 * says of the first time has come.
 */
#include "bsprun/dataspace/inside.h"

#include <string.h>

/* Bytes that go to an owner at a time which sends them on. */
#define PIECE 65536u

/* The posted piece is the last one of its object. */
static bool is_whole(const struct process *process)
{
    return process->done + process->request.length == process->request.size;
}

static void fill(const struct process *process, uint32_t pid, struct wire_message *message)
{
    message->data_put.pid = pid;
    message->data_put.life = process->life;
    message->data_put.request = process->request.number;
    message->data_put.repeats = service_repeats(process);
    message->data_put.plain = process->request.plain;
    message->data_put.size = process->request.size;
}

/* Sends pieces of the object, of which `until` bytes are here, while there is room; the tag goes
 * with the first one and the last.  Whether all have gone. */
static bool send_pieces(struct dataspace *space, uint32_t pid, uint64_t until)
{
    struct process *process = service_own(space, pid);
    const struct dataspace_request *request = &process->request;
    bool more = process->gone < until || until == 0;

    while (more && space->calls->has_room(space->context, process->asked)) {
        uint64_t length = service_least(until - process->gone, service_least(space->piece, PIECE));
        struct wire_message message = {.kind = WIRE_DATA_PUT};

        fill(process, pid, &message);
        message.data_put.offset = process->gone;
        message.data_put.data =
            (struct wire_bytes){process->object->bytes + process->gone, (uint32_t)length};
        process->gone += length;
        more = process->gone < until;
        if (message.data_put.offset == 0 || process->gone == request->size)
            message.data_put.tag = (struct wire_bytes){request->tag, request->tag_size};
        service_send(space, process->asked, &message);
    }
    return !more;
}

/* An object of an earlier life and a larger number stays: this one was stored then. */
static void keep(struct process *process)
{
    if (process->request.number == 0 ||
        (process->put && process->put_number > process->request.number))
        return;
    object_drop(process->put);
    process->put = object_share(process->object);
    process->put_number = process->request.number;
}

struct object *put_kept(const struct process *process, uint64_t number)
{
    return process->put && process->put_number == number ? process->put : NULL;
}

void put_forget(struct process *process, uint64_t number)
{
    if (!process->put || process->put_number > number)
        return;
    object_drop(process->put);
    process->put = NULL;
}

/* So many bytes of the object are here, and not all. */
static void send_on(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (process->asked == space->host)
        ahead_go_on(space, pid, space->host, process->done);
    else if (!turns_offers(space, pid))
        send_pieces(space, pid, process->done);
}

/* Once it is answered, the process may write another tag into its window. */
static void put_here(struct dataspace *space, uint32_t pid)
{
    struct copies_request request = client_request(space, pid);
    unsigned char tag[WIRE_TAG_MAX];

    if (request.tag_size > 0)
        memcpy(tag, request.tag, request.tag_size);
    request.tag = tag;
    if (copies_put(space->copies, request, service_take_object(service_own(space, pid))))
        turns_stored(space, &request);
}

static void send_whole(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (process->asked != space->host) {
        keep(process);
        if (turns_offers(space, pid)) {
            client_move(space, process, CLIENT_SENT);
            turns_offer(space, pid);
            return;
        }
        client_move(space, process, CLIENT_SENDING);
        replicas_announce(space, pid);
        put_go_on(space, pid);
        return;
    }
    client_move(space, process, CLIENT_SENT);
    if (space->replicas)
        put_here(space, pid);
    else
        copies_put(space->copies, client_request(space, pid), service_take_object(process));
    ahead_end(space, pid, space->host);
}

/* To the owner of the moment, of which nothing is known yet. */
static void begin(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    struct copies_request request = client_request(space, pid);

    process->asked = dataspace_owner(space, request.tag, request.tag_size);
    process->gone = 0;
    if (process->asked == space->host && process->done < process->request.size)
        ahead_begin(space, &request, process->object);
}

void put_again(struct dataspace *space, uint32_t pid)
{
    begin(space, pid);
    if (service_own(space, pid)->client == CLIENT_STORING)
        send_on(space, pid);
    else
        send_whole(space, pid);
}

void put_invited(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (process->client != CLIENT_SENT || process->request.kind != DATASPACE_PUT ||
        process->asked == space->host || process->gone > 0)
        return; /* it has been sent since, to another owner */
    client_move(space, process, CLIENT_SENDING);
    replicas_announce(space, pid);
    put_go_on(space, pid);
}

void put_drop(struct dataspace *space, uint32_t pid, enum client_state was)
{
    const struct process *process = service_own(space, pid);
    struct wire_message message = {.kind = WIRE_DATA_WITHDRAW};

    if (was != CLIENT_STORING && was != CLIENT_STALLED && was != CLIENT_SENDING)
        return;
    ahead_end(space, pid, space->host);
    if (process->asked == space->host || space->others[process->asked].lost)
        return;
    message.data_withdraw.pid = pid;
    message.data_withdraw.life = process->life;
    service_send(space, process->asked, &message);
}

static void collect(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    const struct dataspace_request *request = &process->request;
    bool whole = is_whole(process), first = !process->object;

    if (first && !service_begin_object(space, process, pid, request->size))
        return;
    memcpy(process->object->bytes + process->done, request->piece, request->length);
    if (space->replicas) {
        replicas_add(space, pid, request->piece, request->length);
        turns_defer(space, pid, request->number);
    }
    process->done += request->length;
    if (first)
        begin(space, pid);
    if (whole) {
        send_whole(space, pid);
        return;
    }
    send_on(space, pid);
    space->calls->answer(space->context, pid, request->size, request->length);
}

static void pass_on(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);
    const struct dataspace_request *request = &process->request;
    struct wire_message message = {.kind = WIRE_DATA_PUT};
    bool whole = is_whole(process);

    process->asked = dataspace_owner(space, request->tag, request->tag_size);
    if (!space->calls->has_room(space->context, process->asked)) {
        client_move(space, process, CLIENT_STALLED);
        return;
    }
    fill(process, pid, &message);
    message.data_put.offset = process->done;
    if (whole)
        message.data_put.tag = (struct wire_bytes){request->tag, request->tag_size};
    message.data_put.data = (struct wire_bytes){request->piece, request->length};
    process->done += request->length;
    service_send(space, process->asked, &message);
    if (whole)
        client_move(space, process, CLIENT_SENT);
    else
        space->calls->answer(space->context, pid, request->size, request->length);
}

static void store(struct dataspace *space, uint32_t pid)
{
    const struct dataspace_request *request = &service_own(space, pid)->request;

    if ((space->copied && !request->plain) || space->replicas ||
        dataspace_owner(space, request->tag, request->tag_size) == space->host)
        collect(space, pid);
    else
        pass_on(space, pid);
}

void put_piece(struct dataspace *space, uint32_t pid, const struct dataspace_request *posted)
{
    struct process *process = service_own(space, pid);

    process->request.piece = posted->piece;
    process->request.length =
        (uint32_t)service_least(posted->length, process->request.size - process->done);
    store(space, pid);
}

void put_go_on(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (process->client == CLIENT_SENDING) {
        if (send_pieces(space, pid, process->request.size))
            client_move(space, process, CLIENT_SENT);
        return;
    }
    client_move(space, process, CLIENT_STORING);
    store(space, pid);
}
