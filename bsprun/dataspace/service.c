/* service.c - see service.h. */
#include "bsprun/dataspace/inside.h"

#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/keeper.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static void on_send(void *context, uint32_t host, const struct copy_message *message)
{
    copying_send(context, host, message);
}

static void on_answer(void *context, const struct asker *to, struct object *object)
{
    struct dataspace *space = context;

    if (to->host == space->host)
        client_answered(space, to, object);
    else
        guest_answered(space, to, object);
}

/* What the process asks for is not what it once was. */
static void on_differs(void *context, const struct asker *asker)
{
    struct dataspace *space = context;
    struct wire_message message = {.kind = WIRE_DATA_DIFFERS};

    if (asker->host == space->host) {
        space->calls->differs(space->context, asker->pid);
        return;
    }
    guest_forget(space, service_guest(space, asker->pid, asker->host));
    message.data_differs.pid = asker->pid;
    message.data_differs.life = asker->life;
    service_send(space, asker->host, &message);
}

static void on_mismatch(void *context, const struct copies_mismatch *mismatch)
{
    struct dataspace *space = context;
    const struct asker *asker = mismatch->asker;

    if (!mismatch->answered && asker->host != space->host)
        guest_forget(space, service_guest(space, asker->pid, asker->host));
    replicas_differ(space, mismatch);
}

static void on_part_lost(void *context, uint32_t part)
{
    struct dataspace *space = context;
    bool news = !space->part_lost;

    (void)part;
    space->part_lost = true;
    if (news)
        space->calls->part_lost(space->context);
}

static void on_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    service_no_memory(context, pid, bytes);
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    service_broken(context, host, complaint);
}

static const struct copies_calls copies_calls = {.send = on_send,
                                                 .answer = on_answer,
                                                 .differs = on_differs,
                                                 .mismatch = on_mismatch,
                                                 .part_lost = on_part_lost,
                                                 .no_memory = on_no_memory,
                                                 .broken = on_broken};

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
    case WIRE_DATA_PAST:
        return message->data_past.pid;
    case WIRE_DATA_PAST_IS:
        return message->data_past_is.pid;
    case WIRE_DATA_CALL:
        return message->data_call.pid;
    case WIRE_DATA_HOW_FAR:
        return message->data_how_far.pid;
    case WIRE_DATA_OFFER:
        return message->data_offer.pid;
    case WIRE_DATA_TURN:
        return message->data_turn.pid;
    case WIRE_DATA_REFER:
        return message->data_refer.pid;
    case WIRE_DATA_FETCH:
        return message->data_fetch.pid;
    case WIRE_DATA_PASS:
        return message->data_pass.pid;
    default:
        return UINT32_MAX;
    }
}

/* What is about a process, and comes from a host that lives. */
static void take(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    switch (message->kind) {
    case WIRE_DATA_PUT:
        guest_put(space, host, &message->data_put);
        break;
    case WIRE_DATA_ASK:
        guest_ask(space, host, &message->data_ask);
        break;
    case WIRE_DATA_STORED:
        client_stored(space, host, &message->data_stored);
        break;
    case WIRE_DATA_WITHDRAW:
        guest_withdraw(space, host, &message->data_withdraw);
        break;
    case WIRE_DATA_WITHDRAWN:
        client_withdrawn(space, host, &message->data_withdrawn);
        break;
    case WIRE_DATA_DIFFERS:
        client_differs(space, &message->data_differs);
        break;
    case WIRE_DATA_CUT:
        if (space->replicas)
            behind_cut(space, host, &message->data_cut);
        else
            lives_cut(space, &message->data_cut);
        break;
    case WIRE_DATA_HOW_FAR:
        if (space->replicas || message->data_how_far.answers)
            behind_asked(space, host, &message->data_how_far);
        else
            lives_asked(space, &message->data_how_far);
        break;
    case WIRE_DATA_OFFER:
        turns_offered(space, host, &message->data_offer);
        break;
    case WIRE_DATA_TURN:
        if (turns_take(space, host, &message->data_turn))
            put_invited(space, message->data_turn.pid);
        break;
    case WIRE_DATA_REFER:
        client_referred(space, host, &message->data_refer);
        break;
    case WIRE_DATA_FETCH:
        passing_asked(space, host, &message->data_fetch);
        break;
    case WIRE_DATA_PASS:
        client_passed(space, host, &message->data_pass);
        break;
    case WIRE_DATA_PAST:
        lives_past(space, host, &message->data_past);
        break;
    case WIRE_DATA_PAST_IS:
        lives_past_is(space, &message->data_past_is);
        break;
    case WIRE_DATA_CALL:
        replicas_announced(space, host, &message->data_call);
        break;
    default:
        client_granted(space, host, &message->data_grant);
        break;
    }
}

