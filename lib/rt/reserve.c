/* reserve.c - see reserve.h. */
#include "lib/rt/reserve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/rt/rt.h"
#include "lib/shm/exchange.h"

#define OPEN_LEAST (UINT64_C(2) << 20)

uint64_t bspz_reserve_from = UINT64_MAX;

static uint64_t *opened; /* bytes of the last stretch of each half, [parity][pid] */

int bspz_reserve_begin(void)
{
    size_t halves = 2 * (size_t)bspz_rt.nprocs;

    if (!opened)
        opened = malloc(halves * sizeof *opened);
    if (!opened)
        return ENOMEM;
    memset(opened, 0, halves * sizeof *opened);
    bspz_reserve_from = bspz_rt.board->layout.stretch[BSPZ_STRETCHES - 1];
    return 0;
}

/* The next size after `have` with at least `need` bytes of the half open. */
static uint64_t next_size(uint64_t have, uint64_t need, uint64_t most)
{
    uint64_t size = have > OPEN_LEAST / 2 ? 2 * have : OPEN_LEAST;

    if (size < need)
        size = (need + OPEN_LEAST - 1) / OPEN_LEAST * OPEN_LEAST;
    return size < most ? size : most;
}

int bspz_reserve_open(uint64_t offset, uint64_t bytes)
{
    uint64_t most = bspz_rt.board->layout.half_bytes;
    uint64_t half = (offset - bspz_reserve_from) / most;
    uint64_t need = (offset - bspz_reserve_from) % most + bytes;
    uint64_t size;
    char *start;

    if (offset < bspz_reserve_from || need <= opened[half])
        return 0;
    size = next_size(opened[half], need, most);
    start = (char *)bspz_rt.board + bspz_reserve_from + half * most;
    if (mprotect(start, size, PROT_READ | PROT_WRITE) != 0)
        return errno;
    opened[half] = size;
    return 0;
}

const void *bspz_reserve_show(uint64_t offset, uint64_t bytes)
{
    int error = bspz_reserve_open(offset, bytes);

    if (error)
        bspz_fail_for("bsp_sync", bspz_rt.pid, bspz_rt.self->line[bspz_rt.superstep & 1].position,
                      "cannot open %llu bytes of communication to this process: %s (see "
                      "vm.max_map_count)",
                      (unsigned long long)bytes, strerror(error));
    return (const char *)bspz_rt.board + offset;
}

struct bspz_chunk *bspz_reserve_show_chunk(uint64_t offset)
{
    const struct bspz_chunk *chunk = bspz_reserve_show(offset, sizeof *chunk);

    bspz_reserve_show(offset, sizeof *chunk + chunk->used);
    return (struct bspz_chunk *)((char *)bspz_rt.board + offset);
}

int bspz_reserve_table(const void *table, bool open)
{
    int access = open ? PROT_READ | PROT_WRITE : PROT_NONE;

    return mprotect((void *)table, bspz_rt.board->layout.blocks_bytes, access) == 0 ? 0 : errno;
}
