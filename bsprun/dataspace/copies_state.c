/* copies_state.c - what a part of the dataspace holds, and how it gets to other hosts; see
 * copies_inside.h.
 */
#include "bsprun/dataspace/copies_inside.h"

#include <errno.h>
#include <stdlib.h>

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

/* The objects that have come are told apart no longer. */
static void forget_had(struct copy_state *state)
{
    while (state->had_count > 0)
        object_drop(state->had[--state->had_count]);
    free(state->had);
    state->had = NULL;
    state->had_room = 0;
}

void copy_state_close(struct copy_state *state)
{
    forget_had(state);
    tags_close(state->tags);
    log_close(state->log);
    *state = (struct copy_state){.tags = NULL};
}

/* ---- To a host that is to back it ------------------------------------------------------------ */

struct sending {
    struct part *part;
    uint32_t host;
    uint32_t objects; /* that have been sent: their marks say which is which */
};

/* What is marked was sent already: its place goes instead of it. */
static void send_object_once(struct sending *sending, struct copy_message *message,
                             struct object *object)
{
    uint64_t first = (uint64_t)sending->part->copies->sendings << 32;

    if (object && object->mark > first) {
        message->same = (uint32_t)(object->mark - first);
        return;
    }
    message->object = object;
    if (object)
        object->mark = first + ++sending->objects;
}

static void send(const struct sending *sending, struct copy_message *message)
{
    const struct copies *copies = sending->part->copies;

    message->part = sending->part->number;
    copies->calls->send(copies->context, sending->host, message);
}

static void send_object(void *context, const void *tag, size_t size, struct object *object)
{
    struct copy_message message = {.kind = COPY_OBJECT, .tag = tag, .tag_size = (uint32_t)size};

    send_object_once(context, &message, object);
    send(context, &message);
}

static void send_answer(void *context, uint32_t pid, uint64_t number, uint64_t what,
                        struct object *object)
{
    struct copy_message message = {.kind = COPY_ANSWER, .pid = pid, .number = number, .what = what};

    send_object_once(context, &message, object);
    send(context, &message);
}

void copy_state_send(struct part *part, uint32_t host)
{
    struct sending to = {part, host, 0};
    struct copy_message begin = {.kind = COPY_BEGIN};
    struct copy_message end = {.kind = COPY_END, .change = part->now.change};

    part->copies->sendings++;
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
    return tags_put(state->tags, message->tag, message->tag_size, object_share(message->object)) ==
                   0
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
    if (message->kind == COPY_NONE) {
        copy_state_close(state);
        return COPY_WHOLE;
    }
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

/* Notes that an object has come of a part as a whole. */
static enum copy_made had(struct copy_state *coming, struct object *object)
{
    if (coming->had_count == coming->had_room) {
        uint32_t room = 2 * coming->had_room + 16;
        struct object **more = realloc(coming->had, room * sizeof *more);

        if (!more)
            return COPY_NO_MEMORY;
        coming->had = more;
        coming->had_room = room;
    }
    coming->had[coming->had_count++] = object_share(object);
    return COPY_MADE;
}

static enum copy_made answer(struct part *part, const struct copy_message *message)
{
    const struct copy_state *coming = &part->coming;
    struct object *object = message->object;

    if (message->same > coming->had_count)
        return COPY_BROKEN;
    if (message->same > 0)
        object = coming->had[message->same - 1];
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
    if (message->kind == COPY_PUT || message->kind == COPY_TAKE || message->kind == COPY_NONE)
        return part->now.tags && !coming->tags ? change(part, &part->now, message) : COPY_BROKEN;
    if (!coming->tags)
        return COPY_BROKEN;
    if (message->object && had(coming, message->object) != COPY_MADE)
        return COPY_NO_MEMORY;
    switch (message->kind) {
    case COPY_OBJECT:
        return put(coming, message);
    case COPY_ANSWER:
        return answer(part, message);
    case COPY_NEWEST:
        log_raise(coming->log, message->pid, message->number);
        return COPY_MADE;
    case COPY_END:
        forget_had(coming);
        copy_state_close(&part->now);
        part->now = *coming;
        part->now.change = message->change;
        *coming = (struct copy_state){.tags = NULL};
        return COPY_WHOLE;
    default:
        return COPY_BROKEN;
    }
}
