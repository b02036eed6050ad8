/* maps_cache.c - the detailed list of mappings, kept from one snapshot to the next.
 *
 * To make that list the kernel looks at every page, which takes as long as the fork itself.  A copy
 * may use the flags of the previous snapshot; the writer of its image verifies them off the
 * program's critical path.  Mappings that have grown, shrunk or merged keep their former flags.
 * New memory is assumed to have none, if that was never wrong and saves enough.  A copy with flags
 * that make a difference to a fork is discarded.  When others were wrong, too, the next snapshot
 * reads the list itself.
 */
#include <errno.h>
#include <string.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

struct bspz_memory {
    uint32_t count;
    bool careful; /* a guess was wrong once */
    struct bspz_map map[];
};

#define DETAILS        (~(uint32_t)(BSPZ_MAP_SHARED | BSPZ_MAP_DELETED))
#define WORTH_GUESSING (UINT64_C(32) << 10) /* KiB in memory: half a millisecond of looking */
#define STATUS_BYTES   4096

/* What a copy has found, in memory that the process shares with it. */
enum { FOUND_NOTHING, FOUND_UNFIT, FOUND_INEXACT };

/* A mapping at the same place may be the former one, even with other ends and another
 * protection. */
static bool is_same(const struct bspz_map *now, const struct bspz_map *then)
{
    if ((now->flags ^ then->flags) & ~DETAILS || now->inode != then->inode)
        return false;
    return now->inode == 0 ||
           (now->device == then->device && now->start - now->offset == then->start - then->offset);
}

static bool is_anonymous(const struct bspz_map *map)
{
    return map->inode == 0 && !(map->flags & BSPZ_MAP_SHARED) &&
           (map->path[0] == '\0' || strcmp(map->path, "[heap]") == 0);
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
    return map->flags & BSPZ_MAP_SHARED && (strncmp(map->path, "[anon_shmem:", 12) == 0 ||
                                            (map->flags & BSPZ_MAP_DELETED &&
                                             (strcmp(map->path, "/dev/zero") == 0 ||
                                              strcmp(map->path, "/memfd:" BSPZ_COMMON_NAME) == 0)));
}

/* A fork loses the locks of memory without a trace, so a copy could not notice a wrong guess.  A
 * status that is too long for the buffer has the wanted lines at its beginning. */
static bool is_locked(const struct bspz_memory *memory, const char *status)
{
    const char *locked = bspz_behind(status, "VmLck:");

    for (uint32_t i = 0; i < memory->count; i++)
        if (memory->map[i].flags & BSPZ_MAP_LOCKED)
            return true;
    return !locked || bspz_number(&locked, 10) != 0;
}

/* Whether flags can be recalled; *may_guess: and those of new mappings guessed. */
static bool may_recall(struct bspz_snapshot *snapshot, bool *may_guess)
{
    const struct bspz_memory *memory = snapshot->memory;
    struct bspz_arena before = snapshot->arena;
    char *status = bspz_arena_take(&snapshot->arena, STATUS_BYTES);
    long bytes = status ? bspz_sys_slurp("/proc/self/status", status, STATUS_BYTES) : -ENOMEM;
    bool may;

    if (bytes == -EFBIG)
        status[STATUS_BYTES - 1] = '\0';
    may = (bytes > 0 || bytes == -EFBIG) && !is_locked(memory, status);
    *may_guess =
        may && !memory->careful && bspz_number_behind(status, "VmRSS:", 10) >= WORTH_GUESSING;
    snapshot->arena = before;
    return may;
}

/* The former mapping that contained this one; NULL: none, or several with different flags.  `from`,
 * the first that does not lie below, is advanced. */
static const struct bspz_map *find_former(const struct bspz_memory *memory, uint32_t *from,
                                          const struct bspz_map *map)
{
    const struct bspz_map *former = NULL;

    while (*from < memory->count && memory->map[*from].end <= map->start)
        ++*from;
    for (uint32_t i = *from; i < memory->count && memory->map[i].start < map->end; i++) {
        const struct bspz_map *one = &memory->map[i];

        if (!is_same(map, one) || (former && former->flags != one->flags))
            return NULL;
        former = one;
    }
    return former;
}

/* Fails for memory shared by processes: there it matters what is in memory, which no earlier list
 * says. */
static bool recall(struct bspz_snapshot *snapshot)
{
    struct bspz_memory *memory = snapshot->memory;
    uint32_t from = 0;
    bool may_guess;

    if (memory->count == 0 || !may_recall(snapshot, &may_guess))
        return false;
    for (uint32_t i = 0; i < snapshot->maps.count; i++) {
        struct bspz_map *map = &snapshot->maps.map[i];
        const struct bspz_map *former = find_former(memory, &from, map);

        if (is_shared_memory(map) && !is_excluded(snapshot, map))
            return false;
        if (!former && !(is_anonymous(map) && may_guess))
            return false;
        map->flags = former ? former->flags : map->flags | BSPZ_MAP_MAY_WRITE;
        map->present = map->end - map->start;
        map->swapped = former ? former->swapped : 0;
    }
    return true;
}

