/* object.c - see object.h. */
#include "bsprun/dataspace/object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Memory of objects that are gone, for the next ones: the system would have to clear it again. */
#define SPARES      8u
#define SPARE_LEAST 131072u /* smaller ones malloc itself keeps */
#define SPARE_MOST  (UINT64_C(64) << 20)

/* What is large begins with a page, as windows do, from which it is copied: 16 bytes behind the
 * beginning, where malloc puts it, loads of a copy would seem to depend on the stores before. */
#define PAGE        4096u

struct spare {
    unsigned char *bytes;
    uint64_t room;
};

struct pool {
    uint64_t most, least, entry, in_memory, in_file;
    uint64_t beside; /* bytes in memory that are not those of objects */
    uint64_t small;  /* bytes in memory of OBJECT_SMALL, which cannot go */
    const struct pool_files *files;
    void *context;
    struct object *oldest, *newest; /* of OBJECT_IN_MEMORY */
    struct spare spares[SPARES];    /* the oldest first */
    unsigned spare_count;
    uint64_t spare_bytes;
};

struct pool *pool_open(uint64_t most, uint64_t least, uint64_t entry,
                       const struct pool_files *files, void *context)
{
    struct pool *pool = malloc(sizeof *pool);

    if (pool)
        *pool = (struct pool){
            .most = most, .least = least, .entry = entry, .files = files, .context = context};
    return pool;
}

uint64_t pool_in_memory(const struct pool *pool)
{
    return pool->in_memory;
}

uint64_t pool_beside(const struct pool *pool)
{
    return pool->beside;
}

uint64_t pool_in_file(const struct pool *pool)
{
    return pool->in_file;
}

bool pool_is_used_up(const struct pool *pool, uint64_t size)
{
    uint64_t needed = pool->entry + (size < pool->least ? size : 0);

    return pool->small + pool->beside + needed > pool->most;
}

/* Bytes of memory up to the bound: tags may have gone beyond it. */
static uint64_t left(const struct pool *pool)
{
    uint64_t taken = pool->in_memory + pool->beside;

    return taken < pool->most ? pool->most - taken : 0;
}

/* ---- Spare memory ---------------------------------------------------------------------------- */

static struct spare take_spare(struct pool *pool, unsigned at)
{
    struct spare spare = pool->spares[at];

    pool->spare_count--;
    pool->spare_bytes -= spare.room;
    memmove(&pool->spares[at], &pool->spares[at + 1],
            (pool->spare_count - at) * sizeof *pool->spares);
    return spare;
}

/* Gives the oldest back until there are no more than so many bytes. */
static void bound_spares(struct pool *pool, uint64_t most)
{
    while (pool->spare_bytes > most)
        free(take_spare(pool, 0).bytes);
}

/* Bytes for an object, of which there is room for; NULL: no memory. */
static unsigned char *take_bytes(struct pool *pool, uint64_t size, uint64_t *room)
{
    for (unsigned i = pool->spare_count; i-- > 0;)
        if (pool->spares[i].room >= size && pool->spares[i].room - size <= size / 8) {
            struct spare spare = take_spare(pool, i);

            *room = spare.room;
            return spare.bytes;
        }
    *room = size;
    if (size < SPARE_LEAST)
        return malloc(size + 1);
    return aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
}

/* Those of an object that is gone. */
static void give_bytes(struct pool *pool, unsigned char *bytes, uint64_t room)
{
    uint64_t most = left(pool);

    if (most > SPARE_MOST)
        most = SPARE_MOST;
    if (room < SPARE_LEAST || room > most) {
        free(bytes);
        return;
    }
    bound_spares(pool, most - room);
    if (pool->spare_count == SPARES)
        free(take_spare(pool, 0).bytes);
    pool->spares[pool->spare_count++] = (struct spare){bytes, room};
    pool->spare_bytes += room;
}

