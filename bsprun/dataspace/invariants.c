/* invariants.c - what is true of one host's dataspace before and after every step; see inside.h.
 *
 * After a complaint, or without memory, the caller ends the job or drops the host, and nothing is
 * promised of what is left.
 */
#include <assert.h>

#include "bsprun/dataspace/inside.h"

/* The number n is one of these. */
#define IN(n)             (UINT32_C(1) << (n))

#define CLIENT_PUTS       (IN(CLIENT_STORING) | IN(CLIENT_STALLED) | IN(CLIENT_SENDING) | IN(CLIENT_SENT))
#define CLIENT_ASKS       (IN(CLIENT_ASKING) | IN(CLIENT_WITHDRAWN))
#define CLIENT_GETS       (CLIENT_ASKS | IN(CLIENT_RECEIVING) | IN(CLIENT_FETCHING) | IN(CLIENT_TAKING))
#define CLIENT_HAS_OBJECT (IN(CLIENT_SENDING) | IN(CLIENT_RECEIVING) | IN(CLIENT_TAKING))
#define CLIENT_MAY_HAVE                                                                            \
    (CLIENT_HAS_OBJECT | IN(CLIENT_STORING) | IN(CLIENT_SENT) | IN(CLIENT_FETCHING))

#define GUEST_HAS_OBJECT  (IN(GUEST_STORING) | IN(GUEST_DEFERRED) | IN(GUEST_GRANTING))
#define GUEST_OF_REPLICAS (IN(GUEST_OFFERED) | IN(GUEST_INVITED) | IN(GUEST_DEFERRED))

static void check_client(const struct dataspace *space, const struct process *process)
{
    const struct dataspace_request *request = &process->request;
    const struct object *object = process->object;
    uint32_t state = IN(process->client);
    bool puts = request->kind == DATASPACE_PUT;

    assert(process->home == space->host);
    assert(process->missing == 0 || state & (IN(CLIENT_IDLE) | IN(CLIENT_HELD)));
    assert(!(state & CLIENT_PUTS) || puts);
    assert(!(state & CLIENT_GETS) || !puts);
    assert(!(state & (CLIENT_PUTS | CLIENT_GETS)) || process->asked < space->hosts);
    assert(object || !(state & CLIENT_HAS_OBJECT));
    /* Another replica may pass it on before the owner has answered. */
    assert(!object || state & CLIENT_MAY_HAVE ||
           (state & CLIENT_ASKS && space->replicas && process->from != NOWHERE));
    assert(!object || !puts || (process->done <= object->size && process->gone <= process->done));
    assert(!(state & IN(CLIENT_RECEIVING)) || process->done < object->size);
    assert(!(state & IN(CLIENT_FETCHING)) || !object || process->done < object->size);
    assert(!(state & IN(CLIENT_TAKING)) ||
           (process->done == object->size && process->given < process->size && process->room == 0 &&
            process->size <= object->size && process->size <= request->size));
    /* Who has some of an object gets the rest of the same. */
    assert(process->given == 0 || (state & CLIENT_GETS && process->given < process->size &&
                                   (state & IN(CLIENT_WITHDRAWN)) == 0));
    assert(process->given == 0 || !(state & CLIENT_ASKS) || request->number > 0);
    assert(request->tag_size <= WIRE_TAG_MAX);
    /* What was asked of a host that is lost is asked of another one, if it has a number. */
    assert(!(state & (CLIENT_PUTS | CLIENT_GETS) & ~IN(CLIENT_TAKING)) || request->plain ||
           !space->others[process->asked].lost || (puts && !object));
}

static void check_guest(const struct dataspace *space, const struct process *process)
{
    const struct object *object = process->object;

    assert(process->home != space->host && process->home < space->hosts);
    assert(!space->others[process->home].lost);
    assert(!object == !(IN(process->guest) & GUEST_HAS_OBJECT));
    assert(!object || process->done <= object->size);
    assert(process->guest != GUEST_STORING || process->done < object->size);
    assert(process->guest != GUEST_GRANTING || process->size <= object->size);
    assert(space->replicas || !(IN(process->guest) & GUEST_OF_REPLICAS));
}

static void check_process(const struct dataspace *space, const struct process *process)
{
    assert(process->client < CLIENT_STATE_COUNT && process->guest < GUEST_STATE_COUNT);
    assert(process->client == CLIENT_IDLE || process->guest == GUEST_IDLE);
    assert(process->missing < space->owner_count);
    assert(process->missing == 0 || !space->replicas);
    assert(!process->put || process->put_number > 0);
    if (process->client != CLIENT_IDLE)
        check_client(space, process);
    else if (process->guest != GUEST_IDLE)
        check_guest(space, process);
    else
        assert(!process->object);
}

/* Returns whether something waits for room to that host. */
static bool check_other(const struct dataspace *space, uint32_t host)
{
    const struct other *other = &space->others[host];

    assert(other->lost == copies_is_lost(space->copies, host));
    assert(!other->lost || (!other->first && !other->coming));
    assert(!other->first || !*other->last);
    assert(!other->coming || other->come < other->coming->size);
    assert(host != space->host || (!other->first && !other->coming));
    return other->first;
}

static void check_replica(const struct replica *replica)
{
    assert(replica->told <= replica->reached);
    assert(replica->turn == TURN_OFFERS || replica->turn == TURN_SENDS);
    assert(replica->behind == BEHIND_NOT_ASKED || replica->asked <= replica->reached);
}

void service_check(const struct dataspace *space)
{
    uint32_t stalled = 0;

    assert(space->host < space->hosts && space->owner_count >= 1);
    for (uint32_t i = 1; i < space->owner_count; i++)
        assert(space->owners[i - 1] < space->owners[i] && space->owners[i] < space->hosts);
    if (space->part_lost) /* nothing is done any more, nor finished */
        return;
    for (uint32_t host = 0; host < space->hosts; host++)
        stalled += check_other(space, host);
    for (uint32_t seat = 0; seat < space->nprocs * space->most; seat++) {
        check_process(space, &space->processes[seat]);
        stalled += service_is_stalled(&space->processes[seat]);
        if (space->replicas)
            check_replica(&space->replicas[seat]);
    }
    assert(space->stalled == stalled);
    copies_check(space->copies);
}
