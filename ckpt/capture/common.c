/* common.c - memory that several processes share.
 *
 * Anonymous memory that process 0 has mapped shared when it becomes p processes is one object for
 * all of them.  The kernel gives nobody a descriptor of it, so no restored process could map it
 * again.  Therefore, before the other processes exist, its contents move to a memfd that the
 * starter of restored processes has open, too; the addresses of the mappings do not change.  A
 * snapshot has the contents once, from process 0.
 *
 * Happy path: bspz_common_take: each object gets its place in the file -> its pages in memory are
 * copied -> every mapping is replaced.  What can fail: another thread or a child uses the memory,
 * no room; then nothing has been changed, and a snapshot is refused because of the memory. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

#define APART   (UINT64_C(1) << 20) /* between two objects, as a mapping may grow */
#define NOWHERE UINT64_MAX

/* ---- Memory that was there ---- */

bool bspz_is_common(const struct bspz_snapshot *snapshot, const struct bspz_piece *piece)
{
    const struct bspz_capture_options *options = snapshot->options;

    if (piece->kind != BSPZ_REGION_SHARED)
        return false;
    for (uint32_t i = 0; i < options->common_count; i++)
        if (options->common[i].device == piece->map->device &&
            options->common[i].inode == piece->map->inode)
            return true;
    return false;
}

static bool is_listed(const struct bspz_common *list, uint32_t count, const struct bspz_map *map)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].device == map->device && list[i].inode == map->inode)
            return true;
    return false;
}

static bool can_be_common(const struct bspz_piece *piece)
{
    return piece->kind == BSPZ_REGION_SHARED && !piece->excluded && piece->map->inode != 0;
}

/* NULL and *error: the mappings cannot be read. */
static struct bspz_snapshot *read_pieces(const struct bspz_capture_options *options, bool detailed,
                                         char why[BSPZ_WHY_SIZE], int *error)
{
    struct bspz_snapshot *snapshot = bspz_snapshot_begin(options, why);

    *error = -ENOMEM;
    if (!snapshot) {
        strcpy(why, "no address space for the tables of a snapshot");
        return NULL;
    }
    *error = bspz_maps_read(&snapshot->maps, detailed, &snapshot->arena);
    if (!*error)
        *error = bspz_snapshot_cut_maps(snapshot);
    if (!*error)
        return snapshot;
    bspz_snapshot_fail(snapshot, "the list of mappings", *error);
    return NULL;
}

int bspz_common_list(const struct bspz_capture_options *options, struct bspz_common *list,
                     uint32_t room, char why[BSPZ_WHY_SIZE])
{
    int error;
    struct bspz_snapshot *snapshot = read_pieces(options, false, why, &error);
    uint32_t count = 0;

    for (uint32_t i = 0; snapshot && i < snapshot->piece_count; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];

        if (!can_be_common(piece) || is_listed(list, count < room ? count : room, piece->map))
            continue;
        if (count < room)
            list[count] = (struct bspz_common){piece->map->device, piece->map->inode};
        count++;
    }
    return snapshot ? (int)count : error;
}

/* ---- Moving it ---- */

static bool is_same_object(const struct bspz_piece *a, const struct bspz_piece *b)
{
    return a->map->device == b->map->device && a->map->inode == b->map->inode;
}

static uint64_t offset_of(const struct bspz_piece *piece)
{
    return piece->map->offset + (piece->start - piece->map->start);
}

/* The place in the file of each piece; NOWHERE: it is not moved.  -EFBIG: too much. */
static int find_places(const struct bspz_snapshot *snapshot, uint64_t *place)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < snapshot->piece_count; i++)
        place[i] = NOWHERE;
    for (uint32_t i = 0; i < snapshot->piece_count; i++) {
        const struct bspz_piece *first = &snapshot->piece[i];
        uint64_t from = offset_of(first), to = from;

        if (!can_be_common(first) || place[i] != NOWHERE)
            continue;
        for (uint32_t other = i; other < snapshot->piece_count; other++) {
            const struct bspz_piece *piece = &snapshot->piece[other];
            uint64_t offset = offset_of(piece);

            if (!can_be_common(piece) || !is_same_object(first, piece))
                continue;
            from = offset < from ? offset : from;
            to = offset + (piece->end - piece->start) > to ? offset + (piece->end - piece->start)
                                                           : to;
        }
        for (uint32_t other = i; other < snapshot->piece_count; other++)
            if (can_be_common(&snapshot->piece[other]) &&
                is_same_object(first, &snapshot->piece[other]))
                place[other] = end + (offset_of(&snapshot->piece[other]) - from);
        end = (end + (to - from) + 2 * APART - 1) & ~(APART - 1);
        if (end > BSPZ_COMMON_BYTES)
            return -EFBIG;
    }
    return 0;
}

struct copying {
    uint64_t from, to;
};

