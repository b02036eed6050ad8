/* copies.c - see copies.h. */
#include "bsprun/dataspace/copies.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/copies_inside.h"
#include "bsprun/dataspace/service.h"
#include "lib/base/digest.h"
#include "lib/base/states.h"

#define TO BSPZ_STATES_TO
static const struct bspz_states_row role_rows[PART_ROLE_COUNT] = {
    [PART_ELSEWHERE] = {"elsewhere", TO(PART_BACKED) | TO(PART_OWNED) | TO(PART_LOST)},
    [PART_BACKED] = {"backed", TO(PART_OWNED) | TO(PART_LOST)},
    [PART_OWNED] = {"owned", 0},
    [PART_LOST] = {"lost", 0},
};
static const struct bspz_states roles = {"a part", PART_ROLE_COUNT, role_rows};

static void move_part(struct part *part, enum part_role to)
{
    part->role = (enum part_role)bspz_states_move(&roles, part->role, to);
}

/* ---- Where parts are ------------------------------------------------------------------------- */

uint32_t copies_part(const struct copies *copies, const void *tag, size_t size)
{
    uint64_t digest = bspz_digest(BSPZ_DIGEST_NOTHING, tag, size);

    digest ^= digest >> 32; /* the low bits alone are those of few bytes of the tag */
    return (uint32_t)(digest * UINT64_C(0x9e3779b97f4a7c15) % copies->setup.parts);
}

bool copies_is_lost(const struct copies *copies, uint32_t host)
{
    return copies->lost[host];
}

/* The host that lives and holds the part behind `behind` others; `hosts`: none. */
static uint32_t holder(const struct copies *copies, uint32_t part, uint32_t behind)
{
    for (uint32_t i = 0; i < copies->setup.parts; i++) {
        uint32_t host = copies->ring[(part + i) % copies->setup.parts];

        if (!copies->lost[host] && behind-- == 0)
            return host;
    }
    return copies->setup.hosts;
}

uint32_t copies_owner(const struct copies *copies, uint32_t part)
{
    return holder(copies, part, 0);
}

uint32_t copies_backups(const struct copies *copies, uint32_t part, uint32_t hosts[COPIES_MOST])
{
    const struct part *of = &copies->parts[part];
    uint32_t count = of->role == PART_OWNED && !of->plain ? of->backup_count : 0;

    for (uint32_t i = 0; i < count; i++)
        hosts[i] = of->backups[i].host;
    return count;
}

