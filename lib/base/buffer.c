/* buffer.c - see buffer.h. */
#include "lib/base/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256u /* bytes */

void *bspz_grow(void *list, size_t *room, size_t wanted, size_t size)
{
    size_t least = *room > 0 ? *room : (FIRST_ROOM + size - 1) / size;
    void *more;

    if (list && wanted <= *room)
        return list;
    if (*room > 0 && *room <= SIZE_MAX / 2)
        least = 2 * *room;
    if (least < wanted)
        least = wanted;
    more = reallocarray(list, least, size);
    if (more)
        *room = least;
    return more;
}

bool bspz_buffer_reserve(struct bspz_buffer *buffer, size_t more)
{
    unsigned char *data;

    if (buffer->room - buffer->size >= more)
        return true;
    if (more > SIZE_MAX - buffer->size)
        return false;
    data = bspz_grow(buffer->data, &buffer->room, buffer->size + more, 1);
    if (data)
        buffer->data = data;
    return data != NULL;
}

bool bspz_buffer_add(struct bspz_buffer *buffer, const void *bytes, size_t size)
{
    if (!bspz_buffer_reserve(buffer, size))
        return false;
    if (size > 0)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

void bspz_buffer_clear(struct bspz_buffer *buffer, size_t keep)
{
    buffer->size = 0;
    if (buffer->room > keep)
        bspz_buffer_free(buffer);
}

void bspz_buffer_free(struct bspz_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->data);
    *buffer = (struct bspz_buffer){0};
}