static int copy_run(void *context, uint64_t start, uint64_t end)
{
    const struct copying *copying = context;

    memcpy((void *)(copying->to + (start - copying->from)), (const void *)start, end - start);
    return 0;
}

static int copy(struct bspz_snapshot *snapshot, const struct bspz_piece *piece, int fd,
                uint64_t place)
{
    uint64_t length = piece->end - piece->start;
    long at = bspz_sys_map(0, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, place);
    struct copying copying = {piece->start, (uint64_t)at};
    int error;

    if (bspz_failed(at))
        return (int)at;
    error = bspz_own_pages(piece, &snapshot->arena, -1, false, copy_run, &copying);
    bspz_sys2(SYS_munmap, at, length);
    return error;
}

static int replace(const struct bspz_piece *piece, int fd, uint64_t place)
{
    static const struct {
        uint32_t flag;
        int advice;
    } advices[] = {
        {BSPZ_MAP_DONT_FORK, MADV_DONTFORK},
        {BSPZ_MAP_DONT_DUMP, MADV_DONTDUMP},
        {BSPZ_MAP_HUGE_PAGES, MADV_HUGEPAGE},
        {BSPZ_MAP_NO_HUGE_PAGES, MADV_NOHUGEPAGE},
    };
    uint64_t length = piece->end - piece->start;
    uint32_t flags = piece->map->flags;
    long at =
        bspz_sys_map(piece->start, length, piece->map->prot, MAP_SHARED | MAP_FIXED, fd, place);

    if (bspz_failed(at))
        return (int)at;
    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++)
        if (flags & advices[i].flag)
            bspz_sys3(SYS_madvise, piece->start, length, advices[i].advice);
    if (flags & BSPZ_MAP_LOCKED)
        bspz_sys3(SYS_mlock2, piece->start, length, 1 /* MLOCK_ONFAULT */);
    return 0;
}

static int move_all(struct bspz_snapshot *snapshot, int fd, struct bspz_range *kept, uint32_t room)
{
    uint64_t *place = bspz_arena_take(&snapshot->arena, snapshot->piece_count * sizeof *place);
    uint32_t count = 0;
    int error = place ? find_places(snapshot, place) : -ENOMEM;

    for (uint32_t i = 0; i < snapshot->piece_count && !error; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];

        if (place[i] == NOWHERE)
            continue;
        if (count == room)
            return -EBUSY;
        kept[count++] = (struct bspz_range){place[i], place[i] + (piece->end - piece->start)};
        error = copy(snapshot, piece, fd, place[i]);
    }
    if (error)
        return -EBUSY;
    for (uint32_t i = 0; i < snapshot->piece_count && !error; i++)
        if (place[i] != NOWHERE)
            error = replace(&snapshot->piece[i], fd, place[i]);
    if (error)
        return bspz_snapshot_fail(snapshot, "shared memory cannot be mapped again", error);
    return (int)count;
}

int bspz_common_take(const struct bspz_capture_options *options, int fd, struct bspz_range *kept,
                     uint32_t room, char why[BSPZ_WHY_SIZE])
{
    uint64_t mask = bspz_signals_block();
    int result = -EBUSY;
    struct bspz_snapshot *snapshot = read_pieces(options, true, why, &result);

    if (snapshot)
        result = bspz_has_children() || bspz_snapshot_one_thread(snapshot) != 0
                     ? -EBUSY
                     : move_all(snapshot, fd, kept, room);
    bspz_signals_set(mask);
    return result;
}

/* ---- In a snapshot ---- */

/* Whether saved pieces before `last` cover all these bytes of the file. */
static bool is_covered(const struct bspz_snapshot *snapshot, uint32_t last, uint64_t from,
                       uint64_t to)
{
    while (from < to) {
        uint64_t reached = from;

        for (uint32_t i = 0; i < last; i++) {
            const struct bspz_piece *piece = &snapshot->piece[i];
            uint64_t start = offset_of(piece), end = start + (piece->end - piece->start);

            if (piece->kind == BSPZ_REGION_COMMON && !piece->elsewhere && start <= reached &&
                end > reached)
                reached = end;
        }
        if (reached == from)
            return false;
        from = reached;
    }
    return true;
}

void bspz_common_mark(struct bspz_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->piece_count; i++) {
        struct bspz_piece *piece = &snapshot->piece[i];
        uint64_t from = offset_of(piece);

        if (piece->kind == BSPZ_REGION_COMMON)
            piece->elsewhere = !snapshot->options->keeps_common ||
                               is_covered(snapshot, i, from, from + (piece->end - piece->start));
    }
}

bool bspz_common_complete(const struct bspz_snapshot *snapshot)
{
    const struct bspz_capture_options *options = snapshot->options;

    for (uint32_t i = 0; i < options->kept_count && options->keeps_common; i++)
        if (!is_covered(snapshot, snapshot->piece_count, options->kept[i].start,
                        options->kept[i].end))
            return false;
    return true;
}
