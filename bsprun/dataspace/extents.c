/* extents.c - see extents.h. */
#include "bsprun/dataspace/extents.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BITS 64u

struct extent {
    unsigned char *at;
    uint64_t size;
    int file;
    uint32_t pages, used;
    uint32_t first;  /* no page before it is free */
    uint32_t run;    /* no stretch of more pages is free: to look for one takes time */
    uint64_t *taken; /* a bit for each page; those behind the last one are set */
};

struct extents {
    uint64_t size;
    const struct extent_files *files;
    void *context;
    struct extent *all; /* the oldest first */
    uint32_t count, room;
};

struct extents *extents_open(uint64_t size, const struct extent_files *files, void *context)
{
    struct extents *extents = malloc(sizeof *extents);

    if (extents)
        *extents = (struct extents){.size = size, .files = files, .context = context};
    return extents;
}

void extents_close(struct extents *extents)
{
    assert(!extents || extents->count == 0);
    if (extents)
        free(extents->all);
    free(extents);
}

/* ---- Pages of an extent ---------------------------------------------------------------------- */

static bool is_taken(const struct extent *extent, uint32_t page)
{
    return extent->taken[page / BITS] >> page % BITS & 1;
}

static void mark(struct extent *extent, uint32_t page, uint32_t count, bool taken)
{
    for (uint32_t i = page; i < page + count; i++) {
        uint64_t bit = UINT64_C(1) << i % BITS;

        if (taken)
            extent->taken[i / BITS] |= bit;
        else
            extent->taken[i / BITS] &= ~bit;
    }
}

/* The first of so many free pages; extent->pages: there are none, and it is noted. */
static uint32_t find(struct extent *extent, uint32_t count)
{
    uint32_t run = 0, longest = 0, page = extent->first;

    while (page < extent->pages) {
        if (page % BITS == 0 && extent->taken[page / BITS] == UINT64_MAX) {
            run = 0;
            page += BITS;
            continue;
        }
        run = is_taken(extent, page) ? 0 : run + 1;
        page++;
        if (run == count)
            return page - count;
        longest = run > longest ? run : longest;
    }
    extent->run = longest;
    return extent->pages;
}

static void note_taken(struct extent *extent, uint32_t page, uint32_t count)
{
    mark(extent, page, count, true);
    extent->used += count;
    if (page == extent->first)
        extent->first = page + count;
}

static void note_given(struct extent *extent, uint32_t page, uint32_t count)
{
    uint64_t run = 2 * (uint64_t)extent->run + count; /* with what is free on both sides */

    mark(extent, page, count, false);
    extent->used -= count;
    if (page < extent->first)
        extent->first = page;
    extent->run = run < extent->pages - extent->used ? (uint32_t)run : extent->pages - extent->used;
}

/* ---- Extents --------------------------------------------------------------------------------- */

static uint32_t pages_of(uint64_t size)
{
    return (uint32_t)((size + EXTENT_PAGE - 1) / EXTENT_PAGE);
}

static void remove_extent(struct extents *extents, struct extent *extent)
{
    uint32_t number = (uint32_t)(extent - extents->all);

    extents->files->close(extents->context, extent->file, extent->at, extent->size);
    free(extent->taken);
    extents->count--;
    memmove(extent, extent + 1, (extents->count - number) * sizeof *extent);
}

static bool make_place(struct extents *extents)
{
    uint32_t room = 2 * extents->room + 4;
    struct extent *more;

    if (extents->count < extents->room)
        return true;
    more = realloc(extents->all, room * sizeof *more);
    if (!more)
        return false;
    extents->all = more;
    extents->room = room;
    return true;
}

/* NULL: no memory, or no file. */
static struct extent *add_extent(struct extents *extents)
{
    struct extent extent = {.size = extents->size};
    uint32_t words;

    if (!make_place(extents))
        return NULL;
    extent.at = extents->files->open(extents->context, &extent.size, &extent.file);
    if (!extent.at)
        return NULL;
    extent.pages = extent.run = (uint32_t)(extent.size / EXTENT_PAGE);
    words = extent.pages / BITS + 1;
    extent.taken = calloc(words, sizeof *extent.taken);
    if (!extent.taken) {
        extents->files->close(extents->context, extent.file, extent.at, extent.size);
        return NULL;
    }
    mark(&extent, extent.pages, words * BITS - extent.pages, true);
    extents->all[extents->count] = extent;
    return &extents->all[extents->count++];
}

/* NULL: none has so many free pages, and there is no other one. */
static struct extent *find_extent(struct extents *extents, uint32_t count, uint32_t *page)
{
    struct extent *extent;

    for (uint32_t i = 0; i < extents->count; i++) {
        extent = &extents->all[i];
        if (extent->run < count)
            continue;
        *page = find(extent, count);
        if (*page < extent->pages)
            return extent;
    }
    extent = add_extent(extents);
    *page = 0;
    if (extent && extent->pages < count) {
        remove_extent(extents, extent);
        return NULL;
    }
    return extent;
}

void *extents_take(struct extents *extents, uint64_t size)
{
    uint32_t page, count = pages_of(size);
    struct extent *extent;
    uint64_t offset;

    if (size > extents->size)
        return NULL;
    extent = find_extent(extents, count, &page);
    if (!extent)
        return NULL;
    offset = (uint64_t)page * EXTENT_PAGE;
    if (!extents->files->take(extents->context, extent->file, offset,
                              (uint64_t)count * EXTENT_PAGE)) {
        if (extent->used == 0)
            remove_extent(extents, extent);
        return NULL;
    }
    note_taken(extent, page, count);
    return extent->at + offset;
}

bool extents_give(struct extents *extents, void *at, uint64_t size)
{
    uint32_t count = pages_of(size);

    for (uint32_t i = 0; i < extents->count; i++) {
        struct extent *extent = &extents->all[i];
        uint64_t offset = (uint64_t)((uintptr_t)at - (uintptr_t)extent->at);

        if (offset >= extent->size)
            continue;
        note_given(extent, (uint32_t)(offset / EXTENT_PAGE), count);
        if (extent->used == 0) /* its room goes with it */
            remove_extent(extents, extent);
        else
            extents->files->give(extents->context, extent->file, offset,
                                 (uint64_t)count * EXTENT_PAGE);
        return true;
    }
    return false;
}
