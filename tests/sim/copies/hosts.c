/* hosts.c - hosts of the made-up world: what they send each other, and carry out. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/copies/world.h"

/* ---- Messages -------------------------------------------------------------------------------- */

/* With a copy of the data, and behind it of the tag. */
static struct packet *make(enum packet_kind kind, const void *data, uint64_t size, const void *tag,
                           uint32_t tag_size)
{
    struct packet *packet = calloc(1, sizeof *packet + size + tag_size);

    if (!packet)
        abort();
    packet->kind = kind;
    packet->size = size;
    if (size > 0)
        memcpy(packet->data, data, size);
    if (tag_size > 0)
        memcpy(packet->data + size, tag, tag_size);
    return packet;
}

static void send(struct host *host, uint32_t to, struct packet *packet)
{
    struct world *world = host->world;
    uint64_t delay = 1 + pick(world, timeline_chance(&world->time, 10) ? 300 : 20);
    struct action *action;

    if (copies_is_lost(host->copies, to))
        fail(world, "host %u writes to host %u, and knows that it is lost", host->number, to);
    if (world->time.now + delay < host->last_moment[to])
        delay = host->last_moment[to] - world->time.now;
    host->last_moment[to] = world->time.now + delay;
    summary.messages++;
    action = timeline_plan(&world->time, delay);
    action->kind = DO_DELIVER;
    action->from = host->number;
    action->to = to;
    action->packet = packet;
}

static void send_to_all(struct host *host, const struct packet *packet)
{
    for (uint32_t i = 0; i < host->world->host_count; i++)
        if (i != host->number && !copies_is_lost(host->copies, i)) {
            struct packet *copy = make(packet->kind, NULL, 0, NULL, 0);

            copy->pid = packet->pid;
            copy->number = packet->number;
            copy->round = packet->round;
            send(host, i, copy);
        }
}

/* ---- What the part of the dataspace calls ---------------------------------------------------- */

static void on_send(void *context, uint32_t to, const struct copy_message *message)
{
    const struct object *object = message->object;
    uint64_t size = object ? object->size : 0;
    struct packet *packet =
        make(PACKET_COPY, object ? object->bytes : NULL, size, message->tag, message->tag_size);

    packet->copy = *message;
    packet->copy.tag = packet->data + size;
    send(context, to, packet);
}

static void on_answer(void *context, const struct asker *to, struct object *object)
{
    struct host *host = context;
    struct packet *packet =
        make(PACKET_ANSWER, object ? object->bytes : NULL, object ? object->size : 0, NULL, 0);

    object_drop(object);
    host->answers++;
    packet->pid = to->pid;
    packet->life = to->life;
    packet->number = to->number;
    send(host, to->host, packet); /* also to itself */
}

static void on_differs(void *context, const struct asker *asker)
{
    const struct host *host = context;

    if (!host->world->gave_up)
        fail(host->world, "pid %u is said to do something else than before", asker->pid);
    note(host->world, "pid %u cannot catch up: all go back", asker->pid);
    summary.differs++;
    host->world->over = true;
}

static void on_part_lost(void *context, uint32_t part)
{
    const struct host *host = context;
    struct world *world = host->world;

    if (world->lost < world->copies)
        fail(world, "part %u with %u copies is lost with %u hosts", part, world->copies,
             world->lost);
    note(world, "host %u has no copy of part %u: all go back", host->number, part);
    world->over = true;
}

static void on_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    const struct host *host = context;

    fail(host->world, "no memory on host %u: %llu for pid %u", host->number,
         (unsigned long long)bytes, pid);
}

static void on_broken(void *context, uint32_t other, const char *complaint)
{
    const struct host *host = context;

    fail(host->world, "host %u complains of host %u: %s", host->number, other, complaint);
}

static const struct copies_calls calls = {.send = on_send,
                                          .answer = on_answer,
                                          .differs = on_differs,
                                          .part_lost = on_part_lost,
                                          .no_memory = on_no_memory,
                                          .broken = on_broken};