/* What is about copies of parts; false: it is about a process. */
static bool take_copies(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    struct copy_message copy = {.kind = COPY_LOST};

    switch (message->kind) {
    case WIRE_DATA_COPY:
        if (space->copied || message->data_copy.kind == COPY_KEPT)
            copying_take(space, host, &message->data_copy);
        break;
    case WIRE_DATA_AHEAD:
        if (space->copied)
            ahead_take(space, host, &message->data_ahead);
        break;
    case WIRE_DATA_CHAIN:
        if (space->copied)
            chain_take(space, host, &message->data_chain);
        break;
    case WIRE_DATA_CHAINED:
        if (space->copied) {
            chain_has_come(space, host, &message->data_chained);
            copying_go_on(space, host);
        }
        break;
    case WIRE_DATA_COPIED:
        copy = (struct copy_message){.kind = COPY_DONE,
                                     .part = message->data_copied.part,
                                     .change = message->data_copied.change};
        break;
    case WIRE_DATA_LOST:
        copy.part = message->data_lost.host;
        break;
    case WIRE_DATA_PAST:
    case WIRE_DATA_PAST_IS:
        if (!space->replicas)
            break;
        service_broken(space, host, "a process that goes on alone, but has replicas");
        return true;
    default:
        return false;
    }
    if (!space->copied && message->kind != WIRE_DATA_COPY &&
        !(space->replicas && message->kind == WIRE_DATA_LOST)) {
        service_broken(space, host, "a message of copies, of which there are none");
        return true;
    }
    if (message->kind == WIRE_DATA_COPIED || message->kind == WIRE_DATA_LOST) {
        copies_message(space->copies, host, &copy);
        losses_learn(space);
    }
    return message->kind != WIRE_DATA_PAST && message->kind != WIRE_DATA_PAST_IS;
}

static bool is_asked(enum wire_kind kind)
{
    return kind == WIRE_DATA_PUT || kind == WIRE_DATA_ASK || kind == WIRE_DATA_WITHDRAW ||
           kind == WIRE_DATA_CUT || kind == WIRE_DATA_CALL || kind == WIRE_DATA_OFFER ||
           kind == WIRE_DATA_FETCH;
}

static void take_message(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    uint32_t pid = pid_of(message);
    bool from_there = message->kind == WIRE_DATA_HOW_FAR ? message->data_how_far.answers
                                                         : is_asked(message->kind);
    uint32_t home = from_there ? host : space->host;

    if (host >= space->hosts) {
        service_broken(space, host, "a message about objects from no host of them");
        return;
    }
    if (space->others[host].lost || space->part_lost)
        return;
    /* A copy counts when it is whole, and news of a loss does not. */
    if (message->kind != WIRE_DATA_COPY && message->kind != WIRE_DATA_LOST)
        space->others[host].traffic.received++;
    if (take_copies(space, host, message))
        return;
    if (pid >= space->nprocs || (message->kind != WIRE_DATA_PAST && !service_has(space, pid, home)))
        service_broken(space, host, "a request for a process that it does not have");
    else
        take(space, host, message);
    if (space->replicas)
        behind_watch(space);
}

