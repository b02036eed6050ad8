/* gathered.c - what other hosts have sent of their objects, to be kept here in a snapshot; see
 * inside.h.
 *
 * They take room a second time, here or on the host that has copies of them.  If there is none it
 * is the snapshot that fails, and not the job.
 */
#include "bsprun/dataspace/inside.h"

static void on_grant(void *context, const struct asker *to, struct object *object)
{
    (void)context, (void)to; /* nobody waits for objects that are kept */
    object_drop(object);
}

static const struct tags_calls calls = {.grant = on_grant};

void gather_drop(struct dataspace *space)
{
    tags_close(space->gathered);
    space->gathered = NULL;
}

void gather_begin(struct dataspace *space, uint64_t snapshot)
{
    if (snapshot <= space->snapshot)
        return;
    space->snapshot = snapshot;
    space->no_room = false;
    gather_drop(space);
}

void gather_stop(struct dataspace *space)
{
    gather_drop(space);
    space->skipped = space->snapshot;
    space->no_room = false;
}

bool gather_wants(const struct dataspace *space, uint64_t snapshot)
{
    return !space->replicas || (snapshot >= space->snapshot && snapshot > space->skipped);
}

void gather_refuse(struct dataspace *space, uint64_t snapshot)
{
    gather_begin(space, snapshot);
    if (snapshot < space->snapshot)
        return;
    gather_stop(space);
    space->no_room = true;
}

bool dataspace_gathered(const struct dataspace *space)
{
    for (uint32_t host = 0; host < space->hosts; host++)
        if (space->others[host].gives && !space->others[host].lost &&
            space->others[host].given < space->snapshot)
            return false;
    return true;
}

void gather_take(struct dataspace *space, uint32_t host, const struct copy_message *message)
{
    if (!space->replicas) {
        service_broken(space, host, "objects to keep, where each host keeps its own");
        return;
    }
    gather_begin(space, message->number);
    if (message->number < space->snapshot)
        return; /* of one that was given up */
    if (!message->object) {
        space->others[host].given = message->number;
        return;
    }
    if (!space->gathered)
        space->gathered = tags_open(&calls, space);
    if (!space->gathered || tags_put(space->gathered, message->tag, message->tag_size,
                                     object_share(message->object)) != 0)
        gather_refuse(space, message->number);
}
