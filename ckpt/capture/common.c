/* common.c - memory that several processes have mapped.
 *
 * What process 0 has mapped shared when it becomes p processes is one object for all of them.  It
 * is known from the number that the kernel gives it, which no two objects have at a time. */
#include <errno.h>
#include <string.h>

#include "ckpt/capture/snapshot.h"

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

int bspz_common_list(const struct bspz_capture_options *options, struct bspz_common *list,
                     uint32_t room, char why[BSPZ_WHY_SIZE])
{
    struct bspz_snapshot *snapshot = bspz_snapshot_begin(options, why);
    uint32_t count = 0;
    int error;

    if (!snapshot) {
        strcpy(why, "no address space for the tables of a snapshot");
        return -ENOMEM;
    }
    error = bspz_maps_read(&snapshot->maps, false, &snapshot->arena);
    if (!error)
        error = bspz_snapshot_cut_maps(snapshot);
    if (error)
        return bspz_snapshot_fail(snapshot, "/proc/self/maps", error);
    for (uint32_t i = 0; i < snapshot->piece_count; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];

        if (piece->kind != BSPZ_REGION_SHARED || piece->excluded || piece->map->inode == 0 ||
            is_listed(list, count < room ? count : room, piece->map))
            continue;
        if (count < room)
            list[count] = (struct bspz_common){piece->map->device, piece->map->inode};
        count++;
    }
    return (int)count;
}
