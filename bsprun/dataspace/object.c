/* object.c - see object.h. */
#include "bsprun/dataspace/object.h"

#include <stdlib.h>

struct object *object_make(uint64_t size)
{
    struct object *object = malloc(sizeof *object + size);

    if (object)
        *object = (struct object){.size = size, .references = 1};
    return object;
}

struct object *object_share(struct object *object)
{
    object->references++;
    return object;
}

void object_drop(struct object *object)
{
    if (object && --object->references == 0)
        free(object);
}
