/* pieces.c - objects that are put together of pieces, and what is told; see inside.h. */
#include "bsprun/dataspace/inside.h"

#include <string.h>

void service_send(struct dataspace *space, uint32_t host, const struct wire_message *message)
{
    space->others[host].traffic.sent++;
    space->calls->send(space->context, host, message);
}

void service_broken(struct dataspace *space, uint32_t host, const char *complaint)
{
    space->calls->broken(space->context, host, complaint);
}

void service_no_memory(struct dataspace *space, uint32_t pid, uint64_t bytes)
{
    space->calls->no_memory(space->context, pid, bytes);
}

bool service_begin_object(struct dataspace *space, struct process *process, uint32_t pid,
                          uint64_t size)
{
    process->done = 0;
    process->object = object_make(space->pool, size);
    if (!process->object)
        service_no_memory(space, pid, size);
    return process->object != NULL;
}

struct object *service_take_object(struct process *process)
{
    struct object *object = process->object;

    process->object = NULL;
    return object;
}

bool piece_is_last(const struct piece *piece)
{
    return piece->offset + piece->data.size == piece->size;
}

bool piece_add(struct object *object, uint64_t *done, const struct piece *piece)
{
    if (object->size != piece->size || piece->offset != *done ||
        piece->data.size > piece->size - piece->offset ||
        (piece->data.size == 0 && !piece_is_last(piece)))
        return false;
    if (piece->data.size > 0)
        memcpy(object->bytes + piece->offset, piece->data.data, piece->data.size);
    *done += piece->data.size;
    return true;
}
