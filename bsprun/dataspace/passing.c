/* passing.c - large objects that replicas get: the owner sends each to the first replica that is
 * granted it, from whose host the next one gets it, and so on; see inside.h.
 *
 * So each link carries the object once, whatever the number of replicas.  The owner refers a
 * replica to the host of one that it has granted the object, and has done with that request: to the
 * one before it in the order of their places, so that each gets its objects from the same host
 * again and again.  If that is to come yet, it is waited for a little; if it comes too late, the
 * others do so no more until it is the first of them again.  Who is referred asks there, and gets
 * what has come, and the rest as it comes; the next time it asks there at once, as it would fall
 * behind if each object took it one round trip more, but takes nothing without the word of the
 * owner.  If that host is lost, is silent, or has dropped the object, the replica makes its request
 * again, and the owner, which has the object in its log as long as a replica may want it, sends it
 * itself.
 *
 * Nobody waits for himself: an owner refers each replica to one that it granted the object before,
 * and of a new owner all make the request again.
 */
#include "bsprun/dataspace/inside.h"

#include <stdlib.h>

#define DEFERRED_MS 5u
#define KEPT_PART   4u /* of the bytes of answers: what is kept for other replicas */

/* At the owner: an object that replicas of the process have been granted, in so many bytes. */
struct granted {
    struct granted *next;
    uint64_t number, size;
    uint32_t had, followed; /* places of replicas that have it, and from which others get it */
    uint32_t last;          /* the host that was granted it last */
};

/* On the host of a replica: an object that it has got, and others may want. */
struct kept {
    struct kept *next;
    uint32_t pid;
    uint64_t number;
    struct object *object;
};

/* ... that goes on to another host. */
struct onward {
    struct onward *next;
    uint32_t host, pid, round;
    uint64_t number;
    struct object *object; /* NULL: it has not come whole */
    uint64_t done;         /* bytes of it that have gone */
};

struct passing {
    struct granted **granted;  /* by process */
    struct kept *kept, **last; /* in the order in which they came */
    uint64_t bytes;            /* of those that are kept */
    struct onward *onward;
};

bool passing_open(struct dataspace *space)
{
    struct passing *passing = calloc(1, sizeof *passing);

    if (!passing)
        return false;
    space->passing = passing;
    passing->last = &passing->kept;
    passing->granted = calloc(space->nprocs, sizeof *passing->granted);
    return passing->granted != NULL;
}

/* ---- At the owner ---------------------------------------------------------------------------- */

static struct granted *find_granted(const struct dataspace *space, uint32_t pid, uint64_t number)
{
    struct granted *granted = space->passing->granted[pid];

    while (granted && granted->number != number)
        granted = granted->next;
    return granted;
}

/* NULL: no memory. */
static struct granted *add_granted(struct dataspace *space, uint32_t pid, uint64_t number)
{
    struct granted **first = &space->passing->granted[pid];
    struct granted *granted = malloc(sizeof *granted);

    if (granted) {
        *granted = (struct granted){.next = *first, .number = number, .last = NOWHERE};
        *first = granted;
    }
    return granted;
}

static uint32_t place_bit(uint32_t place)
{
    return UINT32_C(1) << place;
}

/* Whether the replica on that seat is sent what is granted before those behind it. */
static bool is_waited_for(const struct dataspace *space, uint32_t seat)
{
    uint32_t home = space->processes[seat].home;

    return home < space->hosts && home != space->host && !space->others[home].lost &&
           space->replicas[seat].passes == PASSES_IN_TIME;
}

/* The seat of the replica behind which the one on that seat comes; its own one: it is the first. */
static uint32_t seat_before(const struct dataspace *space, uint32_t seat)
{
    for (uint32_t before = seat; before % space->most > 0; before--)
        if (is_waited_for(space, before - 1))
            return before - 1;
    return seat;
}

static uint64_t now(const struct dataspace *space)
{
    return space->calls->now_ms ? space->calls->now_ms(space->context) : 0;
}

void passing_granted(struct dataspace *space, uint32_t seat, uint64_t number)
{
    struct replica *replica = &space->replicas[seat];

    replica->granted = number;
    replica->deferred = now(space);
}

/* Whether the one before it is still to be waited for; one that is not granted the object in time
 * is not, now and until it is again. */
static bool is_deferred(const struct dataspace *space, uint32_t seat, const struct granted *granted)
{
    uint32_t had = granted ? granted->had : 0, before;

    if (!space->calls->now_ms)
        return false;
    while ((before = seat_before(space, seat)) != seat &&
           !(had & place_bit(before % space->most))) {
        if (now(space) < space->replicas[seat].deferred + DEFERRED_MS)
            return true;
        space->replicas[before].passes = PASSES_LATE;
    }
    return false;
}

/* The host from which the replica on that seat is to get what others are granted; NOWHERE: this
 * one. */