void hosts_open(struct world *world, uint32_t number)
{
    struct host *host = &world->hosts[number];
    static const uint32_t ring[HOSTS] = {0, 1, 2, 3, 4};
    struct copies_setup setup = {.host = number,
                                 .hosts = world->host_count,
                                 .ring = ring,
                                 .parts = world->host_count,
                                 .nprocs = world->process_count,
                                 .copies = world->copies,
                                 .pool =
                                     pool_open(MEMORY, SMALL, 1, &calls_files, &summary.spilled),
                                 .log = world->log};

    *host = (struct host){.world = world, .number = number, .pool = setup.pool};
    host->copies = copies_open(&setup, &calls, host);
    if (!host->copies)
        fail(world, "no memory");
}

void hosts_close(struct world *world, uint32_t number)
{
    copies_close(world->hosts[number].copies);
    pool_close(world->hosts[number].pool);
}

void hosts_drop(const struct action *action)
{
    if (action->kind == DO_DELIVER)
        free(action->packet);
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Of the present call of the process. */
static struct packet *packet_of(const struct world *world, enum packet_kind kind, uint32_t pid,
                                const void *data, uint64_t size)
{
    const struct process *process = &world->processes[pid];
    struct packet *packet = make(kind, data, size, NULL, 0);

    packet->pid = pid;
    packet->life = process->life;
    packet->number = process->at + 1;
    packet->repeats = packet->number < process->behind;
    packet->call = process->calls[process->at].kind;
    packet->tag = process->calls[process->at].tag;
    return packet;
}

void hosts_withdraw(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];

    process->taken_back = true;
    send(&world->hosts[process->home], process->asked,
         packet_of(world, PACKET_WITHDRAW, pid, NULL, 0));
}

void hosts_ask(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    const struct call *call = &process->calls[process->at];
    struct host *host = &world->hosts[process->home];
    const char *tag = calls_tags[call->tag];
    uint32_t part = copies_part(host->copies, tag, strlen(tag));
    unsigned char bytes[SIZE_MOST];
    uint64_t size = call->kind == LINEAR_PUT ? calls_size(call->value, SIZE_MOST) : 0;

    for (uint64_t i = 0; i < size; i++)
        bytes[i] = calls_byte(call->value, i);
    process->asked = copies_owner(host->copies, part);
    send(host, process->asked,
         packet_of(world, PACKET_REQUEST, pid, bytes, size)); /* also itself */
}

static void carry_out(struct host *host, uint32_t from, const struct packet *packet)
{
    const char *tag = calls_tags[packet->tag];
    struct copies_request request = {
        .asker = {.host = from, .pid = packet->pid, .life = packet->life, .number = packet->number},
        .repeats = packet->repeats,
        .tag = tag,
        .tag_size = (uint32_t)strlen(tag)};
    uint32_t part = copies_part(host->copies, tag, request.tag_size);
    uint64_t answers = host->answers;
    struct object *object;

    if (copies_owner(host->copies, part) != host->number)
        fail(host->world, "host %u is asked for part %u, which it does not own", host->number,
             part);
    if (packet->kind == PACKET_WITHDRAW) {
        if (copies_withdraw(host->copies, request)) {
            struct packet *withdrawn = make(PACKET_WITHDRAWN, NULL, 0, NULL, 0);

            withdrawn->pid = packet->pid;
            withdrawn->life = packet->life;
            withdrawn->number = packet->number;
            send(host, from, withdrawn);
        }
        return;
    }
    summary.in_log += packet->repeats;
    if (packet->call != LINEAR_PUT) {
        copies_ask(host->copies, request, packet->call == LINEAR_GET);
    } else {
        object = object_make(host->pool, packet->size);
        memcpy(object->bytes, packet->data, packet->size);
        copies_put(host->copies, request, object);
        summary.held += host->answers == answers; /* the others are to have it first */
    }
}

static void answered(struct world *world, const struct packet *packet)
{
    const struct process *process = &world->processes[packet->pid];

    if (packet->life != process->life)
        return;
    if (!process->busy || packet->number != process->at + 1)
        fail(world, "pid %u gets an answer that it does not wait for", packet->pid);
    summary.late += process->taken_back;
    processes_answered(world, packet->pid, packet->data, packet->size);
}

static void withdrawn(struct world *world, const struct packet *packet)
{
    struct process *process = &world->processes[packet->pid];

    if (packet->life != process->life)
        return;
    if (!process->taken_back || packet->number != process->at + 1)
        fail(world, "a request of pid %u is withdrawn that does not wait", packet->pid);
    note(world, "pid %u has taken its request back", packet->pid);
    summary.withdrawn++;
    process->busy = process->taken_back = false;
    processes_plan(world, packet->pid, 1 + pick(world, 100));
}

