/* buffer.h - growable byte buffers and lists. */
#ifndef BSPZ_BASE_BUFFER_H
#define BSPZ_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* All zero: empty.  The owner may take `data` out of it and leave zeros. */
struct bspz_buffer {
    unsigned char *data; /* of malloc */
    size_t size;         /* bytes in it */
    size_t room;         /* capacity of data in bytes */
};

/* Makes room for `more` bytes after the present ones.  A reallocation at least doubles the
 * capacity, so that appending takes amortised constant time per byte.  False: no memory, or the
 * size exceeds size_t; nothing has changed then. */
bool bspz_buffer_reserve(struct bspz_buffer *buffer, size_t more);
/* Appends the bytes (NULL when there are none).  False: as above. */
bool bspz_buffer_add(struct bspz_buffer *buffer, const void *bytes, size_t size);
/* Empties it, and frees its memory when that is more than `keep` bytes. */
void bspz_buffer_clear(struct bspz_buffer *buffer, size_t keep);
/* Frees its memory and makes it empty; harmless for NULL. */
void bspz_buffer_free(struct bspz_buffer *buffer);

/* Reallocates a malloc'ed list of *room items of `size` bytes for `wanted` items, at least doubling
 * it if it must grow.  Returns it and updates *room; NULL: no memory, the list is unchanged. */
void *bspz_grow(void *list, size_t *room, size_t wanted, size_t size);

/* Makes room for one item behind the `count` ones of a malloc'ed list, which grows by this alone:
 * its capacity is the least power of two that they fit into, and need not be recorded.  The new
 * item is not initialised.  False: no memory; nothing has changed. */
#define BSPZ_GROW(list, count) bspz_list_grow(&(list), count, sizeof *(list))
bool bspz_list_grow(void *list, size_t count, size_t size);

/* Makes a malloc'ed list of *count items have at least `wanted`, and at least twice as many as
 * before if it must grow; the new ones are zero.  False: as above. */
#define BSPZ_REACH(list, count, wanted) bspz_list_reach(&(list), &(count), wanted, sizeof *(list))
bool bspz_list_reach(void *list, size_t *count, size_t wanted, size_t size);

#endif
