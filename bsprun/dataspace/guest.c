/* guest.c - requests of processes of other hosts for the tags of this one; see inside.h. */
#include "bsprun/dataspace/inside.h"

/* Sends pieces to a process of another host while there is room.  One of no bytes has one piece,
 * too. */
static void send_pieces(struct dataspace *space, struct process *process, uint32_t pid)
{
    struct wire_message message = {.kind = WIRE_DATA_GRANT};
    uint64_t most = space->replicas ? service_passed_on(space, process->size) : space->piece;
    bool more = true;

    message.data_grant.pid = pid;
    message.data_grant.life = process->life;
    message.data_grant.size = process->size;
    while (more && space->calls->has_room(space->context, process->home)) {
        uint64_t length = service_least(process->size - process->done, most);

        message.data_grant.offset = process->done;
        message.data_grant.data =
            (struct wire_bytes){process->object->bytes + process->done, (uint32_t)length};
        service_send(space, process->home, &message);
        process->done += length;
        more = process->done < process->size;
    }
    if (!more)
        guest_move(space, process, GUEST_IDLE);
}

static void refer(struct dataspace *space, const struct process *process, uint32_t from)
{
    struct wire_message message = {.kind = WIRE_DATA_REFER};

    message.data_refer.pid = service_pid(space, process);
    message.data_refer.from = from;
    service_send(space, process->home, &message);
}

/* The process gets its object, or is referred to another host, or waits for what other replicas do.
 * Whether it still waits. */
static bool grant(struct dataspace *space, uint32_t seat)
{
    struct process *process = &space->processes[seat];
    uint32_t from;

    switch (space->replicas ? passing_way(space, seat, &from) : PASSING_SENT) {
    case PASSING_DEFERRED:
        if (process->guest != GUEST_DEFERRED)
            guest_move(space, process, GUEST_DEFERRED);
        return true;
    case PASSING_REFERRED:
        refer(space, process, from);
        guest_move(space, process, GUEST_IDLE);
        return false;
    default:
        guest_move(space, process, GUEST_GRANTING);
        send_pieces(space, process, seat / space->most);
        return false;
    }
}

/* Those that wait for others wait for such as have smaller seats. */
static void grant_deferred(struct dataspace *space, uint32_t pid)
{
    for (uint32_t seat = pid * space->most; seat < (pid + 1) * space->most; seat++)
        if (space->processes[seat].guest == GUEST_DEFERRED)
            grant(space, seat);
}

void guest_answered(struct dataspace *space, const struct asker *to, struct object *object)
{
    uint32_t seat = service_seat(space, to->pid, to->host);
    struct process *process = &space->processes[seat];
    struct wire_message stored = {.kind = WIRE_DATA_STORED};

    if (!object) {
        stored.data_stored.pid = to->pid;
        stored.data_stored.life = to->life;
        service_send(space, to->host, &stored);
        return;
    }
    if (process->guest != GUEST_WAITING || process->life != to->life) {
        object_drop(object); /* it is in the log for the next life */
        return;
    }
    process->object = object;
    process->size = service_least(object->size, to->room);
    process->done = 0;
    if (space->replicas)
        passing_granted(space, seat, to->number);
    if (!grant(space, seat) && space->replicas)
        grant_deferred(space, to->pid);
}

void guest_go_on(struct dataspace *space, uint32_t seat)
{
    struct process *process = &space->processes[seat];

    if (process->guest == GUEST_GRANTING)
        send_pieces(space, process, seat / space->most);
    else if (!grant(space, seat))
        grant_deferred(space, seat / space->most);
}

void guest_forget(struct dataspace *space, struct process *process)
{
    if (process->guest == GUEST_STORING)
        ahead_end(space, service_pid(space, process), process->home);
    if (process->guest != GUEST_IDLE)
        guest_move(space, process, GUEST_IDLE);
}

/* A message is about that life of the process: forgets what belongs to earlier ones.  False: it is
 * an earlier one itself. */
static bool is_current(struct dataspace *space, struct process *process, uint32_t life)
{
    if (life > process->life) {
        process->life = life;
        guest_forget(space, process);
    }
    return life == process->life;
}

