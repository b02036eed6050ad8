/* held.c - answers that wait until all that back a part have made a change; see copies_inside.h. */
#include "bsprun/dataspace/copies_inside.h"

#include <stdlib.h>

struct held {
    struct held *next;
    uint64_t change;
    struct asker asker;
    struct object *object; /* NULL: a put */
};

/* Whether all that back the part have made that change. */
static bool is_backed(const struct part *part, uint64_t change)
{
    for (uint32_t i = 0; i < part->backup_count; i++)
        if (!part->backups[i].whole || part->backups[i].done < change)
            return false;
    return true;
}

void held_release(struct part *part)
{
    const struct copies *copies = part->copies;

    while (part->held && is_backed(part, part->held->change)) {
        struct held *held = part->held;

        part->held = held->next;
        if (!part->held)
            part->last_held = &part->held;
        copies->calls->answer(copies->context, &held->asker, held->object);
        free(held);
    }
}

void held_add(struct part *part, const struct asker *asker, struct object *object)
{
    struct held *held;

    if (part->backup_count == 0 && !part->held) {
        part->copies->calls->answer(part->copies->context, asker, object);
        return;
    }
    held = malloc(sizeof *held);

    if (!held) {
        object_drop(object);
        part->copies->calls->no_memory(part->copies->context, asker->pid, sizeof *held);
        return;
    }
    *held = (struct held){NULL, part->now.change, *asker, object};
    *part->last_held = held;
    part->last_held = &held->next;
}

static void drop_first_held(struct held **at)
{
    struct held *held = *at;

    *at = held->next;
    object_drop(held->object);
    free(held);
}

void held_forget(struct part *part, uint32_t pid)
{
    struct held **at = &part->held;

    while (*at) {
        struct held *held = *at;

        if (held->asker.pid == pid)
            drop_first_held(at);
        else
            at = &held->next;
    }
    part->last_held = at;
}

void held_forget_host(struct part *part, uint32_t host)
{
    struct held **at = &part->held;

    while (*at) {
        struct held *held = *at;

        if (held->asker.host == host)
            drop_first_held(at);
        else
            at = &held->next;
    }
    part->last_held = at;
}

bool held_of_host(const struct part *part, uint32_t host, uint32_t *pid)
{
    bool any = false;

    for (const struct held *held = part->held; held; held = held->next)
        if (held->asker.host == host) {
            *pid = held->asker.pid;
            any = true;
        }
    return any;
}

void held_close(struct part *part)
{
    while (part->held)
        drop_first_held(&part->held);
    part->last_held = &part->held;
}

#ifdef BSPZ_CHECKED
bool held_is_sound(const struct part *part)
{
    struct held *const *at = &part->held;
    uint64_t before = 0;

    for (; *at; at = &(*at)->next) {
        if ((*at)->change < before || (*at)->change > part->now.change)
            return false;
        before = (*at)->change;
    }
    return at == part->last_held && (!part->held || !is_backed(part, part->held->change));
}
#endif