static uint32_t choose(const struct dataspace *space, uint32_t seat, const struct granted *granted)
{
    uint32_t before = seat_before(space, seat), bit = place_bit(before % space->most);
    uint32_t from = granted->last;

    if (granted->had == 0 || granted->size != space->processes[seat].size ||
        space->replicas[seat].referred == granted->number)
        return NOWHERE;
    if (before != seat && (granted->had & bit) && !(granted->followed & bit))
        from = space->processes[before].home;
    return from == space->processes[seat].home || space->others[from].lost ? NOWHERE : from;
}

enum passing_way passing_way(struct dataspace *space, uint32_t seat, uint32_t *from)
{
    const struct process *process = &space->processes[seat];
    struct replica *replica = &space->replicas[seat];
    uint32_t pid = seat / space->most, place = seat % space->most;
    struct granted *granted;

    if (replica->granted == 0 || process->size < space->passed)
        return PASSING_SENT;
    granted = find_granted(space, pid, replica->granted);
    if (replica->referred != replica->granted && is_deferred(space, seat, granted))
        return PASSING_DEFERRED;
    if (!granted)
        granted = add_granted(space, pid, replica->granted);
    if (!granted)
        return PASSING_SENT; /* and so are the others */
    *from = choose(space, seat, granted);
    if (granted->had >> place == 0)
        replica->passes = PASSES_IN_TIME;
    granted->had |= place_bit(place);
    granted->last = process->home;
    if (*from == NOWHERE) {
        granted->size = process->size;
        return PASSING_SENT;
    }
    granted->followed |= place_bit(space->places[*from]);
    replica->referred = replica->granted;
    return PASSING_REFERRED;
}

/* ---- What is kept ---------------------------------------------------------------------------- */

static struct kept **find_kept(struct passing *passing, uint32_t pid, uint64_t number)
{
    struct kept **at = &passing->kept;

    while (*at && ((*at)->pid != pid || (*at)->number != number))
        at = &(*at)->next;
    return at;
}

static void drop_kept(struct passing *passing, struct kept **at)
{
    struct kept *kept = *at;

    *at = kept->next;
    if (!*at)
        passing->last = at;
    passing->bytes -= kept->object->size;
    object_drop(kept->object);
    free(kept);
}

/* For replicas that come to that request later; the newest one in any case. */
static void keep(struct dataspace *space, uint32_t pid, uint64_t number, struct object *object)
{
    struct passing *passing = space->passing;
    struct kept *kept = malloc(sizeof *kept);

    if (!kept)
        return; /* its owner has it */
    *kept = (struct kept){NULL, pid, number, object_share(object)};
    *passing->last = kept;
    passing->last = &kept->next;
    passing->bytes += object->size;
    while (passing->kept != kept && passing->bytes > space->log / KEPT_PART)
        drop_kept(passing, &passing->kept);
}

void passing_cut(struct dataspace *space, uint32_t pid, uint64_t number)
{
    struct granted **granted = &space->passing->granted[pid];
    struct kept **kept = &space->passing->kept;

    while (*granted)
        if ((*granted)->number < number) {
            struct granted *old = *granted;

            *granted = old->next;
            free(old);
        } else {
            granted = &(*granted)->next;
        }
    while (*kept)
        if ((*kept)->pid == pid && (*kept)->number < number)
            drop_kept(space->passing, kept);
        else
            kept = &(*kept)->next;
}

/* ---- On its way to another replica ----------------------------------------------------------- */

static void drop_onward(struct onward **at)
{
    struct onward *onward = *at;

    *at = onward->next;
    object_drop(onward->object);
    free(onward);
}

static struct onward **find_onward(struct passing *passing, uint32_t host, uint32_t pid)
{
    struct onward **at = &passing->onward;

    while (*at && ((*at)->host != host || (*at)->pid != pid))
        at = &(*at)->next;
    return at;
}

/* Sends what has come of the object while there is room.  Whether some of it waits for that. */
static bool send_pieces(struct dataspace *space, struct onward *onward)
{
    const struct process *process = service_own(space, onward->pid);
    const struct object *object = onward->object ? onward->object : process->object;
    uint64_t until = onward->object ? object->size : process->done;
    struct wire_message message = {.kind = WIRE_DATA_PASS};

    if (!onward->object && (process->request.number != onward->number || !object))
        return false;
    message.data_pass.pid = onward->pid;
    message.data_pass.round = onward->round;
    message.data_pass.here = true;
    message.data_pass.size = object->size;
    while (onward->done < until && space->calls->has_room(space->context, onward->host)) {
        uint64_t length =
            service_least(until - onward->done, service_passed_on(space, object->size));

        message.data_pass.offset = onward->done;
        message.data_pass.data =
            (struct wire_bytes){object->bytes + onward->done, (uint32_t)length};
        onward->done += length;
        service_send(space, onward->host, &message);
    }
    return onward->done < until;
}

