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

/* `list` is the address of the pointer to the items, whose type is known to the caller only. */
static bool reallocate(void *list, size_t count, size_t size)
{
    void *items;

    memcpy(&items, list, sizeof items);
    items = reallocarray(items, count, size);
    if (items)
        memcpy(list, &items, sizeof items);
    return items != NULL;
}

bool bspz_list_grow(void *list, size_t count, size_t size)
{
    bool is_full = (count & (count - 1)) == 0;

    return !is_full || reallocate(list, count > 0 ? 2 * count : 1, size);
}

bool bspz_list_reach(void *list, size_t *count, size_t wanted, size_t size)
{
    unsigned char *items;

    if (wanted <= *count)
        return true;
    if (wanted < 2 * *count)
        wanted = 2 * *count;
    if (!reallocate(list, wanted, size))
        return false;
    memcpy(&items, list, sizeof items);
    memset(items + *count * size, 0, (wanted - *count) * size);
    *count = wanted;
    return true;
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
