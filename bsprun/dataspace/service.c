/* service.c - see service.h. */
#include "bsprun/dataspace/inside.h"

#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/keeper.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static void on_grant(void *context, const struct asker *to, struct object *object)
{
    struct dataspace *space = context;

    if (to->number > 0 &&
        log_add(space->log, to->pid, to->number, to->what, object_share(object)) != 0)
        service_no_memory(space, to->pid, LOG_ENTRY);
    if (to->host == space->host)
        client_give(space, to->pid, object);
    else
        guest_give(space, to, object);
}

static const struct tags_calls tags_calls = {.grant = on_grant};

/* The process that a message is about; at least nprocs: none. */
static uint32_t pid_of(const struct wire_message *message)
{
    switch (message->kind) {
    case WIRE_DATA_PUT:
        return message->data_put.pid;
    case WIRE_DATA_ASK:
        return message->data_ask.pid;
    case WIRE_DATA_STORED:
        return message->data_stored.pid;
    case WIRE_DATA_GRANT:
        return message->data_grant.pid;
    case WIRE_DATA_WITHDRAW:
        return message->data_withdraw.pid;
    case WIRE_DATA_WITHDRAWN:
        return message->data_withdrawn.pid;
    case WIRE_DATA_DIFFERS:
        return message->data_differs.pid;
    case WIRE_DATA_CUT:
        return message->data_cut.pid;
    default:
        return UINT32_MAX;
    }
}

void dataspace_message(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    uint32_t pid = pid_of(message);
    bool asks = message->kind == WIRE_DATA_PUT || message->kind == WIRE_DATA_ASK ||
                message->kind == WIRE_DATA_WITHDRAW || message->kind == WIRE_DATA_CUT;

    space->traffic.received++;
    if (pid >= space->nprocs || space->processes[pid].home != (asks ? host : space->host)) {
        service_broken(space, host, "a request for a process that it does not have");
        return;
    }
    if (message->kind == WIRE_DATA_PUT)
        guest_put(space, host, &message->data_put);
    else if (message->kind == WIRE_DATA_ASK)
        guest_ask(space, host, &message->data_ask);
    else if (message->kind == WIRE_DATA_STORED)
        client_stored(space, host, &message->data_stored);
    else if (message->kind == WIRE_DATA_WITHDRAW)
        guest_withdraw(space, host, &message->data_withdraw);
    else if (message->kind == WIRE_DATA_WITHDRAWN)
        client_withdrawn(space, host, &message->data_withdrawn);
    else if (message->kind == WIRE_DATA_DIFFERS)
        client_differs(space, &message->data_differs);
    else if (message->kind == WIRE_DATA_CUT)
        log_cut(space->log, pid, message->data_cut.request);
    else
        client_granted(space, host, &message->data_grant);
}

/* ---- Life ------------------------------------------------------------------------------------ */

bool dataspace_go_on(struct dataspace *space)
{
    for (uint32_t pid = 0; pid < space->nprocs && space->stalled > 0; pid++) {
        struct process *process = &space->processes[pid];

        if (process->client == CLIENT_STALLED)
            client_go_on(space, pid);
        else if (process->guest == GUEST_GRANTING)
            guest_go_on(space, pid);
    }
    return space->stalled > 0;
}

struct dataspace *dataspace_open(const struct dataspace_setup *setup,
                                 const struct dataspace_calls *calls, void *context)
{
    uint32_t nprocs = setup->nprocs;
    struct dataspace *space = calloc(1, sizeof *space);

    if (!space)
        return NULL;
    *space = (struct dataspace){.calls = calls,
                                .context = context,
                                .host = setup->host,
                                .nprocs = nprocs,
                                .piece = setup->piece,
                                .pool = setup->pool};
    space->processes = calloc(nprocs, sizeof *space->processes);
    space->tags = tags_open(&tags_calls, space);
    space->log = log_open(nprocs, setup->log);
    if (!space->processes || !space->tags || !space->log ||
        !service_find_owners(space, setup->homes)) {
        dataspace_close(space);
        return NULL;
    }
    for (uint32_t pid = 0; pid < nprocs; pid++)
        space->processes[pid].home = setup->homes[pid];
    return space;
}

void dataspace_close(struct dataspace *space)
{
    if (!space)
        return;
    for (uint32_t pid = 0; space->processes && pid < space->nprocs; pid++)
        object_drop(space->processes[pid].object);
    tags_close(space->tags);
    log_close(space->log);
    free(space->processes);
    free(space->owners);
    free(space);
}

struct keeper *dataspace_keep(const struct dataspace *space)
{
    return keeper_begin(space->tags);
}

struct dataspace_traffic dataspace_traffic(const struct dataspace *space)
{
    return space->traffic;
}

struct tags_totals dataspace_totals(const struct dataspace *space)
{
    return tags_totals(space->tags);
}