void pool_close(struct pool *pool)
{
    assert(!pool || (pool->in_memory == 0 && pool->in_file == 0 && pool->beside == 0));
    if (pool)
        bound_spares(pool, 0);
    free(pool);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static void link_newest(struct pool *pool, struct object *object)
{
    object->older = pool->newest;
    object->newer = NULL;
    *(pool->newest ? &pool->newest->newer : &pool->oldest) = object;
    pool->newest = object;
}

static void unlink_object(struct pool *pool, struct object *object)
{
    *(object->older ? &object->older->newer : &pool->oldest) = object->newer;
    *(object->newer ? &object->newer->older : &pool->newest) = object->older;
}

/* NULL: no room. */
static unsigned char *map(struct pool *pool, uint64_t size)
{
    unsigned char *bytes = pool->files ? pool->files->map(pool->context, size) : NULL;

    if (bytes)
        pool->in_file += size;
    return bytes;
}

/* False: no room in the file. */
static bool spill(struct pool *pool, struct object *object)
{
    unsigned char *bytes = map(pool, object->size);

    if (!bytes)
        return false;
    memcpy(bytes, object->bytes, object->size);
    free(object->bytes); /* there is no memory to spare */
    object->bytes = bytes;
    object->place = OBJECT_IN_FILE;
    unlink_object(pool, object);
    pool->in_memory -= object->size;
    return true;
}

/* Whether there is memory for so many bytes more, after the oldest objects have gone. */
static bool make_room(struct pool *pool, uint64_t size)
{
    while (left(pool) < size)
        if (!pool->oldest || !spill(pool, pool->oldest))
            return false;
    bound_spares(pool, left(pool) - size);
    return true;
}

/* Where an object goes: to the file if it can, and there is no memory for it beside what stays
 * there. */
static int place_of(const struct pool *pool, uint64_t size)
{
    if (size < pool->least)
        return OBJECT_SMALL;
    return pool->small + pool->beside + pool->entry + size > pool->most ? OBJECT_IN_FILE
                                                                        : OBJECT_IN_MEMORY;
}

/* ---- Objects --------------------------------------------------------------------------------- */

struct object *object_make(struct pool *pool, uint64_t size)
{
    struct object *object = malloc(sizeof *object);

    if (!object)
        return NULL;
    *object = (struct object){.size = size, .references = 1, .pool = pool};
    object->place = place_of(pool, size);
    if (object->place == OBJECT_IN_FILE && make_room(pool, pool->entry))
        object->bytes = map(pool, size);
    else if (object->place != OBJECT_IN_FILE && make_room(pool, pool->entry + size))
        object->bytes = take_bytes(pool, size, &object->room);
    if (!object->bytes) {
        free(object);
        return NULL;
    }
    pool->beside += pool->entry;
    if (object->place != OBJECT_IN_FILE)
        pool->in_memory += size;
    if (object->place == OBJECT_SMALL)
        pool->small += size;
    if (object->place == OBJECT_IN_MEMORY)
        link_newest(pool, object);
    return object;
}

struct object *object_share(struct object *object)
{
    object->references++;
    return object;
}

void object_tagged(struct object *object, uint64_t size)
{
    object->pool->beside += object->pool->entry + size;
}

void object_untagged(struct object *object, uint64_t size)
{
    object->pool->beside -= object->pool->entry + size;
}

void object_drop(struct object *object)
{
    struct pool *pool;

    if (!object || --object->references > 0)
        return;
    pool = object->pool;
    pool->beside -= pool->entry;
    if (object->place == OBJECT_IN_FILE) {
        pool->in_file -= object->size;
        pool->files->unmap(pool->context, object->bytes, object->size);
    } else {
        pool->in_memory -= object->size;
        if (object->place == OBJECT_IN_MEMORY)
            unlink_object(pool, object);
        else
            pool->small -= object->size;
        give_bytes(pool, object->bytes, object->room);
    }
    free(object);
}