static bool is_over(const struct onward *onward)
{
    return onward->object && onward->done == onward->object->size;
}

bool passing_go_on(struct dataspace *space)
{
    bool waits = false;

    for (struct onward **at = &space->passing->onward; *at;) {
        waits |= send_pieces(space, *at);
        if (is_over(*at))
            drop_onward(at);
        else
            at = &(*at)->next;
    }
    return waits;
}

void passing_come(struct dataspace *space, uint32_t pid)
{
    for (struct onward *onward = space->passing->onward; onward; onward = onward->next)
        if (onward->pid == pid)
            send_pieces(space, onward);
}

void passing_whole(struct dataspace *space, uint32_t pid, struct object *object)
{
    const struct process *process = service_own(space, pid);
    uint64_t number = process->request.number;

    for (struct onward *onward = space->passing->onward; onward; onward = onward->next)
        if (onward->pid == pid && onward->number == number && !onward->object)
            onward->object = object_share(object);
    if (number > 0 && object->size >= space->passed && process->asked != space->host)
        keep(space, pid, number, object);
    passing_go_on(space);
}

/* Whether the object of that request is still coming. */
static bool comes(const struct process *process, uint64_t number)
{
    if (process->request.number != number)
        return process->request.number < number;
    return process->request.kind != DATASPACE_PUT &&
           (process->client == CLIENT_ASKING || process->client == CLIENT_WITHDRAWN ||
            process->client == CLIENT_RECEIVING || process->client == CLIENT_FETCHING);
}

static void refuse(struct dataspace *space, uint32_t host, const struct wire_data_fetch *fetch)
{
    struct wire_message message = {.kind = WIRE_DATA_PASS};

    message.data_pass.pid = fetch->pid;
    message.data_pass.round = fetch->round;
    service_send(space, host, &message);
}

void passing_asked(struct dataspace *space, uint32_t host, const struct wire_data_fetch *fetch)
{
    struct passing *passing = space->passing;
    struct onward *onward, **before;
    struct kept *kept;

    if (!passing || !service_has(space, fetch->pid, space->host)) {
        service_broken(space, host, "what a replica gets, of which there is none here, is wanted");
        return;
    }
    before = find_onward(passing, host, fetch->pid);
    if (*before)
        drop_onward(before);
    if (!fetch->wants)
        return;
    kept = *find_kept(passing, fetch->pid, fetch->request);
    onward = kept || comes(service_own(space, fetch->pid), fetch->request) ? malloc(sizeof *onward)
                                                                           : NULL;
    if (!onward) {
        refuse(space, host, fetch);
        return;
    }
    *onward = (struct onward){.next = passing->onward,
                              .host = host,
                              .pid = fetch->pid,
                              .round = fetch->round,
                              .number = fetch->request,
                              .object = kept ? object_share(kept->object) : NULL};
    passing->onward = onward;
    passing_go_on(space);
}

void passing_forget(struct dataspace *space, uint32_t host)
{
    struct onward **at = space->passing ? &space->passing->onward : NULL;

    while (at && *at)
        if ((*at)->host == host)
            drop_onward(at);
        else
            at = &(*at)->next;
}

void passing_close(struct dataspace *space)
{
    struct passing *passing = space->passing;

    if (!passing)
        return;
    for (uint32_t host = 0; host < space->hosts; host++)
        passing_forget(space, host);
    for (uint32_t pid = 0; passing->granted && pid < space->nprocs; pid++)
        passing_cut(space, pid, UINT64_MAX);
    free(passing->granted);
    free(passing);
}

/* ---- Where the next replica is --------------------------------------------------------------- */

static void say(struct dataspace *space, uint32_t pid, bool wants)
{
    const struct process *process = service_own(space, pid);
    struct wire_message message = {.kind = WIRE_DATA_FETCH};

    message.data_fetch.pid = pid;
    message.data_fetch.round = process->fetch;
    message.data_fetch.request = process->request.number;
    message.data_fetch.wants = wants;
    service_send(space, process->from, &message);
}

void passing_fetch(struct dataspace *space, uint32_t pid, uint32_t from)
{
    struct process *process = service_own(space, pid);

    process->from = from;
    process->fetch++;
    say(space, pid, true);
}

void passing_fetch_early(struct dataspace *space, uint32_t pid)
{
    const struct process *process = service_own(space, pid);
    uint32_t source = process->source;

    if (source != NOWHERE && source != process->asked && !space->others[source].lost &&
        process->request.number > 0 && process->request.size >= space->passed)
        passing_fetch(space, pid, source);
}

void passing_fetch_no_more(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (process->from == NOWHERE)
        return;
    if (!space->others[process->from].lost)
        say(space, pid, false);
    process->from = NOWHERE;
    object_drop(service_take_object(process));
}