static void no_memory(const struct copies *copies, uint32_t pid, uint64_t bytes)
{
    copies->calls->no_memory(copies->context, pid, bytes);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void send_change(struct part *part, struct copy_message *message)
{
    const struct copies *copies = part->copies;

    if (part->plain)
        return;
    message->part = part->number;
    message->change = ++part->now.change;
    for (uint32_t i = 0; i < part->backup_count; i++)
        copies->calls->send(copies->context, part->backups[i].host, message);
}

/* All replicas that wait for the object get it; takes over the reference. */
static void grant_replicas(struct part *part, uint32_t pid, struct object *object)
{
    struct asker asker;

    while (waiters_take(part->copies, pid, &asker))
        held_add(part, &asker, object_share(object));
    object_drop(object);
}

static void on_grant(void *context, const struct asker *to, struct object *object)
{
    struct part *part = context;
    struct copies *copies = part->copies;
    struct copy_message message = {.kind = COPY_TAKE,
                                   .pid = to->pid,
                                   .number = to->number,
                                   .what = to->what,
                                   .removes = to->removes,
                                   .tag = part->tag,
                                   .tag_size = part->tag_size};

    if (part->role != PART_OWNED) {
        part->taken = object;
        return;
    }
    send_change(part, &message);
    if (to->number > 0 &&
        log_add(part->now.log, to->pid, to->number, to->what, object_share(object)) != 0)
        no_memory(copies, to->pid, LOG_ENTRY);
    if (copies->waiters)
        grant_replicas(part, to->pid, object);
    else
        held_add(part, to, object);
}

static const struct tags_calls tags_calls = {.grant = on_grant};

/* ---- Requests -------------------------------------------------------------------------------- */

/* Whatever waits of the process, in the parts that this host owns. */
static void forget(struct copies *copies, uint32_t pid)
{
    for (uint32_t i = 0; i < copies->setup.parts; i++)
        if (copies->parts[i].role == PART_OWNED) {
            tags_forget(copies->parts[i].now.tags, pid);
            held_forget(&copies->parts[i], pid);
        }
}

/* What is granted or stored from now on waits until the others know that they have no copy. */
static void give_up_copies(struct part *part)
{
    struct copy_message message = {.kind = COPY_NONE};

    send_change(part, &message);
    part->plain = true;
}

/* The part that the request is for, NULL: it is of an earlier life of the process. */
static struct part *part_for(struct copies *copies, const struct copies_request *request)
{
    struct part *part = &copies->parts[copies_part(copies, request->tag, request->tag_size)];
    uint32_t pid = request->asker.pid;

    assert(part->role == PART_OWNED && pid < copies->setup.nprocs);
    if (request->asker.life < copies->lives[pid])
        return NULL;
    if (request->asker.life > copies->lives[pid])
        forget(copies, pid);
    copies->lives[pid] = request->asker.life;
    if (request->plain && part->backup_count > 0 && part->now.change == 0)
        give_up_copies(part);
    part->tag = request->tag;
    part->tag_size = request->tag_size;
    return part;
}

static void tell_mismatch(const struct copies *copies, const struct copies_request *request,
                          uint64_t was, bool answered)
{
    struct copies_mismatch mismatch = {&request->asker, was, request->tag, request->tag_size,
                                       answered};

    copies->calls->mismatch(copies->context, &mismatch);
}

/* Whether the replica asks for what another one has asked for, or is answered all the same. */
static bool is_same(const struct copies *copies, const struct copies_request *request, uint64_t was)
{
    uint64_t different = request->asker.what ^ was;

    if (different & WHAT_CALLS)
        tell_mismatch(copies, request, was, false);
    else if (different & WHAT_CONTENT)
        tell_mismatch(copies, request, was, true);
    return (different & WHAT_CALLS) == 0;
}

/* A replica that is not behind those of its process that wait has the same request, as none of them
 * got past it. */
static void join(struct part *part, const struct copies_request *request)
{
    const struct copies *copies = part->copies;
    const struct part *where;
    const struct asker *waits = waiters_of(copies, request->asker.pid, &where);

    if (where != part || waits->number != request->asker.number) {
        tell_mismatch(copies, request, waits->what, false);
        return;
    }
    if (is_same(copies, request, waits->what) && !waiters_add(part, request))
        no_memory(copies, request->asker.pid, LOG_ENTRY);
}

/* Whether no replica of the process has made the request. */
static bool is_first(struct part *part, const struct copies_request *request)
{
    const struct copies *copies = part->copies;
    const struct asker *asker = &request->asker, *waits;
    const struct part *where;
    struct object *object = NULL;
    uint64_t was;

    waits = waiters_of(copies, asker->pid, &where);
    if (waits && asker->number >= waits->number) {
        join(part, request);
        return false;
    }
    if (!log_had(part->now.log, asker->pid, asker->number, &was)) {
        if (!waits && asker->number > log_newest(part->now.log, asker->pid))
            return true;
        /* It was not made here, but a later one. */
        tell_mismatch(copies, request, waits ? waits->what : 0, false);
        return false;
    }
    if (!is_same(copies, request, was))
        return false;
    log_find(part->now.log, asker->pid, asker->number, was, true, &object);
    held_add(part, asker, object);
    held_release(part);
    return false;
}

/* Whether it is new; else it has been answered, or never will be. */
static bool is_new(struct part *part, struct copies_request *request, enum dataspace_kind kind)
{
    const struct copies *copies = part->copies;
    struct asker *asker = &request->asker;
    struct object *object = NULL;

    if (asker->number == 0)
        return true;
    if (copies->waiters)
        return is_first(part, request);
    asker->what = log_what(kind, request->tag, request->tag_size);
    switch (log_find(part->now.log, asker->pid, asker->number, asker->what, request->repeats,
                     &object)) {
    case LOG_NEW:
        return true;
    case LOG_DIFFERS:
        copies->calls->differs(copies->context, asker);
        return false;
    default: /* also what took effect a moment ago, and may be on no other host yet */
        held_add(part, asker, object);
        held_release(part);
        return false;
    }
}

bool copies_put_is_new(struct copies *copies, struct copies_request request)
{
    struct part *part = part_for(copies, &request);

    return part && is_new(part, &request, DATASPACE_PUT);
}

bool copies_put(struct copies *copies, struct copies_request request, struct object *object)
{
    struct part *part = part_for(copies, &request);
    const struct asker *asker = &request.asker;
    struct copy_message message = {.kind = COPY_PUT,
                                   .pid = asker->pid,
                                   .number = asker->number,
                                   .tag = request.tag,
                                   .tag_size = request.tag_size,
                                   .object = object};

    if (!part || !is_new(part, &request, DATASPACE_PUT)) {
        object_drop(object);
        return false;
    }
    /* Before what waits for the object takes it. */
    message.what = asker->what;
    send_change(part, &message);
    if (log_add(part->now.log, asker->pid, asker->number, asker->what, NULL) == 0 &&
        tags_put(part->now.tags, request.tag, request.tag_size, object) == 0)
        held_add(part, asker, NULL);
    else
        no_memory(part->copies, asker->pid, request.tag_size);
    held_release(part);
    return true;
}

void copies_ask(struct copies *copies, struct copies_request request, bool removes)
{
    struct part *part = part_for(copies, &request);

    if (!part || !is_new(part, &request, removes ? DATASPACE_GET : DATASPACE_READ))
        return;
    request.asker.removes = removes;
    if ((copies->waiters && !waiters_add(part, &request)) ||
        tags_ask(part->now.tags, request.tag, request.tag_size, removes, &request.asker) != 0)
        no_memory(copies, request.asker.pid, request.tag_size);
    held_release(part);
}

bool copies_withdraw(struct copies *copies, struct copies_request request)
{
    struct part *part = part_for(copies, &request);

    if (copies->waiters)
        return waiters_withdraw(copies, request.asker.pid, request.asker.host);
    return part && tags_withdraw(part->now.tags, request.tag, request.tag_size, request.asker.pid);
}

void copies_cut(struct copies *copies, uint32_t pid, uint64_t number)
{
    for (uint32_t i = 0; i < copies->setup.parts; i++) {
        if (copies->parts[i].now.log)
            log_cut(copies->parts[i].now.log, pid, number);
        if (copies->parts[i].coming.log)
            log_cut(copies->parts[i].coming.log, pid, number);
    }
}

uint64_t copies_newest(const struct copies *copies, uint32_t pid)
{
    uint64_t newest = 0;

    for (uint32_t i = 0; i < copies->setup.parts; i++) {
        const struct part *part = &copies->parts[i];
        uint64_t number = part->role == PART_OWNED ? log_newest(part->now.log, pid) : 0;

        if (number > newest)
            newest = number;
    }
    return newest;
}

/* ---- Losses ---------------------------------------------------------------------------------- */

/* Those that live behind the owner back its part: who is new gets it as a whole. */
static void find_backups(struct part *part, bool sends)
{
    const struct copies *copies = part->copies;
    struct backup before[COPIES_MOST];
    uint32_t count = part->backup_count;

    for (uint32_t i = 0; i < count; i++)
        before[i] = part->backups[i];
    part->backup_count = 0;
    for (uint32_t behind = 1; behind < copies->setup.copies; behind++) {
        uint32_t host = holder(copies, part->number, behind);
        struct backup *backup = &part->backups[part->backup_count];
        bool known = false;

        if (host == copies->setup.hosts)
            return;
        *backup = (struct backup){.host = host, .whole = !sends};
        part->backup_count++;
        for (uint32_t i = 0; i < count; i++)
            if (before[i].host == host) {
                *backup = before[i];
                known = true;
            }
        if (!known && sends)
            copy_state_send(part, host);
    }
}

/* Nobody else backs the part from now on; those that did may still have to say so. */
static void forget_lost_backups(struct part *part)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < part->backup_count; i++)
        if (!part->copies->lost[part->backups[i].host])
            part->backups[count++] = part->backups[i];
    part->backup_count = count;
}

