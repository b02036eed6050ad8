/* copies_state.c - what a part of the dataspace holds, and how it gets to other hosts; see
 * copies_inside.h.
 */
#include "bsprun/dataspace/copies_inside.h"

#include <errno.h>

int copy_state_open(struct copy_state *state, const struct copies_setup *setup,
                    const struct tags_calls *calls, struct part *part)
{
    *state = (struct copy_state){.tags = tags_open(calls, part),
                                 .log = log_open(setup->nprocs, setup->log)};
    if (state->tags && state->log)
        return 0;
    copy_state_close(state);
    return -ENOMEM;
}

void copy_state_close(struct copy_state *state)
{
    tags_close(state->tags);
    log_close(state->log);
    *state = (struct copy_state){NULL, NULL, 0};
}

/* ---- To a host that is to back it ------------------------------------------------------------ */

struct sending {
    struct part *part;
    uint32_t host;
};

static void send(const struct sending *sending, struct copy_message *message)
{
    const struct copies *copies = sending->part->copies;

    message->part = sending->part->number;
    copies->calls->send(copies->context, sending->host, message);
}

static void send_object(void *context, const void *tag, size_t size, struct object *object)
{
    struct copy_message message = {.kind = COPY_OBJECT,
                                   .tag = tag,
                                   .tag_size = (uint32_t)size,
                                   .object = object};

    send(context, &message);
}

static void send_answer(void *context, uint32_t pid, uint64_t number, uint64_t what,
                        struct object *object)
{
    struct copy_message message = {.kind = COPY_ANSWER,
                                   .pid = pid,
                                   .number = number,
                                   .what = what,
                                   .object = object};

    send(context, &message);
}

void copy_state_send(struct part *part, uint32_t host)
{
    struct sending to = {part, host};
    struct copy_message begin = {.kind = COPY_BEGIN};
    struct copy_message end = {.kind = COPY_END, .change = part->now.change};

    send(&to, &begin);
    tags_each_object(part->now.tags, send_object, &to);
    log_each(part->now.log, send_answer, &to);
    for (uint32_t pid = 0; pid < part->copies->setup.nprocs; pid++) {
        struct copy_message newest = {
            .kind = COPY_NEWEST, .pid = pid, .number = log_newest(part->now.log, pid)};

        if (newest.number > 0)
            send(&to, &newest);
    }
    send(&to, &end);
}

/* ---- There ----------------------------------------------------------------------------------- */

static enum copy_made put(struct copy_state *state, const struct copy_message *message)
{
    if (!message->object)
        return COPY_BROKEN;
    return tags_put(state->tags, message->tag, message->tag_size,
                    object_share(message->object)) == 0
               ? COPY_MADE
               : COPY_NO_MEMORY;
}

/* Takes over the reference. */
static enum copy_made note(struct copy_state *state, const struct copy_message *message,
                           struct object *object)
{
    if (message->number > 0 && message->number <= log_newest(state->log, message->pid)) {
        object_drop(object);
        return COPY_BROKEN;
    }
    return log_add(state->log, message->pid, message->number, message->what, object) == 0
               ? COPY_MADE
               : COPY_NO_MEMORY;
}

/* The object is there, as it was for the owner. */
static enum copy_made take(struct part *part, struct copy_state *state,
                           const struct copy_message *message)
{
    struct asker asker = {.pid = message->pid, .number = message->number};
    struct object *object;

    part->taken = NULL;
    if (tags_ask(state->tags, message->tag, message->tag_size, message->removes, &asker) != 0)
        return COPY_NO_MEMORY;
    object = part->taken;
    part->taken = NULL;
    if (object)
        return note(state, message, object);
    tags_withdraw(state->tags, message->tag, message->tag_size, message->pid);
    return COPY_BROKEN;
}

static enum copy_made change(struct part *part, struct copy_state *state,
                             const struct copy_message *message)
{
    enum copy_made made;

    if (message->change != state->change + 1)
        return COPY_BROKEN;
    if (message->kind == COPY_TAKE)
        made = take(part, state, message);
    else
        made = put(state, message);
    if (made == COPY_MADE && message->kind == COPY_PUT)
        made = note(state, message, NULL);
    if (made == COPY_MADE)
        state->change = message->change;
    return made == COPY_MADE ? COPY_WHOLE : made;
}

static enum copy_made answer(struct part *part, const struct copy_message *message)
{
    struct object *object = message->object;

    return note(&part->coming, message, object ? object_share(object) : NULL);
}

enum copy_made copy_state_make(struct part *part, const struct copy_message *message,
                               const struct tags_calls *calls)
{
    struct copy_state *coming = &part->coming;

    if (message->kind == COPY_BEGIN) {
        copy_state_close(coming);
        return copy_state_open(coming, &part->copies->setup, calls, part) == 0 ? COPY_MADE
                                                                               : COPY_NO_MEMORY;
    }
    if (message->kind == COPY_PUT || message->kind == COPY_TAKE)
        return part->now.tags && !coming->tags ? change(part, &part->now, message) : COPY_BROKEN;
    if (!coming->tags)
        return COPY_BROKEN;
    switch (message->kind) {
    case COPY_OBJECT:
        return put(coming, message);
    case COPY_ANSWER:
        return answer(part, message);
    case COPY_NEWEST:
        log_raise(coming->log, message->pid, message->number);
        return COPY_MADE;
    case COPY_END:
        copy_state_close(&part->now);
        part->now = *coming;
        part->now.change = message->change;
        *coming = (struct copy_state){NULL, NULL, 0};
        return COPY_WHOLE;
    default:
        return COPY_BROKEN;
    }
}
