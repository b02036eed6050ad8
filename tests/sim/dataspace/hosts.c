/* hosts.c - see hosts.h. */
#include "tests/sim/dataspace/hosts.h"

#include <stdlib.h>
#include <string.h>

void host_open(struct host *host, struct world *world, struct timeline *time,
               struct dataspace_setup setup, const struct dataspace_calls *calls, uint64_t *spilled)
{
    *host = (struct host){.world = world, .time = time, .number = setup.host};
    host->pool = setup.pool = pool_open(MEMORY, SMALL, 1, &calls_files, spilled);
    setup.piece = PIECE;
    host->space = dataspace_open(&setup, calls, host);
    if (!host->space)
        timeline_fail(time, "no memory");
}

void host_close(struct host *host)
{
    dataspace_close(host->space);
    pool_close(host->pool);
}

/* ---- Messages -------------------------------------------------------------------------------- */

struct wire_message *host_send(struct host *host, uint32_t to, const struct wire_message *message,
                               uint64_t *delay)
{
    struct timeline *time = host->time;
    struct wire_message *copy = malloc(sizeof *copy);
    char error[WIRE_ERROR_SIZE];

    *delay = 1 + timeline_random(time, timeline_chance(time, 10) ? 500 : 20);
    if (host->knows[to])
        timeline_fail(time, "host %u writes to host %u, and knows that it is lost", host->number,
                      to);
    if (!copy)
        abort();
    if (wire_copy(message, copy, error, sizeof error) != 0)
        timeline_fail(time, "host %u sends what it must not: %s", host->number, error);
    if (time->now + *delay < host->last_moment[to])
        *delay = host->last_moment[to] - time->now;
    host->last_moment[to] = time->now + *delay;
    host->queued[to]++;
    return copy;
}

void host_drop(struct wire_message *message)
{
    wire_message_free(message);
    free(message);
}

bool host_has_room(const struct host *host, uint32_t to)
{
    return host->queued[to] < IN_FLIGHT;
}

bool host_hears(const struct host *host, const struct host *from)
{
    return !host->lost && (!from->lost || host->time->now <= from->heard_until[host->number]);
}

void host_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    const struct host *host = context;

    timeline_fail(host->time, "no memory for pid %u: %llu", pid, (unsigned long long)bytes);
}

void host_broken(void *context, uint32_t other, const char *complaint)
{
    const struct host *host = context;

    timeline_fail(host->time, "host %u complains of host %u: %s", host->number, other, complaint);
}

void host_differs(void *context, uint32_t pid)
{
    const struct host *host = context;

    timeline_fail(host->time, "pid %u is said to do something else than before", pid);
}

void hosts_check_traffic(const struct host *hosts, uint32_t count, const char *otherwise)
{
    uint64_t sent = 0, received = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (hosts[i].lost)
            continue;
        sent += dataspace_traffic(hosts[i].space).sent;
        received += dataspace_traffic(hosts[i].space).received;
    }
    if (sent != received)
        timeline_fail(hosts->time, "%s: %llu messages were sent, %llu came", otherwise,
                      (unsigned long long)sent, (unsigned long long)received);
}

/* ---- Whether all wait ------------------------------------------------------------------------ */

uint64_t hosts_delay(struct timeline *time, uint64_t *last)
{
    uint64_t when = time->now + 1 + timeline_random(time, timeline_chance(time, 15) ? 900 : 30);

    if (when < *last)
        when = *last;
    *last = when;
    return when - time->now;
}

struct wire_quiet host_quiet(const struct host *host, uint64_t round)
{
    struct dataspace_traffic traffic = dataspace_traffic(host->space);

    return (struct wire_quiet){.host = host->number,
                               .round = round,
                               .quiet = true,
                               .sent = traffic.sent,
                               .received = traffic.received,
                               .arrived = WIRE_NEVER,
                               .held = WIRE_NEVER,
                               .waits = ""};
}

struct wire_message *host_tells(const struct wire_quiet *quiet)
{
    struct wire_message *message = malloc(sizeof *message);

    if (!message)
        abort();
    *message = (struct wire_message){.kind = WIRE_QUIET, .quiet = *quiet};
    return message;
}