static bool is_to_back(const struct part *part)
{
    const struct copies *copies = part->copies;

    for (uint32_t behind = 1; behind < copies->setup.copies; behind++)
        if (holder(copies, part->number, behind) == copies->setup.host)
            return true;
    return false;
}

static void look_again(struct part *part)
{
    struct copies *copies = part->copies;
    uint32_t owner = copies_owner(copies, part->number);
    bool owns = owner == copies->setup.host;

    if (part->role == PART_LOST)
        return;
    if (!owns && owner < copies->setup.hosts) {
        if (part->role == PART_ELSEWHERE && is_to_back(part))
            move_part(part, PART_BACKED);
        return;
    }
    copy_state_close(&part->coming);
    if (!owns || !part->now.tags) {
        move_part(part, PART_LOST);
        copies->calls->part_lost(copies->context, part->number);
        return;
    }
    if (part->role != PART_OWNED)
        move_part(part, PART_OWNED);
    if (part->plain)
        forget_lost_backups(part);
    else
        find_backups(part, true);
    held_release(part);
}

struct askers_of_host {
    struct copies *copies;
    uint32_t host;
    uint32_t pid; /* one that waits; nprocs: none */
};

static void find_asker(void *context, const struct asker *asker, const void *tag, size_t size,
                       bool removes)
{
    struct askers_of_host *of = context;

    (void)tag, (void)size, (void)removes;
    if (asker->host == of->host)
        of->pid = asker->pid;
}

