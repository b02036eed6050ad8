/* requests.c - the states of requests, of this host's processes and of others; see inside.h. */
#include "bsprun/dataspace/inside.h"

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO
static const struct bspz_states_row client_rows[CLIENT_STATE_COUNT] = {
    [CLIENT_IDLE] = {"idle", TO(CLIENT_HELD) | TO(CLIENT_STORING) | TO(CLIENT_ASKING)},
    [CLIENT_HELD] = {"held", TO(CLIENT_STORING) | TO(CLIENT_ASKING) | TO(CLIENT_IDLE)},
    [CLIENT_STORING] = {"storing", TO(CLIENT_STALLED) | TO(CLIENT_SENDING) | TO(CLIENT_SENT) |
                                       TO(CLIENT_IDLE)},
    [CLIENT_STALLED] = {"stalled", TO(CLIENT_STORING) | TO(CLIENT_IDLE)},
    [CLIENT_SENDING] = {"sending", TO(CLIENT_SENT) | TO(CLIENT_IDLE)},
    [CLIENT_SENT] = {"sent", TO(CLIENT_SENDING) | TO(CLIENT_IDLE)},
    [CLIENT_ASKING] = {"asking", TO(CLIENT_WITHDRAWN) | TO(CLIENT_RECEIVING) | TO(CLIENT_FETCHING) |
                                     TO(CLIENT_TAKING) | TO(CLIENT_IDLE)},
    [CLIENT_WITHDRAWN] = {"withdrawn", TO(CLIENT_IDLE) | TO(CLIENT_RECEIVING) |
                                           TO(CLIENT_FETCHING) | TO(CLIENT_TAKING)},
    [CLIENT_RECEIVING] = {"receiving", TO(CLIENT_ASKING) | TO(CLIENT_TAKING) | TO(CLIENT_IDLE)},
    [CLIENT_FETCHING] = {"fetching", TO(CLIENT_ASKING) | TO(CLIENT_TAKING)},
    [CLIENT_TAKING] = {"taking", TO(CLIENT_IDLE)},
};
static const struct bspz_states client_states = {"a request", CLIENT_STATE_COUNT, client_rows};

static const struct bspz_states_row guest_rows[GUEST_STATE_COUNT] = {
    [GUEST_IDLE] = {"idle", TO(GUEST_STORING) | TO(GUEST_WAITING) | TO(GUEST_OFFERED)},
    [GUEST_OFFERED] = {"offered", TO(GUEST_INVITED) | TO(GUEST_IDLE)},
    [GUEST_INVITED] = {"invited", TO(GUEST_STORING) | TO(GUEST_IDLE)},
    [GUEST_STORING] = {"storing", TO(GUEST_IDLE)},
    [GUEST_WAITING] = {"waiting", TO(GUEST_DEFERRED) | TO(GUEST_GRANTING) | TO(GUEST_IDLE)},
    [GUEST_DEFERRED] = {"deferred", TO(GUEST_GRANTING) | TO(GUEST_IDLE)},
    [GUEST_GRANTING] = {"granting", TO(GUEST_IDLE)},
};
static const struct bspz_states guest_states = {"a guest", GUEST_STATE_COUNT, guest_rows};

/* The process has changed its state; one that is idle has no object. */
static void settle(struct dataspace *space, struct process *process, bool was_stalled, bool is_idle)
{
    space->stalled -= was_stalled;
    space->stalled += service_is_stalled(process);
    if (!is_idle)
        return;
    object_drop(process->object);
    process->object = NULL;
    process->given = process->room = 0;
}

void client_move(struct dataspace *space, struct process *process, enum client_state to)
{
    bool was_stalled = service_is_stalled(process);

    if (process->client == to)
        return;
    process->client = (enum client_state)bspz_states_move(&client_states, process->client, to);
    settle(space, process, was_stalled, to == CLIENT_IDLE);
}

void guest_move(struct dataspace *space, struct process *process, enum guest_state to)
{
    bool was_stalled = service_is_stalled(process);

    process->guest = (enum guest_state)bspz_states_move(&guest_states, process->guest, to);
    settle(space, process, was_stalled, to == GUEST_IDLE);
}

struct copies_request client_request(const struct dataspace *space, uint32_t pid)
{
    const struct process *process = service_own(space, pid);
    const struct dataspace_request *request = &process->request;

    return (struct copies_request){.asker = {.host = space->host,
                                             .pid = pid,
                                             .room = request->size,
                                             .life = process->life,
                                             .number = request->number,
                                             .what = replicas_what(space, pid, space->host)},
                                   .repeats = service_repeats(process),
                                   .plain = request->plain,
                                   .tag = request->tag,
                                   .tag_size = request->tag_size};
}

bool halt_holds(const struct dataspace *space, uint32_t pid)
{
    return space->halt != HALT_NONE && service_own(space, pid)->request.number > space->limits[pid];
}

void halt_withdraw(struct dataspace *space, uint32_t pid)
{
    struct process *process = service_own(space, pid);

    if (space->halt != HALT_KNOWN || process->client != CLIENT_HELD || !halt_holds(space, pid))
        return;
    client_move(space, process, CLIENT_IDLE);
    space->calls->withdrawn(space->context, pid);
}
