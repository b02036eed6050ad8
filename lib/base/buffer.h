/* buffer.h - bytes that become more; lists that become longer. */
#ifndef BSPZ_BASE_BUFFER_H
#define BSPZ_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* All zero: empty.  Whoever has one may take `data` out of it and leave zeros. */
struct bspz_buffer {
    unsigned char *data; /* of malloc */
    size_t size;         /* bytes in it */
    size_t room;         /* bytes that data has room for */
};

/* Makes room for so many bytes behind those that are there.  At least doubles what it has to make
 * longer, so that appending costs the same time for each byte.  False: no memory, or more than a
 * size_t counts; nothing has changed then. */
bool bspz_buffer_reserve(struct bspz_buffer *buffer, size_t more);
/* Appends the bytes (NULL when there are none).  False: as above. */
bool bspz_buffer_add(struct bspz_buffer *buffer, const void *bytes, size_t size);
/* Empties it, and gives its memory back when that is more than `keep` bytes. */
void bspz_buffer_clear(struct bspz_buffer *buffer, size_t keep);
/* Gives its memory back and makes it empty; harmless for NULL. */
void bspz_buffer_free(struct bspz_buffer *buffer);

/* A list of malloc with room for *room items of `size` bytes becomes one with room for `wanted`, at
 * least twice as many if it has to become longer.  Returns it, and changes *room; NULL: no memory,
 * and the list is as it was. */
void *bspz_grow(void *list, size_t *room, size_t wanted, size_t size);

#endif