/* ---- A call ---------------------------------------------------------------------------------- */

void transfer_pick_size(struct timeline *time, struct call *call)
{
    call->size = call->kind == LINEAR_PUT    ? calls_size(call->value, SIZE_MOST)
                 : timeline_chance(time, 20) ? CALLS_SIZE_LEAST + timeline_random(time, 60)
                                             : SIZE_MOST;
}

void transfer_begin(struct transfer *transfer, const struct call *call, uint64_t number,
                    uint32_t tag)
{
    static const enum dataspace_kind kinds[] = {DATASPACE_PUT, DATASPACE_GET, DATASPACE_READ};

    transfer->done = 0;
    transfer->busy = true;
    transfer->request = (struct dataspace_request){.kind = kinds[call->kind],
                                                   .number = number,
                                                   .tag = calls_tags[tag],
                                                   .tag_size = (uint32_t)strlen(calls_tags[tag]),
                                                   .size = call->size};
}

void transfer_fill(struct transfer *transfer, uint32_t value)
{
    struct dataspace_request *request = &transfer->request;

    request->piece = transfer->window;
    request->length = WINDOW;
    if (request->kind == DATASPACE_PUT) {
        uint64_t left = request->size - transfer->done;

        request->length = (uint32_t)(left < WINDOW ? left : WINDOW);
        for (uint32_t i = 0; i < request->length; i++)
            transfer->window[i] = calls_byte(value, transfer->done + i);
    }
    transfer->posted = true;
}

bool transfer_answered(struct transfer *transfer, const struct host *host, uint32_t pid,
                       uint64_t size, uint32_t length)
{
    bool late = transfer->taken_back;

    if (!transfer->posted)
        timeline_fail(host->time, "pid %u gets an answer on host %u that it does not wait for", pid,
                      host->number);
    if (transfer->request.kind != DATASPACE_PUT) {
        if (length > WINDOW || transfer->done + length > size || size > transfer->request.size)
            timeline_fail(host->time, "pid %u gets %u bytes behind %llu of %llu", pid, length,
                          (unsigned long long)transfer->done, (unsigned long long)size);
        memcpy(transfer->data + transfer->done, transfer->window, length);
        transfer->request.size = size;
    }
    transfer->taken_back = transfer->posted = false;
    transfer->done += length;
    return late;
}

void transfer_withdrawn(struct transfer *transfer, const struct host *host, uint32_t pid)
{
    if (!transfer->posted || !transfer->taken_back || transfer->request.kind == DATASPACE_PUT ||
        transfer->done > 0)
        timeline_fail(host->time, "a request of pid %u is withdrawn on host %u that does not wait",
                      pid, host->number);
    transfer->posted = transfer->taken_back = false;
}

void transfer_held(struct transfer *transfer, const struct host *host, uint32_t pid)
{
    if (!transfer->posted || transfer->done > 0)
        timeline_fail(host->time, "a request of pid %u is withdrawn on host %u that has begun", pid,
                      host->number);
    transfer->posted = transfer->taken_back = false;
}

bool transfer_is_held(const struct transfer *transfer)
{
    return transfer->busy && !transfer->posted && transfer->done == 0;
}

uint32_t transfer_value(const struct transfer *transfer, const struct timeline *time, uint32_t pid)
{
    uint32_t value;

    if (transfer->done < CALLS_SIZE_LEAST)
        timeline_fail(time, "pid %u gets an object of %llu bytes", pid,
                      (unsigned long long)transfer->done);
    memcpy(&value, transfer->data, CALLS_SIZE_LEAST);
    return value;
}

bool transfer_check(const struct transfer *transfer, const struct timeline *time, uint32_t pid)
{
    uint32_t value = transfer_value(transfer, time, pid);

    if (transfer->done > calls_size(value, SIZE_MOST))
        timeline_fail(time, "pid %u gets more than was put", pid);
    for (uint64_t i = 0; i < transfer->done; i++)
        if (transfer->data[i] != calls_byte(value, i))
            timeline_fail(time, "pid %u: byte %llu of object %u is wrong", pid,
                          (unsigned long long)i, value);
    return transfer->done < calls_size(value, SIZE_MOST);
}
