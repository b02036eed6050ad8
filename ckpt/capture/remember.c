/* remember.c - the detailed list of mappings, kept from one snapshot to the next.
 *
 * The kernel makes that list by looking at every page, which takes longer than the fork itself.  A
 * copy that is made while the plain list is as it was can do with the flags of the last time, and
 * looks itself, off the program's path, whether they were still right: if a flag was changed
 * without a change of the list (madvise on a whole mapping), the copy is given up, and the next
 * snapshot looks again. */
#include <errno.h>
#include <string.h>

#include "ckpt/capture/snapshot.h"

struct bspz_memory {
    uint32_t count;
    struct bspz_map map[];
};

#define DETAILS (~(uint32_t)(BSPZ_MAP_SHARED | BSPZ_MAP_DELETED))

static bool is_same(const struct bspz_map *a, const struct bspz_map *b)
{
    return a->start == b->start && a->end == b->end && a->prot == b->prot &&
           a->offset == b->offset && a->inode == b->inode && a->device == b->device &&
           (a->flags & ~DETAILS) == (b->flags & ~DETAILS);
}

static bool is_excluded(const struct bspz_snapshot *snapshot, const struct bspz_map *map)
{
    const struct bspz_range own = bspz_snapshot_memory();

    if (own.start <= map->start && own.end >= map->end)
        return true;
    for (uint32_t i = 0; i < snapshot->options->excluded_count; i++)
        if (snapshot->options->excluded[i].start <= map->start &&
            snapshot->options->excluded[i].end >= map->end)
            return true;
    return false;
}

static bool is_shared_memory(const struct bspz_map *map)
{
    return map->flags & BSPZ_MAP_SHARED && map->flags & BSPZ_MAP_DELETED &&
           strcmp(map->path, "/dev/zero") == 0;
}

/* What is in memory is not known without looking; for memory shared by processes it matters. */
static bool recall(struct bspz_snapshot *snapshot)
{
    const struct bspz_memory *memory = snapshot->memory;

    if (memory->count == 0 || memory->count != snapshot->maps.count)
        return false;
    for (uint32_t i = 0; i < memory->count; i++) {
        struct bspz_map *map = &snapshot->maps.map[i];

        if (!is_same(map, &memory->map[i]) ||
            (is_shared_memory(map) && !is_excluded(snapshot, map)))
            return false;
        map->flags = memory->map[i].flags;
        map->present = map->end - map->start;
        map->swapped = memory->map[i].swapped;
    }
    return true;
}

int bspz_snapshot_read_maps(struct bspz_snapshot *snapshot, bool quick)
{
    struct bspz_memory *memory = snapshot->memory;
    struct bspz_arena before = snapshot->arena;
    uint32_t room = (uint32_t)((BSPZ_MEMORY_BYTES - sizeof *memory) / sizeof memory->map[0]);
    int error;

    snapshot->from_memory = false;
    if (atomic_exchange(snapshot->stale, 0) == 0 && quick) {
        error = bspz_maps_read(&snapshot->maps, false, &snapshot->arena);
        snapshot->from_memory = !error && recall(snapshot);
        if (error || snapshot->from_memory)
            return error;
        snapshot->arena = before;
    }
    error = bspz_maps_read(&snapshot->maps, true, &snapshot->arena);
    memory->count = 0;
    if (error || snapshot->maps.count > room)
        return error;
    memcpy(memory->map, snapshot->maps.map, snapshot->maps.count * sizeof memory->map[0]);
    memory->count = snapshot->maps.count;
    return 0;
}

int bspz_snapshot_confirm(struct bspz_snapshot *snapshot)
{
    struct bspz_maps now;
    int error;

    if (!snapshot->from_memory)
        return 0;
    error = bspz_maps_read(&now, true, &snapshot->arena);
    for (uint32_t i = 0; i < snapshot->piece_count && !error; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];
        const struct bspz_map *map = bspz_maps_find(&now, piece->start);

        if (piece->map->flags & BSPZ_MAP_DONT_FORK)
            continue;
        if (!map || (map->flags ^ piece->map->flags) & (BSPZ_MAP_WIPE_FORK | BSPZ_MAP_DONT_FORK))
            error = -EAGAIN;
    }
    if (error == -EAGAIN)
        atomic_store(snapshot->stale, 1);
    return error ? bspz_snapshot_fail(snapshot,
                                      "mappings changed in a way that a copy cannot follow", error)
                 : 0;
}
