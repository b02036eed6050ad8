/* turns.c - which replica of a process sends a large object that all of them put; see inside.h.
 *
 * The one whose turn it is sends what it puts at once.  The others only say that they have it, and
 * are told when it is stored.  If nothing comes of an object for a while that one of them has
 * offered, it is its turn, now and from then on.  Who has sent what had been stored before has lost
 * its turn.  If two have it for a moment, an object is sent twice; if none has, it is sent late.
 */
#include "bsprun/dataspace/inside.h"

#define TURN_MS 20u

static struct replica *at(const struct dataspace *space, uint32_t pid, uint32_t host)
{
    return &space->replicas[service_seat(space, pid, host)];
}

static uint64_t now(const struct dataspace *space)
{
    return space->calls->now_ms ? space->calls->now_ms(space->context) : 0;
}

/* ---- Where the process is -------------------------------------------------------------------- */

bool turns_offers(const struct dataspace *space, uint32_t pid)
{
    const struct process *process = service_own(space, pid);

    return space->replicas && process->request.number > 0 &&
           process->request.size >= space->large && process->gone == 0 &&
           at(space, pid, space->host)->turn == TURN_OFFERS;
}

void turns_offer(struct dataspace *space, uint32_t pid)
{
    const struct process *process = service_own(space, pid);
    struct wire_message message = {.kind = WIRE_DATA_OFFER};

    message.data_offer.pid = pid;
    message.data_offer.request = process->request.number;
    message.data_offer.what = replicas_what(space, pid, space->host);
    message.data_offer.tag = (struct wire_bytes){process->request.tag, process->request.tag_size};
    service_send(space, process->asked, &message);
}

bool turns_take(struct dataspace *space, uint32_t host, const struct wire_data_turn *turn)
{
    if (!space->replicas) {
        service_broken(space, host, "a turn of a replica, of which there are none");
        return false;
    }
    at(space, turn->pid, space->host)->turn = turn->sends ? TURN_SENDS : TURN_OFFERS;
    return turn->sends && service_own(space, turn->pid)->asked == host;
}

/* ---- Where the tag is ------------------------------------------------------------------------ */

static void tell(struct dataspace *space, uint32_t pid, uint32_t host, bool sends)
{
    struct wire_message message = {.kind = WIRE_DATA_TURN};

    message.data_turn.pid = pid;
    message.data_turn.sends = sends;
    service_send(space, host, &message);
}

/* Whether another one could send it. */
static bool has_others(const struct dataspace *space, uint32_t pid)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < space->most; n++) {
        uint32_t home = space->processes[pid * space->most + n].home;

        count += home < space->hosts && !space->others[home].lost;
    }
    return count > 1;
}

void turns_go_on(struct dataspace *space, uint32_t seat)
{
    struct process *process = &space->processes[seat];
    const struct replica *replica = &space->replicas[seat];
    uint32_t pid = service_pid(space, process);

    if (space->calls->now_ms && has_others(space, pid) && now(space) < replica->deferred + TURN_MS)
        return;
    guest_move(space, process, GUEST_INVITED);
    tell(space, pid, process->home, true);
    turns_defer(space, pid, replica->offered);
}

void turns_offered(struct dataspace *space, uint32_t host, const struct wire_data_offer *offer)
{
    struct copies_request request = {
        .asker = {.host = host, .pid = offer->pid, .number = offer->request, .what = offer->what},
        .tag = offer->tag.data,
        .tag_size = offer->tag.size};
    struct process *process = service_guest(space, offer->pid, host);
    struct replica *replica;

    if (!space->replicas || (offer->what & WHAT_PLACE) != space->places[host] ||
        offer->request == 0 || process->guest != GUEST_IDLE) {
        service_broken(space, host, "an offer of no replica");
        return;
    }
    if (dataspace_owner(space, offer->tag.data, offer->tag.size) != space->host) {
        service_broken(space, host, "an offer for a tag of another host");
        return;
    }
    behind_reached(space, offer->pid, host, offer->request);
    if (!copies_put_is_new(space->copies, request))
        return;
    replica = at(space, offer->pid, host);
    replica->what = offer->what;
    replica->offered = offer->request;
    replica->deferred = now(space);
    guest_move(space, process, GUEST_OFFERED);
    turns_go_on(space, service_seat(space, offer->pid, host));
}

void turns_defer(struct dataspace *space, uint32_t pid, uint64_t number)
{
    for (uint32_t seat = pid * space->most; seat < (pid + 1) * space->most; seat++)
        if (space->processes[seat].guest == GUEST_OFFERED &&
            space->replicas[seat].offered == number)
            space->replicas[seat].deferred = now(space);
}

void turns_stored(struct dataspace *space, const struct copies_request *put)
{
    uint32_t pid = put->asker.pid;

    for (uint32_t seat = pid * space->most; seat < (pid + 1) * space->most; seat++) {
        struct process *process = &space->processes[seat];
        struct copies_request offered = *put;

        if (process->guest != GUEST_OFFERED || space->replicas[seat].offered != put->asker.number)
            continue;
        guest_move(space, process, GUEST_IDLE);
        offered.asker.host = process->home;
        offered.asker.what = space->replicas[seat].what;
        copies_put_is_new(space->copies, offered); /* it is not, and so answered */
    }
}

void turns_late(struct dataspace *space, uint32_t host, const struct copies_request *put,
                uint64_t size)
{
    if (size >= space->large)
        tell(space, put->asker.pid, host, false);
}

bool turns_has(const struct dataspace *space, uint32_t pid, uint32_t host, uint64_t number,
               uint64_t what)
{
    const struct replica *replica = at(space, pid, host);

    return service_guest(space, pid, host)->guest == GUEST_OFFERED && replica->offered == number &&
           ((replica->what ^ what) & ~WHAT_PLACE) == 0;
}
