/* chain.c - large objects that several hosts back: the owner sends each to the first of these,
 * which passes it on to the next, and so on; see inside.h.
 *
 * So each link carries the object once, whatever the number of copies.  Pieces go as they come, and
 * are no change yet, but memory, as those of ahead.c.  Each host tells the owner when it has the
 * object, and is sent the change then, without it; the changes that follow wait behind that one.
 *
 * Each chain has a number of its owner, its round.  When the owner learns that any host is lost it
 * gives up all its chains, and says so: pieces of them that come later are ignored, and what is not
 * sent yet of the changes goes from the owner, with the objects.  If the owner is lost, whoever
 * learns of that drops what has come of its chains.  So nobody has to know which hosts have what.
 */
#include "bsprun/dataspace/inside.h"

#include <assert.h>
#include <stdlib.h>

static_assert(COPIES_MOST == WIRE_COPIES_MAX, "the hosts of a message");

/* At the owner. */
struct chain {
    struct chain *next;
    uint32_t round, pid, from; /* a process, and the host on which it puts */
    struct object *object;
    uint64_t come, gone; /* bytes of it that are here, and that went to the first host */
    uint32_t hosts[COPIES_MOST], count;
    uint32_t have, told; /* bits of these: they have it all, and they were sent the change */
    enum { CHAIN_COMES, CHAIN_PUT } state;
};

/* At a host that will back the object. */
struct chained {
    struct chained *next;
    uint32_t owner, round, pid, before; /* before: the host from which it comes */
    uint32_t then[COPIES_MOST], count;  /* those that get it from here */
    struct object *object;
    uint64_t come, passed;
    enum { CHAINED_COMES, CHAINED_WHOLE, CHAINED_PUT } state;
};

static bool is_lost(const struct dataspace *space, uint32_t host)
{
    return copies_is_lost(space->copies, host);
}

/* ---- At the owner ---------------------------------------------------------------------------- */

static void drop_chain(struct chain **at)
{
    struct chain *chain = *at;

    *at = chain->next;
    object_drop(chain->object);
    free(chain);
}

bool chain_begin(struct dataspace *space, const struct copies_request *put, struct object *object,
                 const uint32_t *hosts, uint32_t count)
{
    struct chain *chain;

    if (space->replicas || count < 2 || object->size < space->passed ||
        space->rounds == WIRE_U32_MAX)
        return false;
    chain = malloc(sizeof *chain);
    if (!chain)
        return false; /* it goes to each of them */
    *chain = (struct chain){.next = space->chains,
                            .round = ++space->rounds,
                            .pid = put->asker.pid,
                            .from = put->asker.host,
                            .object = object_share(object),
                            .count = count};
    for (uint32_t i = 0; i < count; i++)
        chain->hosts[i] = hosts[i];
    space->chains = chain;
    return true;
}

static struct wire_message message_of(uint32_t owner, uint32_t round, uint32_t pid)
{
    struct wire_message message = {.kind = WIRE_DATA_CHAIN};

    message.data_chain.owner = owner;
    message.data_chain.round = round;
    message.data_chain.pid = pid;
    return message;
}

/* Sends pieces of the object, from *gone on, to the first of these hosts; the first piece says
 * which others there are. */
static void send_pieces(struct dataspace *space, struct wire_message *message,
                        const struct object *object, uint64_t *gone, uint64_t come,
                        const uint32_t *hosts, uint32_t count)
{
    uint64_t then[COPIES_MOST];

    message->data_chain.size = object->size;
    for (uint32_t i = 1; i < count; i++)
        then[i - 1] = hosts[i];
    while (*gone < come && space->calls->has_room(space->context, hosts[0])) {
        uint64_t length = service_least(come - *gone, service_passed_on(space, object->size));

        message->data_chain.then = (struct wire_numbers){then, *gone == 0 ? count - 1 : 0};
        message->data_chain.offset = *gone;
        message->data_chain.data = (struct wire_bytes){object->bytes + *gone, (uint32_t)length};
        *gone += length;
        service_send(space, hosts[0], message);
    }
}

static void send_on(struct dataspace *space, struct chain *chain)
{
    struct wire_message message = message_of(space->host, chain->round, chain->pid);

    if (!is_lost(space, chain->hosts[0]))
        send_pieces(space, &message, chain->object, &chain->gone, chain->come, chain->hosts,
                    chain->count);
}

