/* copying.c - what copies.h says to other hosts, and hears from them; see inside.h.
 *
 * The news of a loss, and that changes are made, goes out at once.  The rest keeps its order, and
 * waits for room: as references to objects, not as bytes of messages.  That the news overtakes it
 * does no harm: who owned a part still owns it, and who backed it does.
 */
#include "bsprun/dataspace/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)COPY_KEPT == (int)WIRE_COPY_LAST, "the kinds of the messages");

struct outgoing {
    struct outgoing *next;
    struct copy_message message; /* with a reference to the object */
    uint64_t done;               /* bytes of it that have gone */
    uint32_t round;              /* of the chain by which it goes; 0: of none */
    unsigned char tag[];
};

/* ---- Out ------------------------------------------------------------------------------------- */

/* Sends pieces from *done on while there is room, or the change alone when the object has come by
 * that chain; returns whether all have gone. */
static bool send_pieces(struct dataspace *space, uint32_t host, const struct copy_message *from,
                        uint64_t *done, uint32_t round)
{
    const struct object *object = round > 0 ? NULL : from->object;
    struct wire_message message = {.kind = WIRE_DATA_COPY};
    struct wire_data_copy *copy = &message.data_copy;
    bool more = true;

    copy->kind = from->kind;
    copy->part = from->part;
    copy->pid = from->pid;
    copy->change = from->change;
    copy->number = from->number;
    copy->what = from->what;
    copy->removes = from->removes;
    copy->same = from->same;
    copy->round = round;
    copy->has_object = object != NULL;
    copy->size = object ? object->size : 0;
    if (round > 0 && !chain_is_there(space, host, round))
        return false;
    while (more && space->calls->has_room(space->context, host)) {
        copy->offset = *done;
        if (object) {
            copy->data.size = (uint32_t)service_least(object->size - *done, space->piece);
            copy->data.data = object->bytes + *done;
        }
        *done += copy->data.size;
        more = *done < copy->size;
        if (!more)
            copy->tag = (struct wire_bytes){from->tag, from->tag_size};
        space->calls->send(space->context, host, &message);
    }
    if (round > 0 && !more)
        chain_told(space, host, round);
    return !more;
}

/* Takes over nothing. */
static void queue(struct dataspace *space, uint32_t host, const struct copy_message *message,
                  uint64_t done, uint32_t round)
{
    struct other *other = &space->others[host];
    struct outgoing *outgoing = malloc(sizeof *outgoing + message->tag_size);

    if (!outgoing) {
        service_no_memory(space, message->pid, sizeof *outgoing);
        return;
    }
    *outgoing = (struct outgoing){NULL, *message, done, round};
    if (message->tag_size > 0)
        memcpy(outgoing->tag, message->tag, message->tag_size);
    outgoing->message.tag = outgoing->tag;
    if (message->object)
        object_share(message->object);
    space->stalled += !other->first;
    *(other->first ? other->last : &other->first) = outgoing;
    other->last = &outgoing->next;
}

/* Who has put the object has it. */
static bool is_there(const struct dataspace *space, uint32_t host,
                     const struct copy_message *message)
{
    return message->kind == COPY_PUT && message->number > 0 &&
           service_has(space, message->pid, host) &&
           (!space->replicas || replicas_asker(space, message->pid, message->what) == host ||
            turns_has(space, message->pid, host, message->number, message->what));
}

void copying_send(struct dataspace *space, uint32_t host, const struct copy_message *message)
{
    struct wire_message direct = {.kind = WIRE_DATA_LOST};
    struct copy_message without = *message;
    struct other *other = &space->others[host];
    uint32_t round;
    uint64_t done;

    if (is_there(space, host, message)) {
        without.object = NULL;
        message = &without;
    }
    switch (message->kind) {
    case COPY_LOST:
        direct.data_lost.host = message->part; /* not counted: who says so may have no processes */
        space->calls->send(space->context, host, &direct);
        return;
    case COPY_DONE:
        direct.kind = WIRE_DATA_COPIED;
        direct.data_copied.part = message->part;
        direct.data_copied.change = message->change;
        service_send(space, host, &direct);
        return;
    default:
        round = chain_put(space, host, message);
        done = round > 0 ? 0 : ahead_gone(space, host, message);
        other->traffic.sent++; /* also while it waits: it is on its way */
        if (other->first || !send_pieces(space, host, message, &done, round))
            queue(space, host, message, done, round);
    }
}