void hosts_cut(struct world *world, uint32_t pid, uint64_t number)
{
    struct host *host = &world->hosts[world->processes[pid].home];
    struct packet cut = {.kind = PACKET_CUT, .pid = pid, .number = number};

    copies_cut(host->copies, pid, number);
    send_to_all(host, &cut);
}

/* ---- Processes that come from a host that is lost -------------------------------------------- */

static void past_is(struct world *world, uint32_t pid, uint32_t host, uint64_t newest)
{
    struct process *process = &world->processes[pid];

    process->awaited[host] = false;
    if (process->behind < newest)
        process->behind = newest;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (process->awaited[i])
            return;
    process->asks_past = false;
    processes_plan(world, pid, 1 + pick(world, 50));
}

void hosts_ask_past(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    struct host *host = &world->hosts[process->home];
    struct packet ask = {.kind = PACKET_PAST, .pid = pid, .round = ++process->round};

    process->asks_past = true;
    process->behind = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        process->awaited[i] = !copies_is_lost(host->copies, i);
    send_to_all(host, &ask);
    past_is(world, pid, host->number, copies_newest(host->copies, pid));
}

/* A host has learned of a loss: what was asked of a host that is lost is asked again. */
static void ask_again(struct world *world, struct host *host)
{
    for (uint32_t pid = 0; !world->over && pid < world->process_count; pid++) {
        struct process *process = &world->processes[pid];
        bool awaits_lost = false;

        if (process->home != host->number)
            continue;
        for (uint32_t i = 0; i < world->host_count; i++)
            awaits_lost |= process->awaited[i] && copies_is_lost(host->copies, i);
        if (process->asks_past && awaits_lost) {
            summary.asked_again++;
            hosts_ask_past(world, pid);
        } else if (process->busy && copies_is_lost(host->copies, process->asked)) {
            summary.again++;
            hosts_ask(world, pid);
            if (process->taken_back) {
                summary.withdrawn_again++;
                hosts_withdraw(world, pid);
            }
        }
    }
}

void hosts_learn(struct world *world, uint32_t number, uint32_t lost)
{
    struct host *host = &world->hosts[number];

    note(world, "host %u learns that host %u is lost", number, lost);
    copies_lost(host->copies, lost);
    ask_again(world, host);
}

/* A part of what the packet holds is an object of that host now. */
static void copy(struct host *host, uint32_t from, const struct packet *packet)
{
    struct copy_message message = packet->copy;

    if (message.object) {
        message.object = object_make(host->pool, packet->size);
        memcpy(message.object->bytes, packet->data, packet->size);
    }
    copies_message(host->copies, from, &message);
    object_drop(message.object);
}

/* ---- What comes ------------------------------------------------------------------------------ */

static void give(struct world *world, struct host *host, uint32_t from, const struct packet *packet)
{
    struct process *process = &world->processes[packet->pid];
    struct packet *past;

    switch (packet->kind) {
    case PACKET_COPY:
        copy(host, from, packet);
        ask_again(world, host);
        break;
    case PACKET_REQUEST:
    case PACKET_WITHDRAW:
        carry_out(host, from, packet);
        break;
    case PACKET_ANSWER:
        answered(world, packet);
        break;
    case PACKET_WITHDRAWN:
        withdrawn(world, packet);
        break;
    case PACKET_CUT:
        copies_cut(host->copies, packet->pid, packet->number);
        break;
    case PACKET_PAST:
        past = make(PACKET_PAST_IS, NULL, 0, NULL, 0);
        past->pid = packet->pid;
        past->round = packet->round;
        past->number = copies_newest(host->copies, packet->pid);
        send(host, from, past);
        break;
    case PACKET_PAST_IS:
        if (process->home == host->number && process->asks_past && process->round == packet->round)
            past_is(world, packet->pid, from, packet->number);
        break;
    }
}

void hosts_deliver(struct world *world, const struct action *action)
{
    struct host *from = &world->hosts[action->from], *to = &world->hosts[action->to];
    bool comes = !to->lost && !copies_is_lost(to->copies, from->number) &&
                 (!from->lost || world->time.now <= from->heard_until[to->number]);

    summary.cut_off += !comes;
    if (comes)
        give(world, to, from->number, action->packet);
    free(action->packet);
}