/* Drops what waits of the processes of a host. */
static void forget_host(struct part *part, uint32_t host)
{
    struct copies *copies = part->copies;
    struct askers_of_host of = {copies, host, 0};
    uint32_t pid;

    if (copies->waiters) {
        held_forget_host(part, host);
        return;
    }
    while (of.pid < copies->setup.nprocs) {
        of.pid = copies->setup.nprocs;
        tags_each_waiting(part->now.tags, find_asker, &of);
        if (held_of_host(part, host, &pid))
            of.pid = pid;
        if (of.pid == copies->setup.nprocs)
            return;
        tags_forget(part->now.tags, of.pid);
        held_forget(part, of.pid);
    }
}

void copies_lost(struct copies *copies, uint32_t host)
{
    struct copy_message message = {.kind = COPY_LOST, .part = host};

    if (copies->lost[host])
        return;
    copies->lost[host] = true;
    for (uint32_t i = 0; i < copies->setup.parts; i++)
        if (copies->ring[i] != copies->setup.host && !copies->lost[copies->ring[i]])
            copies->calls->send(copies->context, copies->ring[i], &message);
    for (uint32_t i = 0; i < copies->setup.parts; i++)
        if (copies->parts[i].role == PART_OWNED)
            forget_host(&copies->parts[i], host);
    if (copies->waiters)
        waiters_forget_host(copies, host);
    for (uint32_t i = 0; i < copies->setup.parts; i++)
        look_again(&copies->parts[i]);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void broken(const struct copies *copies, uint32_t host, const char *complaint)
{
    copies->calls->broken(copies->context, host, complaint);
}

static void done(struct part *part, uint32_t host, uint64_t change)
{
    for (uint32_t i = 0; part->role == PART_OWNED && i < part->backup_count; i++) {
        struct backup *backup = &part->backups[i];

        if (backup->host != host)
            continue;
        if (change > part->now.change || (backup->whole && change < backup->done))
            break;
        backup->whole = true;
        backup->done = change;
        held_release(part);
        return;
    }
    broken(part->copies, host, "a change that it cannot have made");
}

static void make(struct part *part, uint32_t host, const struct copy_message *message)
{
    const struct copies *copies = part->copies;
    struct copy_message answer = {
        .kind = COPY_DONE, .part = part->number, .change = message->change};

    if (part->role != PART_BACKED || copies_owner(copies, part->number) != host) {
        broken(copies, host, "a part that it does not own, or that is not backed here");
        return;
    }
    switch (copy_state_make(part, message, &tags_calls)) {
    case COPY_MADE:
        break;
    case COPY_WHOLE:
        copies->calls->send(copies->context, host, &answer);
        break;
    case COPY_NO_MEMORY:
        no_memory(copies, message->pid, message->object ? message->object->size : LOG_ENTRY);
        break;
    case COPY_BROKEN:
        broken(copies, host, "a change that does not follow what is here");
        break;
    }
}

void copies_message(struct copies *copies, uint32_t host, const struct copy_message *message)
{
    if (copies->lost[host])
        return;
    if (message->part >= (message->kind == COPY_LOST ? copies->setup.hosts : copies->setup.parts) ||
        message->pid >= copies->setup.nprocs)
        broken(copies, host, "a part or a process that there is not");
    else if (message->kind != COPY_LOST && message->kind != COPY_DONE)
        make(&copies->parts[message->part], host, message);
    else if (message->kind == COPY_DONE)
        done(&copies->parts[message->part], host, message->change);
    else if (message->part == copies->setup.host)
        broken(copies, host, "that this host is lost");
    else
        copies_lost(copies, message->part);
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* In the beginning all parts are empty, and so whole everywhere. */
static int open_parts(struct copies *copies)
{
    for (uint32_t i = 0; i < copies->setup.parts; i++) {
        struct part *part = &copies->parts[i];
        bool owns = copies->ring[i] == copies->setup.host;

        *part = (struct part){.copies = copies, .number = i, .last_held = &part->held};
        if (!owns && !is_to_back(part))
            continue;
        move_part(part, owns ? PART_OWNED : PART_BACKED);
        if (copy_state_open(&part->now, &copies->setup, &tags_calls, part) != 0)
            return -1;
        if (owns)
            find_backups(part, false);
    }
    return 0;
}

struct copies *copies_open(const struct copies_setup *setup, const struct copies_calls *calls,
                           void *context)
{
    struct copies *copies = calloc(1, sizeof *copies);

    assert(setup->copies >= 1 && setup->copies <= COPIES_MOST && setup->host < setup->hosts);
    assert(setup->parts >= 1);
    if (!copies)
        return NULL;
    *copies = (struct copies){.calls = calls, .context = context, .setup = *setup};
    copies->ring = calloc(setup->parts, sizeof *copies->ring);
    copies->lost = calloc(setup->hosts, sizeof *copies->lost);
    copies->lives = calloc(setup->nprocs, sizeof *copies->lives);
    copies->parts = calloc(setup->parts, sizeof *copies->parts);
    if (copies->ring)
        memcpy(copies->ring, setup->ring, setup->parts * sizeof *copies->ring);
    if (copies->ring && copies->lost && copies->lives && copies->parts && waiters_open(copies) &&
        open_parts(copies) == 0)
        return copies;
    copies_close(copies);
    return NULL;
}

void copies_close(struct copies *copies)
{
    if (!copies)
        return;
    for (uint32_t i = 0; copies->parts && i < copies->setup.parts; i++) {
        struct part *part = &copies->parts[i];

        held_close(part);
        copy_state_close(&part->now);
        copy_state_close(&part->coming);
    }
    waiters_close(copies);
    free(copies->ring);
    free(copies->lost);
    free(copies->lives);
    free(copies->parts);
    free(copies);
}

/* ---- What there is --------------------------------------------------------------------------- */

const struct tags *copies_tags(const struct copies *copies, uint32_t part)
{
    return copies->parts[part].role == PART_OWNED ? copies->parts[part].now.tags : NULL;
}

struct tags_totals copies_totals(const struct copies *copies)
{
    struct tags_totals all = {0, 0, 0, 0};

    for (uint32_t i = 0; i < copies->setup.parts; i++) {
        const struct tags *tags = copies_tags(copies, i);
        struct tags_totals of = tags ? tags_totals(tags) : (struct tags_totals){0, 0, 0, 0};

        all.tags += of.tags;
        all.objects += of.objects;
        all.bytes += of.bytes;
        all.waiting += of.waiting;
    }
    return all;
}

uint64_t copies_logged(const struct copies *copies, uint32_t pid)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < copies->setup.parts; i++) {
        const struct log *log = copies->parts[i].now.log;

        if (log)
            bytes += pid < copies->setup.nprocs ? log_bytes(log, pid) : log_bytes_all(log);
    }
    return bytes;
}

uint32_t copies_logged_beyond(const struct copies *copies, uint64_t bytes, uint64_t *answers)
{
    uint32_t most = copies->setup.nprocs;

    for (uint32_t i = 0; i < copies->setup.parts && most == copies->setup.nprocs; i++) {
        const struct log *log = copies->parts[i].now.log;

        if (!log || log_bytes_all(log) <= bytes)
            continue;
        most = 0;
        for (uint32_t pid = 1; pid < copies->setup.nprocs; pid++)
            if (log_bytes(log, pid) > log_bytes(log, most))
                most = pid;
        *answers = log_count(log, most);
    }
    return most;
}

bool copies_gave_up(const struct copies *copies)
{
    for (uint32_t i = 0; i < copies->setup.parts; i++)
        if (copies->parts[i].plain ||
            (copies->parts[i].now.log && log_gave_up(copies->parts[i].now.log)))
            return true;
    return false;
}