static void drop_first(struct dataspace *space, struct other *other)
{
    struct outgoing *outgoing = other->first;

    other->first = outgoing->next;
    space->stalled -= !other->first;
    object_drop(outgoing->message.object);
    free(outgoing);
}

void copying_go_on(struct dataspace *space, uint32_t host)
{
    struct other *other = &space->others[host];

    while (other->first && send_pieces(space, host, &other->first->message, &other->first->done,
                                       other->first->round))
        drop_first(space, other);
}

void copying_unchain(struct dataspace *space)
{
    for (uint32_t host = 0; host < space->hosts; host++)
        for (struct outgoing *of = space->others[host].first; of; of = of->next)
            of->round = 0;
}

void copying_forget(struct dataspace *space, uint32_t host)
{
    struct other *other = &space->others[host];

    ahead_forget(space, host);
    while (other->first)
        drop_first(space, other);
    object_drop(other->coming);
    other->coming = NULL;
}

/* ---- In -------------------------------------------------------------------------------------- */

/* A piece of what is not to be kept.  The object counts as a message that has come, with its last
 * piece. */
static void skip(struct other *other, const struct wire_data_copy *copy)
{
    struct piece piece = {copy->size, copy->offset, copy->data};

    object_drop(other->coming);
    other->coming = NULL;
    other->traffic.received += piece_is_last(&piece);
}

/* Without room for what is to be kept a snapshot fails, but no request. */
static void say_no_room(struct dataspace *space, struct other *other,
                        const struct wire_data_copy *copy)
{
    if (copy->kind != COPY_KEPT) {
        service_no_memory(space, copy->pid, copy->size);
        return;
    }
    gather_refuse(space, copy->number);
    skip(other, copy);
}

/* Whether the object of the message is whole; what is wrong is told. */
static bool collect(struct dataspace *space, uint32_t host, const struct wire_data_copy *copy)
{
    struct other *other = &space->others[host];
    struct piece piece = {copy->size, copy->offset, copy->data};

    if (copy->offset > 0 && !other->coming && copy->kind == COPY_PUT) {
        other->coming = ahead_come(space, host, copy->pid, &other->come);
    } else if (copy->offset == 0 && !other->coming) {
        other->come = 0;
        other->coming = object_make(space->pool, copy->size);
        if (!other->coming) {
            say_no_room(space, other, copy);
            return false;
        }
    }
    if (!other->coming || !piece_add(other->coming, &other->come, &piece)) {
        service_broken(space, host, "a piece of a copy that is out of place");
        return false;
    }
    return piece_is_last(&piece);
}

void copying_take(struct dataspace *space, uint32_t host, const struct wire_data_copy *copy)
{
    struct other *other = &space->others[host];
    struct copy_message message = {.kind = (enum copy_kind)copy->kind,
                                   .part = copy->part,
                                   .pid = copy->pid,
                                   .change = copy->change,
                                   .number = copy->number,
                                   .what = copy->what,
                                   .removes = copy->removes,
                                   .same = copy->same,
                                   .tag = copy->tag.data,
                                   .tag_size = copy->tag.size};

    if (message.kind == COPY_LOST || (!copy->has_object && other->coming)) {
        service_broken(space, host, "a copy that is out of place");
        return;
    }
    if (copy->has_object && copy->kind == COPY_KEPT && !gather_wants(space, copy->number)) {
        skip(other, copy);
        return;
    }
    if (copy->has_object && !collect(space, host, copy))
        return;
    message.object = other->coming;
    other->coming = NULL;
    if (copy->round > 0) {
        message.object = chain_object(space, host, copy->round);
        if (message.kind != COPY_PUT || copy->has_object || !message.object) {
            object_drop(message.object);
            service_broken(space, host, "a copy of what has not come");
            return;
        }
    } else if (message.kind == COPY_PUT && !copy->has_object && copy->pid < space->nprocs) {
        message.object = put_kept(service_own(space, copy->pid), copy->number);
        if (message.object)
            object_share(message.object);
    }
    other->traffic.received++;
    if (message.kind == COPY_KEPT)
        gather_take(space, host, &message);
    else
        copies_message(space->copies, host, &message);
    object_drop(message.object);
}
