/* ahead.c - objects that go on to the hosts that will back them while they are still coming; see
 * inside.h.
 *
 * The owner sends each piece that comes of a put to those hosts if there is room, and the rest when
 * the object is whole and copies.h says that it is put: as the remaining pieces of that message.
 * Until then it is no change.  It never is if the process or its host is lost, or if it was put
 * before: the owner says so, in order with the pieces.  If the owner is lost, whoever learns of
 * that drops what has come from it.
 */
#include "bsprun/dataspace/inside.h"

#include <stdlib.h>

/* A process puts one object at a time, to one owner; of its replicas the first that puts it is
 * served. */
struct ahead {
    struct ahead *next;
    uint32_t host;      /* that will back it; or from which it comes, its owner */
    uint32_t pid, from; /* a process, and the host on which it puts */
    struct object *object;
    uint64_t done; /* bytes of it that have gone or come */
};

static struct ahead **find(struct ahead **at, uint32_t host, uint32_t pid)
{
    while (*at && ((*at)->host != host || (*at)->pid != pid))
        at = &(*at)->next;
    return at;
}

/* Takes over the reference; false: no memory, and the caller is told. */
static bool add(struct dataspace *space, struct ahead **to, uint32_t host, uint32_t pid,
                struct object *object)
{
    struct ahead *ahead = malloc(sizeof *ahead);

    if (!ahead) {
        object_drop(object);
        service_no_memory(space, pid, sizeof *ahead);
        return false;
    }
    *ahead = (struct ahead){.next = *to, .host = host, .pid = pid, .object = object};
    *to = ahead;
    return true;
}

static void drop(struct ahead **at)
{
    struct ahead *ahead = *at;

    *at = ahead->next;
    object_drop(ahead->object);
    free(ahead);
}

/* ---- Out ------------------------------------------------------------------------------------- */

/* Those that are to get the object: who puts it has it. */
static uint32_t find_hosts(const struct dataspace *space, const struct copies_request *put,
                           uint32_t hosts[COPIES_MOST])
{
    uint32_t part = copies_part(space->copies, put->tag, put->tag_size), found = 0;
    uint32_t count = copies_backups(space->copies, part, hosts);

    for (uint32_t i = 0; i < count; i++)
        if (hosts[i] != put->asker.host)
            hosts[found++] = hosts[i];
    return found;
}

void ahead_begin(struct dataspace *space, const struct copies_request *put, struct object *object)
{
    uint32_t hosts[COPIES_MOST], pid = put->asker.pid;
    uint32_t count = find_hosts(space, put, hosts);

    if (put->plain || put->repeats || put->asker.number == 0 ||
        chain_begin(space, put, object, hosts, count))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (!*find(&space->ahead_out, hosts[i], pid) &&
            add(space, &space->ahead_out, hosts[i], pid, object_share(object)))
            space->ahead_out->from = put->asker.host;
}

/* What waits for room already goes first. */
static bool has_room(const struct dataspace *space, uint32_t host)
{
    return !space->others[host].first && space->calls->has_room(space->context, host);
}

static void send_pieces(struct dataspace *space, struct ahead *ahead, uint64_t done)
{
    struct wire_message message = {.kind = WIRE_DATA_AHEAD};

    message.data_ahead.pid = ahead->pid;
    message.data_ahead.size = ahead->object->size;
    while (ahead->done < done && has_room(space, ahead->host)) {
        uint64_t length = service_least(done - ahead->done, space->piece);

        message.data_ahead.offset = ahead->done;
        message.data_ahead.data =
            (struct wire_bytes){ahead->object->bytes + ahead->done, (uint32_t)length};
        ahead->done += length;
        service_send(space, ahead->host, &message);
    }
}

void ahead_go_on(struct dataspace *space, uint32_t pid, uint32_t from, uint64_t done)
{
    chain_go_on(space, pid, from, done);
    for (struct ahead *ahead = space->ahead_out; ahead; ahead = ahead->next)
        if (ahead->pid == pid && ahead->from == from)
            send_pieces(space, ahead, done);
}

uint64_t ahead_gone(struct dataspace *space, uint32_t host, const struct copy_message *put)
{
    struct ahead **at = find(&space->ahead_out, host, put->pid);
    uint64_t done;

    if (!*at || put->kind != COPY_PUT || (*at)->object != put->object)
        return 0;
    done = (*at)->done;
    drop(at);
    return done;
}

void ahead_end(struct dataspace *space, uint32_t pid, uint32_t from)
{
    struct wire_message message = {.kind = WIRE_DATA_AHEAD};
    struct ahead **at = &space->ahead_out;

    chain_end(space, pid, from);
    message.data_ahead.pid = pid;
    while (*at) {
        if ((*at)->pid != pid || (*at)->from != from) {
            at = &(*at)->next;
            continue;
        }
        if ((*at)->done > 0)
            service_send(space, (*at)->host, &message);
        drop(at);
    }
}

/* ---- In -------------------------------------------------------------------------------------- */

void ahead_take(struct dataspace *space, uint32_t host, const struct wire_data_ahead *ahead)
{
    struct piece piece = {ahead->size, ahead->offset, ahead->data};
    struct ahead **at = find(&space->ahead_in, host, ahead->pid);
    struct object *object;

    if (ahead->offset == 0 && *at)
        drop(at);
    if (ahead->size == 0)
        return;
    if (ahead->offset == 0 && ahead->pid < space->nprocs) {
        object = object_make(space->pool, ahead->size);
        if (!object) {
            service_no_memory(space, ahead->pid, ahead->size);
            return;
        }
        at = &space->ahead_in;
        if (!add(space, at, host, ahead->pid, object))
            return;
    }
    if (!*at || !piece_add((*at)->object, &(*at)->done, &piece))
        service_broken(space, host, "a piece of an object to be put that is out of place");
}

struct object *ahead_come(struct dataspace *space, uint32_t host, uint32_t pid, uint64_t *done)
{
    struct ahead **at = find(&space->ahead_in, host, pid);
    struct object *object;

    if (!*at)
        return NULL;
    *done = (*at)->done;
    object = object_share((*at)->object);
    drop(at);
    return object;
}

static void forget(struct ahead **at, uint32_t host)
{
    while (*at)
        if ((*at)->host == host)
            drop(at);
        else
            at = &(*at)->next;
}

void ahead_forget(struct dataspace *space, uint32_t host)
{
    forget(&space->ahead_out, host);
    forget(&space->ahead_in, host);
}
