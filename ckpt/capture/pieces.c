/* pieces.c - the mappings cut into pieces, of which each is saved in one way; see snapshot.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/snapshot.h"

static bool is(const char *path, const char *name)
{
    return strcmp(path, name) == 0;
}

/* The kernel's own pages are not saved; each process has its own. */
static bool is_kernels(const struct bspz_snapshot *snapshot, const struct bspz_map *map)
{
    if (strncmp(map->path, "[vvar", 5) == 0 || is(map->path, "[vsyscall]") ||
        is(map->path, "[uprobes]"))
        return true;
    /* After a restore under another kernel libc calls the patched saved pages, not these. */
    return is(map->path, "[vdso]") && map->start != snapshot->thread.vdso_address;
}

static uint32_t kind_of(const struct bspz_map *map)
{
    if (is(map->path, "[vdso]"))
        return BSPZ_REGION_VDSO;
    if (is(map->path, "[heap]"))
        return BSPZ_REGION_HEAP;
    if (is(map->path, "[stack]"))
        return BSPZ_REGION_STACK;
    if (map->flags & BSPZ_MAP_HUGETLB)
        return BSPZ_REGION_ANON;
    if (is(map->path, "/dev/zero") && !(map->flags & BSPZ_MAP_SHARED))
        return BSPZ_REGION_ANON;
    if (map->flags & BSPZ_MAP_SHARED && is(map->path, "/memfd:" BSPZ_COMMON_NAME))
        return BSPZ_REGION_COMMON;
    if (map->flags & BSPZ_MAP_SHARED) {
        if (map->path[0] != '/' || (is(map->path, "/dev/zero") && map->flags & BSPZ_MAP_DELETED))
            return BSPZ_REGION_SHARED;
        /* It may have been written to, or be written to again. */
        return map->prot & PROT_WRITE || map->flags & BSPZ_MAP_MAY_WRITE ? BSPZ_REGION_SHARED_FILE
                                                                         : BSPZ_REGION_FILE;
    }
    return map->path[0] == '/' ? BSPZ_REGION_FILE : BSPZ_REGION_ANON;
}

static int add_piece(struct bspz_snapshot *snapshot, const struct bspz_map *map, uint64_t start,
                     uint64_t end)
{
    struct bspz_piece *piece = bspz_arena_take(&snapshot->arena, sizeof *piece);
    uint64_t stack = snapshot->thread.context.stack_pointer;

    if (!piece)
        return -ENOMEM;
    *piece = (struct bspz_piece){.map = map,
                                 .start = start,
                                 .end = end,
                                 .save_from = start,
                                 .now_at = start,
                                 .kind = kind_of(map)};
    piece->excluded = map->path[0] == '/' && bspz_rules_name(snapshot->options, -1, map->path);
    if (piece->kind == BSPZ_REGION_STACK && stack > start && stack < end)
        piece->save_from = (stack - BSPZ_RED_ZONE) & ~(uint64_t)(BSPZ_PAGE - 1);
    if (piece->save_from < start)
        piece->save_from = start;
    snapshot->piece_count++;
    return 0;
}

_Static_assert(sizeof(struct bspz_piece) % 16 == 0, "an array of these has no holes");

/* The lowest excluded range that ends above `from`, without the part below it. */
static struct bspz_range next_excluded(const struct bspz_snapshot *snapshot, uint64_t from)
{
    struct bspz_range best = {UINT64_MAX, UINT64_MAX};
    struct bspz_range own = bspz_snapshot_memory();

    for (uint32_t i = 0; i <= snapshot->options->excluded_count; i++) {
        struct bspz_range one =
            i < snapshot->options->excluded_count ? snapshot->options->excluded[i] : own;

        if (one.start < one.end && one.end > from && one.start < best.start)
            best = one;
    }
    return best;
}

static int cut_map(struct bspz_snapshot *snapshot, const struct bspz_map *map)
{
    uint64_t at = map->start;

    while (at < map->end) {
        struct bspz_range hole = next_excluded(snapshot, at);
        uint64_t end = hole.start < map->end ? hole.start : map->end;
        int error = end > at ? add_piece(snapshot, map, at, end) : 0;

        if (error)
            return error;
        at = hole.start < map->end ? hole.end : map->end;
    }
    return 0;
}

int bspz_snapshot_cut_maps(struct bspz_snapshot *snapshot)
{
    size_t room;

    snapshot->piece = bspz_arena_rest(&snapshot->arena, &room);
    for (uint32_t i = 0; i < snapshot->maps.count; i++) {
        int error = 0;

        if (!is_kernels(snapshot, &snapshot->maps.map[i]))
            error = cut_map(snapshot, &snapshot->maps.map[i]);
        if (error)
            return error;
    }
    return 0;
}