void chain_go_on(struct dataspace *space, uint32_t pid, uint32_t from, uint64_t come)
{
    for (struct chain *chain = space->chains; chain; chain = chain->next)
        if (chain->pid == pid && chain->from == from && chain->state == CHAIN_COMES) {
            chain->come = come;
            send_on(space, chain);
        }
}

void chain_end(struct dataspace *space, uint32_t pid, uint32_t from)
{
    struct chain **at = &space->chains;

    while (*at) {
        struct chain *chain = *at;

        if (chain->pid != pid || chain->from != from || chain->state != CHAIN_COMES) {
            at = &chain->next;
            continue;
        }
        if (chain->gone > 0 && !is_lost(space, chain->hosts[0])) {
            struct wire_message message = message_of(space->host, chain->round, pid);

            service_send(space, chain->hosts[0], &message);
        }
        drop_chain(at);
    }
}

static uint32_t bit_of(const struct chain *chain, uint32_t host)
{
    for (uint32_t i = 0; i < chain->count; i++)
        if (chain->hosts[i] == host)
            return UINT32_C(1) << i;
    return 0;
}

uint32_t chain_put(struct dataspace *space, uint32_t host, const struct copy_message *message)
{
    struct chain *chain = space->chains;

    while (chain && (chain->object != message->object || message->kind != COPY_PUT))
        chain = chain->next;
    if (!chain || !bit_of(chain, host))
        return 0;
    chain->state = CHAIN_PUT;
    chain->come = chain->object->size;
    send_on(space, chain);
    return chain->round;
}

static struct chain **find_chain(struct dataspace *space, uint32_t round)
{
    struct chain **at = &space->chains;

    while (*at && (*at)->round != round)
        at = &(*at)->next;
    return at;
}

bool chain_is_there(struct dataspace *space, uint32_t host, uint32_t round)
{
    const struct chain *chain = *find_chain(space, round);

    return chain && chain->have & bit_of(chain, host);
}

void chain_told(struct dataspace *space, uint32_t host, uint32_t round)
{
    struct chain **at = find_chain(space, round);

    (*at)->told |= bit_of(*at, host);
    if ((*at)->told + 1 == UINT32_C(1) << (*at)->count)
        drop_chain(at);
}

void chain_has_come(struct dataspace *space, uint32_t host, const struct wire_data_chained *of)
{
    struct chain *chain = *find_chain(space, of->round);

    if (!chain)
        return; /* it was given up */
    if (!bit_of(chain, host) || chain->gone < chain->object->size) {
        service_broken(space, host, "an object that it cannot have");
        return;
    }
    chain->have |= bit_of(chain, host);
}

/* ---- On the way ------------------------------------------------------------------------------ */

static struct chained **find_chained(struct dataspace *space, uint32_t owner, uint32_t round)
{
    struct chained **at = &space->chained;

    while (*at && ((*at)->owner != owner || (*at)->round != round))
        at = &(*at)->next;
    return at;
}

static void drop_chained(struct chained **at)
{
    struct chained *chained = *at;

    *at = chained->next;
    object_drop(chained->object);
    free(chained);
}

/* Bytes that are to go on: none, if there is no next host that lives. */
static uint64_t left_to_pass(const struct dataspace *space, const struct chained *chained)
{
    return chained->count > 0 && !is_lost(space, chained->then[0])
               ? chained->object->size - chained->passed
               : 0;
}

static void pass_on(struct dataspace *space, struct chained *chained)
{
    struct wire_message message = message_of(chained->owner, chained->round, chained->pid);

    if (left_to_pass(space, chained) > 0)
        send_pieces(space, &message, chained->object, &chained->passed, chained->come,
                    chained->then, chained->count);
}

static void drop_if_done(const struct dataspace *space, struct chained **at)
{
    if ((*at)->state == CHAINED_PUT && left_to_pass(space, *at) == 0)
        drop_chained(at);
}

/* NULL: no memory, or it breaks a rule; the caller is told. */
static struct chained *begin(struct dataspace *space, uint32_t host,
                             const struct wire_data_chain *chain)
{
    struct chained *chained = malloc(sizeof *chained);

    if (!chained) {
        service_no_memory(space, chain->pid, sizeof *chained);
        return NULL;
    }
    *chained = (struct chained){.next = space->chained,
                                .owner = chain->owner,
                                .round = chain->round,
                                .pid = chain->pid,
                                .before = host,
                                .count = chain->then.count,
                                .object = object_make(space->pool, chain->size)};
    if (!chained->object) {
        service_no_memory(space, chain->pid, chain->size);
        free(chained);
        return NULL;
    }
    for (uint32_t i = 0; i < chained->count; i++)
        chained->then[i] = (uint32_t)chain->then.items[i];
    space->chained = chained;
    return chained;
}