void guest_put(struct dataspace *space, uint32_t host, const struct wire_data_put *put)
{
    struct process *process = service_guest(space, put->pid, host);
    struct piece piece = {put->size, put->offset, put->data};
    struct copies_request request = {.asker = {.host = host,
                                               .pid = put->pid,
                                               .life = put->life,
                                               .number = put->request,
                                               .what = replicas_what(space, put->pid, host)},
                                     .repeats = put->repeats,
                                     .plain = put->plain,
                                     .tag = put->tag.data,
                                     .tag_size = put->tag.size};
    struct object *object;
    bool took_effect;

    if (!is_current(space, process, put->life))
        return;
    if (space->replicas)
        behind_reached(space, put->pid, host, put->request);
    if (put->offset == 0 && (process->guest == GUEST_IDLE || process->guest == GUEST_INVITED)) {
        if (!service_begin_object(space, process, put->pid, put->size))
            return;
        guest_move(space, process, GUEST_STORING);
    }
    if (process->guest != GUEST_STORING || !piece_add(process->object, &process->done, &piece)) {
        service_broken(space, host, "a piece of an object that is out of place");
        return;
    }
    if (space->replicas)
        turns_defer(space, put->pid, put->request);
    if (!piece_is_last(&piece)) {
        if (put->offset == 0)
            ahead_begin(space, &request, process->object);
        ahead_go_on(space, put->pid, host, process->done);
        return;
    }
    if (dataspace_owner(space, put->tag.data, put->tag.size) != space->host) {
        service_broken(space, host, "an object for a tag of another host");
        return;
    }
    object = service_take_object(process);
    guest_move(space, process, GUEST_IDLE);
    took_effect = copies_put(space->copies, request, object);
    ahead_end(space, put->pid, host);
    if (space->replicas && took_effect)
        turns_stored(space, &request);
    else if (space->replicas)
        turns_late(space, host, &request, put->size);
}

void guest_ask(struct dataspace *space, uint32_t host, const struct wire_data_ask *ask)
{
    struct process *process = service_guest(space, ask->pid, host);
    struct copies_request request = {.asker = {.host = host,
                                               .pid = ask->pid,
                                               .room = ask->room,
                                               .life = ask->life,
                                               .number = ask->request,
                                               .what = replicas_what(space, ask->pid, host)},
                                     .repeats = ask->repeats,
                                     .plain = ask->plain,
                                     .tag = ask->tag.data,
                                     .tag_size = ask->tag.size};

    if (!is_current(space, process, ask->life))
        return;
    if (space->replicas)
        behind_reached(space, ask->pid, host, ask->request);
    if (process->guest != GUEST_IDLE) {
        service_broken(space, host, "a second request of a process");
    } else if (dataspace_owner(space, ask->tag.data, ask->tag.size) != space->host) {
        service_broken(space, host, "a request for a tag of another host");
    } else {
        guest_move(space, process, GUEST_WAITING);
        copies_ask(space->copies, request, ask->removes);
    }
}

/* What is not granted yet is forgotten; else the grant is on its way. */
void guest_withdraw(struct dataspace *space, uint32_t host, const struct wire_data_withdraw *of)
{
    struct process *process = service_guest(space, of->pid, host);
    struct wire_message withdrawn = {.kind = WIRE_DATA_WITHDRAWN};
    struct copies_request request = {.asker = {.host = host, .pid = of->pid, .life = of->life},
                                     .tag = of->tag.data,
                                     .tag_size = of->tag.size};

    if (!is_current(space, process, of->life) || process->guest != GUEST_WAITING)
        return;
    if (dataspace_owner(space, of->tag.data, of->tag.size) != space->host) {
        service_broken(space, host, "a request for a tag of another host is withdrawn");
        return;
    }
    if (!copies_withdraw(space->copies, request)) {
        if (!space->copied)
            service_broken(space, host, "a request for another tag is withdrawn");
        return; /* it is granted, and on its way to the copies */
    }
    guest_forget(space, process);
    withdrawn.data_withdrawn.pid = of->pid;
    withdrawn.data_withdrawn.life = of->life;
    service_send(space, host, &withdrawn);
}
