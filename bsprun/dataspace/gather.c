/* gather.c - objects of hosts whose processes are not saved in a snapshot; see inside.h.
 *
 * Where processes have replicas, only some hosts save theirs.  Each of the others sends its objects
 * to one of these, which keeps them with its own.  Nothing takes effect meanwhile, so that they fit
 * together whenever each of them is asked.
 *
 * What can fail: a host is lost: nobody waits for what it has not sent, and the snapshot, which
 * lacks that, is not to be committed; there is no memory: the snapshot fails.
 */
#include "bsprun/dataspace/inside.h"

static void send_object(void *context, const void *tag, size_t size, struct object *object)
{
    struct dataspace *space = context;
    struct copy_message message = {.kind = COPY_KEPT,
                                   .number = space->snapshot,
                                   .tag = tag,
                                   .tag_size = (uint32_t)size,
                                   .object = object};

    copying_send(space, space->gave_to, &message);
}

static void send_all(struct dataspace *space, uint32_t keeper)
{
    struct copy_message end = {.kind = COPY_KEPT, .number = space->snapshot};

    if (space->others[keeper].lost)
        return;
    space->gave_to = keeper;
    for (uint32_t part = 0; part < space->owner_count; part++)
        if (copies_tags(space->copies, part))
            tags_each_object(copies_tags(space->copies, part), send_object, space);
    copying_send(space, keeper, &end);
}

static bool is_keeper(const uint64_t *keepers, uint32_t count, uint32_t host)
{
    for (uint32_t i = 0; i < count; i++)
        if (keepers[i] == host)
            return true;
    return false;
}

void dataspace_gather(struct dataspace *space, uint64_t snapshot, const uint64_t *keepers,
                      uint32_t count)
{
    gather_begin(space, snapshot);
    for (uint32_t host = 0; host < space->hosts; host++)
        space->others[host].gives = false;
    if (count == 0)
        gather_stop(space);
    for (uint32_t i = 0; i < space->owner_count && count > 0 && !space->part_lost; i++) {
        uint32_t owner = space->owners[i], keeper = (uint32_t)keepers[i % count];

        if (is_keeper(keepers, count, owner) || keeper >= space->hosts)
            continue;
        space->others[owner].gives = keeper == space->host;
        if (owner == space->host)
            send_all(space, keeper);
    }
}

void dataspace_gather_over(struct dataspace *space, uint64_t snapshot)
{
    if (snapshot == space->snapshot)
        dataspace_gather(space, 0, NULL, 0);
}
