/* keeper.c - see keeper.h. */
#include "bsprun/dataspace/keeper.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/kept.h"

struct item {
    struct object *object;
    struct bspz_kept_object header;
    uint64_t tag; /* place in `names` */
};

struct keeper {
    struct item *items;
    unsigned char *names;
    uint64_t count, names_size, size, done;
    uint64_t current, offset; /* the item that is read, and how far */
};

static uint64_t size_of(const struct item *item)
{
    return sizeof item->header + item->header.tag_size + item->header.size;
}

static void count_one(void *context, const void *tag, size_t size, struct object *object)
{
    struct keeper *keeper = context;

    (void)tag;
    (void)object;
    keeper->count++;
    keeper->names_size += size;
}

static void add_one(void *context, const void *tag, size_t size, struct object *object)
{
    struct keeper *keeper = context;
    struct item *item = &keeper->items[keeper->count++];

    *item = (struct item){.object = object_share(object),
                          .header = {.size = object->size, .tag_size = (uint32_t)size},
                          .tag = keeper->names_size};
    if (size > 0)
        memcpy(keeper->names + item->tag, tag, size);
    keeper->names_size += size;
    keeper->size += size_of(item);
}

struct keeper *keeper_begin(const struct tags *const *tags, uint32_t count)
{
    struct keeper *keeper = calloc(1, sizeof *keeper);

    if (!keeper)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        tags_each_object(tags[i], count_one, keeper);
    keeper->items = calloc(keeper->count + 1, sizeof *keeper->items);
    keeper->names = malloc(keeper->names_size + 1);
    keeper->count = keeper->names_size = 0;
    if (!keeper->items || !keeper->names) {
        keeper_end(keeper);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        tags_each_object(tags[i], add_one, keeper);
    return keeper;
}

void keeper_end(struct keeper *keeper)
{
    if (!keeper)
        return;
    for (uint64_t i = 0; i < keeper->count; i++)
        object_drop(keeper->items[i].object);
    free(keeper->items);
    free(keeper->names);
    free(keeper);
}

uint64_t keeper_size(const struct keeper *keeper)
{
    return keeper->size;
}

uint64_t keeper_done(const struct keeper *keeper)
{
    return keeper->done;
}

/* Copies what is left of one part of the item, which begins at `start` of it; returns how much. */
static uint32_t copy(const struct keeper *keeper, const void *part, uint64_t start, uint64_t size,
                     unsigned char *to, uint32_t room)
{
    uint64_t at = keeper->offset, left;

    if (at < start || at >= start + size)
        return 0;
    left = start + size - at;
    if (left > room)
        left = room;
    memcpy(to, (const unsigned char *)part + (at - start), left);
    return (uint32_t)left;
}

/* Part of the current item; 0: there is none left. */
static uint32_t read_some(const struct keeper *keeper, unsigned char *to, uint32_t room)
{
    const struct item *item = &keeper->items[keeper->current];
    uint64_t name = sizeof item->header, bytes = name + item->header.tag_size;
    uint32_t length = copy(keeper, &item->header, 0, name, to, room);

    if (length == 0)
        length = copy(keeper, keeper->names + item->tag, name, item->header.tag_size, to, room);
    if (length == 0)
        length = copy(keeper, item->object->bytes, bytes, item->header.size, to, room);
    return length;
}

uint32_t keeper_read(struct keeper *keeper, void *to, uint32_t room)
{
    uint32_t done = 0;

    while (done < room && keeper->current < keeper->count) {
        uint32_t length = read_some(keeper, (unsigned char *)to + done, room - done);

        keeper->offset += length;
        done += length;
        if (keeper->offset == size_of(&keeper->items[keeper->current])) {
            keeper->current++;
            keeper->offset = 0;
        }
    }
    keeper->done += done;
    return done;
}