static void remember(struct bspz_snapshot *snapshot)
{
    struct bspz_memory *memory = snapshot->memory;
    uint32_t room = (uint32_t)((BSPZ_MEMORY_BYTES - sizeof *memory) / sizeof memory->map[0]);

    memory->count = snapshot->maps.count <= room ? snapshot->maps.count : 0;
    memcpy(memory->map, snapshot->maps.map, memory->count * sizeof memory->map[0]);
    for (uint32_t i = 0; i < memory->count; i++)
        memory->map[i].flags &= ~(uint32_t)BSPZ_MAP_TRACKED; /* what is new is not */
}

int bspz_snapshot_read_maps(struct bspz_snapshot *snapshot, bool quick)
{
    uint32_t found = atomic_exchange(snapshot->stale, FOUND_NOTHING);
    struct bspz_arena before = snapshot->arena;
    int error = 0;

    snapshot->memory->careful = snapshot->memory->careful || found == FOUND_UNFIT;
    snapshot->from_memory = false;
    if (found == FOUND_NOTHING && quick) {
        error = bspz_maps_read(&snapshot->maps, false, &snapshot->arena);
        snapshot->from_memory = !error && recall(snapshot);
        if (!error && !snapshot->from_memory)
            snapshot->arena = before;
    }
    if (!error && !snapshot->from_memory)
        error = bspz_maps_read(&snapshot->maps, true, &snapshot->arena);
    if (error)
        snapshot->memory->count = 0;
    else
        remember(snapshot);
    return error;
}

/* Whether the mapping is now as it was taken to be; being recorded (track.c) makes no difference,
 * nor that no more pages can be taken. */
static bool is_as_guessed(const struct bspz_map *map, const struct bspz_map *now)
{
    uint32_t ignored = BSPZ_MAP_TRACKED | (map->flags & BSPZ_MAP_TAKEN);

    return now && now->end >= map->end && now->prot == map->prot &&
           ((now->flags ^ map->flags) & ~ignored) == 0;
}

int bspz_snapshot_verify(struct bspz_snapshot *snapshot)
{
    struct bspz_maps now;
    int error;

    if (!snapshot->from_memory)
        return 0;
    error = bspz_maps_read(&now, true, &snapshot->arena);
    for (uint32_t i = 0; i < snapshot->maps.count && !error; i++) {
        const struct bspz_map *map = &snapshot->maps.map[i];

        if (!is_excluded(snapshot, map) && !is_as_guessed(map, bspz_maps_find(&now, map->start)))
            error = -EAGAIN;
    }
    if (error == -EAGAIN)
        atomic_store(snapshot->stale, FOUND_INEXACT);
    return error ? bspz_snapshot_fail(snapshot, "/proc/self/smaps", error) : 0;
}

/* Takes the verified flags of a mapping that a copy has, too. */
static void take_verified_flags(struct bspz_map *map, const struct bspz_map *now)
{
    map->flags = (now->flags & ~(uint32_t)BSPZ_MAP_LOCKED) | (map->flags & BSPZ_MAP_LOCKED);
    map->present = now->present;
    map->swapped = now->swapped;
}

int bspz_snapshot_confirm(struct bspz_snapshot *snapshot)
{
    const uint32_t ignored = BSPZ_MAP_LOCKED | BSPZ_MAP_TRACKED | BSPZ_MAP_TAKEN;
    bool exact = true;
    struct bspz_maps now;
    int error;

    if (!snapshot->from_memory)
        return 0;
    error = bspz_maps_read(&now, true, &snapshot->arena);
    for (uint32_t i = 0; i < snapshot->maps.count && !error; i++) {
        struct bspz_map *map = &snapshot->maps.map[i];
        const struct bspz_map *found = bspz_maps_find(&now, map->start);

        if (is_excluded(snapshot, map) || (map->flags & BSPZ_MAP_DONT_FORK && !found))
            continue;
        exact = exact && found && ((found->flags ^ map->flags) & ~ignored) == 0;
        if (!found || (found->flags ^ map->flags) & (BSPZ_MAP_WIPE_FORK | BSPZ_MAP_DONT_FORK))
            error = -EAGAIN;
        else if (!(map->flags & BSPZ_MAP_WIPE_FORK))
            take_verified_flags(map, found);
    }
    if (error == -EAGAIN || !exact)
        atomic_store(snapshot->stale, error == -EAGAIN ? FOUND_UNFIT : FOUND_INEXACT);
    if (!error)
        snapshot->from_memory = false;
    return error ? bspz_snapshot_fail(snapshot,
                                      "mappings changed in a way that a copy cannot follow", error)
                 : 0;
}