void dataspace_message(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    service_check(space);
    take_message(space, host, message);
    service_check(space);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static bool send_waiting(struct dataspace *space)
{
    if (space->part_lost)
        return false;
    for (uint32_t host = 0; host < space->hosts && space->stalled > 0; host++)
        copying_go_on(space, host);
    for (uint32_t seat = 0; seat < space->nprocs * space->most && space->stalled > 0; seat++) {
        struct process *process = &space->processes[seat];

        if (process->client == CLIENT_STALLED || process->client == CLIENT_SENDING)
            put_go_on(space, seat / space->most);
        else if (process->guest == GUEST_GRANTING || process->guest == GUEST_DEFERRED)
            guest_go_on(space, seat);
        else if (process->guest == GUEST_OFFERED)
            turns_go_on(space, seat);
        else if (process->client == CLIENT_FETCHING)
            client_go_on(space, seat / space->most);
    }
    if (chain_push(space))
        return true;
    return (space->passing && passing_go_on(space)) || space->stalled > 0;
}

bool dataspace_go_on(struct dataspace *space)
{
    bool result;

    service_check(space);
    result = send_waiting(space);
    service_check(space);
    return result;
}

/* The hosts of the setup, and what there is of each; false: no memory. */
static bool open_hosts(struct dataspace *space, const struct dataspace_setup *setup)
{
    space->hosts = setup->hosts > setup->host ? setup->hosts : setup->host + 1;
    for (uint32_t pid = 0; pid < setup->nprocs; pid++)
        if (setup->homes[pid] >= space->hosts)
            space->hosts = setup->homes[pid] + 1;
    space->others = calloc(space->hosts, sizeof *space->others);
    return space->others != NULL;
}

static bool open_copies(struct dataspace *space, const struct dataspace_setup *setup)
{
    struct copies_setup copies = {.host = space->host,
                                  .hosts = space->hosts,
                                  .ring = space->owners,
                                  .parts = space->owner_count,
                                  .nprocs = space->nprocs,
                                  .replicated = space->replicas != NULL,
                                  .copies = setup->copies > 1 ? setup->copies : 1,
                                  .pool = setup->pool,
                                  .log = space->replicas ? UINT64_MAX : setup->log};

    if (copies.copies > space->owner_count)
        copies.copies = space->owner_count;
    space->copied = copies.copies > 1;
    space->copies = copies_open(&copies, &copies_calls, space);
    return space->copies != NULL;
}

struct dataspace *dataspace_open(const struct dataspace_setup *setup,
                                 const struct dataspace_calls *calls, void *context)
{
    struct dataspace *space = calloc(1, sizeof *space);

    if (!space)
        return NULL;
    *space = (struct dataspace){
        .calls = calls,
        .context = context,
        .host = setup->host,
        .nprocs = setup->nprocs,
        .piece = setup->piece,
        .log = setup->log,
        .large = setup->large > 0 ? setup->large : DATASPACE_LARGE,
        .passed = setup->passed > 0 ? setup->passed : DATASPACE_PASSED,
        .cut_every = setup->cut_every > 0 ? setup->cut_every : DATASPACE_CUT_EVERY,
        .behind_most = setup->behind_most > 0 ? setup->behind_most : DATASPACE_BEHIND_MOST,
        .pool = setup->pool};
    if (open_hosts(space, setup) && replicas_open(space, setup) &&
        service_find_owners(space, setup->homes) && open_copies(space, setup))
        return space;
    dataspace_close(space);
    return NULL;
}

void dataspace_close(struct dataspace *space)
{
    if (!space)
        return;
    for (uint32_t i = 0; space->processes && i < space->nprocs * space->most; i++) {
        object_drop(space->processes[i].object);
        object_drop(space->processes[i].put);
    }
    for (uint32_t host = 0; space->others && host < space->hosts; host++)
        copying_forget(space, host);
    chain_close(space);
    passing_close(space);
    gather_drop(space);
    copies_close(space->copies);
    free(space->processes);
    free(space->replicas);
    free(space->limits);
    free(space->leads);
    free(space->places);
    free(space->others);
    free(space->owners);
    free(space);
}

/* ---- What there is --------------------------------------------------------------------------- */

struct keeper *dataspace_keep(struct dataspace *space)
{
    const struct tags **tags = space->no_room ? NULL : calloc(space->owner_count + 1, sizeof *tags);
    struct keeper *keeper;
    uint32_t count = 0;

    if (!tags)
        return NULL;
    for (uint32_t part = 0; part < space->owner_count; part++)
        if (copies_tags(space->copies, part))
            tags[count++] = copies_tags(space->copies, part);
    if (space->gathered)
        tags[count++] = space->gathered;
    keeper = keeper_begin(tags, count);
    gather_drop(space);
    free(tags);
    return keeper;
}

struct dataspace_traffic dataspace_traffic(const struct dataspace *space)
{
    struct dataspace_traffic all = {0, 0};

    for (uint32_t host = 0; host < space->hosts; host++)
        if (!space->others[host].lost) {
            all.sent += space->others[host].traffic.sent;
            all.received += space->others[host].traffic.received;
        }
    return all;
}

struct tags_totals dataspace_totals(const struct dataspace *space)
{
    return copies_totals(space->copies);
}

bool dataspace_bears_loss(const struct dataspace *space)
{
    return space->copied && !space->part_lost && !copies_gave_up(space->copies);
}
