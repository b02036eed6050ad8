/* object.h - what a tag stands for in the dataspace: bytes that do not change once they are there,
 * so that several deliveries can share them; and the memory that all of a host have together.
 *
 * When that is used up, the oldest objects go to a file, or the new one if it is larger than the
 * bound, or than what small objects leave of it.  These never do: parts of a file are whole pages.
 * Memory of objects that are gone, up to 64 MiB, is kept for the next ones, within the bound.
 *
 * What an object takes beside its bytes, and the tags that have one, count as well, so that a
 * great many objects of few bytes are bounded, too.
 *
 * What can fail: no memory, no room in the file, or the bound is used up by small objects and by
 * what all take beside their bytes: there is no new object then, and nothing has changed otherwise.
 */
#ifndef BSPRUN_DATASPACE_OBJECT_H
#define BSPRUN_DATASPACE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#define DATASPACE_OBJECT_MOST (UINT64_C(1) << 30) /* bytes of an object */

struct pool;

struct object {
    uint64_t size;
    uint32_t references;
    unsigned char *bytes; /* may be elsewhere after each call that makes an object */
    uint64_t mark;        /* the caller's, 0 at first */
    /* Private to object.c. */
    struct pool *pool;
    uint64_t room;                /* bytes of memory there are for it */
    struct object *older, *newer; /* those in memory that may go to a file */
    enum { OBJECT_SMALL, OBJECT_IN_MEMORY, OBJECT_IN_FILE } place;
};

/* Memory that is a part of a file. */
struct pool_files {
    /* NULL: no room. */
    void *(*map)(void *context, uint64_t size);
    void (*unmap)(void *context, void *at, uint64_t size);
};

/* most: bytes of objects in memory and of what is there beside them, with UINT64_MAX files may be
 * NULL; least: bytes of an object that may go to a file, at least 1; entry: bytes of memory that an
 * object takes beside its own wherever these are, and that a tag takes.  NULL: no memory. */
#define OBJECT_ENTRY 96u
struct pool *pool_open(uint64_t most, uint64_t least, uint64_t entry,
                       const struct pool_files *files, void *context);
/* All objects have been dropped.  Harmless for NULL. */
void pool_close(struct pool *pool);
/* Bytes of objects in memory, beside objects, and in the file. */
uint64_t pool_in_memory(const struct pool *pool);
uint64_t pool_beside(const struct pool *pool);
uint64_t pool_in_file(const struct pool *pool);
/* Whether what has to stay in memory leaves no room for an object of that size: more room in the
 * file would not help. */
bool pool_is_used_up(const struct pool *pool, uint64_t size);

/* A new object with one reference, whose bytes the caller writes.  NULL: see above. */
struct object *object_make(struct pool *pool, uint64_t size);
/* One reference more; returns the object. */
struct object *object_share(struct object *object);
/* A tag of so many bytes has the object from now on, or has it no longer.  There is always room for
 * a tag: the objects that come later have less. */
void object_tagged(struct object *object, uint64_t size);
void object_untagged(struct object *object, uint64_t size);
/* One reference less; the last one frees it.  Harmless for NULL. */
void object_drop(struct object *object);

#endif