static bool is_sound(const struct dataspace *space, uint32_t host,
                     const struct wire_data_chain *chain)
{
    bool sound = chain->owner < space->hosts && chain->owner != space->host &&
                 chain->pid < space->nprocs && chain->then.count < COPIES_MOST &&
                 (!chain->all || (chain->size == 0 && host == chain->owner));

    for (uint32_t i = 0; i < chain->then.count && sound; i++)
        sound = chain->then.items[i] < space->hosts && chain->then.items[i] != space->host;
    return sound;
}

/* It is not put, or the owner has given it up with all before. */
static void take_back(struct dataspace *space, const struct wire_data_chain *chain)
{
    struct chained **at = &space->chained;

    if (chain->all)
        space->others[chain->owner].given_up = chain->round;
    while (*at) {
        struct chained *chained = *at;

        if (chained->owner != chain->owner ||
            (chain->all ? chained->round > chain->round : chained->round != chain->round)) {
            at = &chained->next;
            continue;
        }
        if (!chain->all && chained->count > 0 && !is_lost(space, chained->then[0])) {
            struct wire_message message = message_of(chain->owner, chain->round, chain->pid);

            service_send(space, chained->then[0], &message);
        }
        drop_chained(at);
    }
}

static void take_piece(struct dataspace *space, uint32_t host, const struct wire_data_chain *chain)
{
    struct piece piece = {chain->size, chain->offset, chain->data};
    struct wire_message whole = {.kind = WIRE_DATA_CHAINED};
    struct chained *chained = *find_chained(space, chain->owner, chain->round);

    if (!chained && chain->offset == 0) {
        chained = begin(space, host, chain);
        if (!chained)
            return;
    }
    if (!chained || chained->before != host || chained->state != CHAINED_COMES ||
        !piece_add(chained->object, &chained->come, &piece)) {
        service_broken(space, host, "a piece of an object to be backed that is out of place");
        return;
    }
    pass_on(space, chained);
    if (!piece_is_last(&piece))
        return;
    chained->state = CHAINED_WHOLE;
    whole.data_chained.round = chain->round;
    service_send(space, chain->owner, &whole);
}

void chain_take(struct dataspace *space, uint32_t host, const struct wire_data_chain *chain)
{
    if (!is_sound(space, host, chain))
        service_broken(space, host, "an object to be backed of no owner");
    else if (chain->size == 0)
        take_back(space, chain);
    else if (!is_lost(space, chain->owner) && chain->round > space->others[chain->owner].given_up)
        take_piece(space, host, chain);
}

struct object *chain_object(struct dataspace *space, uint32_t owner, uint32_t round)
{
    struct chained **at = find_chained(space, owner, round);
    struct object *object;

    if (!*at || (*at)->state != CHAINED_WHOLE)
        return NULL;
    object = object_share((*at)->object);
    (*at)->state = CHAINED_PUT;
    drop_if_done(space, at);
    return object;
}

/* ---- Losses, life ---------------------------------------------------------------------------- */

void chain_losses(struct dataspace *space)
{
    struct chained **at = &space->chained;

    while (*at) {
        struct chained *chained = *at;

        if (is_lost(space, chained->owner)) {
            drop_chained(at);
            continue;
        }
        drop_if_done(space, at);
        if (*at == chained)
            at = &chained->next;
    }
    while (space->chains)
        drop_chain(&space->chains);
    for (uint32_t i = 0; i < space->owner_count && space->rounds > 0; i++) {
        struct wire_message message = message_of(space->host, space->rounds, 0);

        message.data_chain.all = true;
        if (space->owners[i] != space->host && !is_lost(space, space->owners[i]))
            service_send(space, space->owners[i], &message);
    }
}

bool chain_push(struct dataspace *space)
{
    struct chained **at = &space->chained;
    bool waits = false;

    for (struct chain *chain = space->chains; chain; chain = chain->next) {
        send_on(space, chain);
        waits |= chain->gone < chain->come;
    }
    while (*at) {
        struct chained *chained = *at;

        pass_on(space, chained);
        waits |= left_to_pass(space, chained) > 0 && chained->passed < chained->come;
        drop_if_done(space, at);
        if (*at == chained)
            at = &chained->next;
    }
    return waits;
}

void chain_close(struct dataspace *space)
{
    while (space->chains)
        drop_chain(&space->chains);
    while (space->chained)
        drop_chained(&space->chained);
}
