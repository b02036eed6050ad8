/* maps.h - the mappings of this process, read from the kernel without allocation. */
#ifndef CKPT_CAPTURE_MAPS_H
#define CKPT_CAPTURE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/capture/arena.h"

/* Properties of a mapping, as far as they matter here. */
enum {
    BSPZ_MAP_SHARED = 1 << 0,
    BSPZ_MAP_GROWS_DOWN = 1 << 1,
    BSPZ_MAP_DONT_FORK = 1 << 2, /* a forked process does not have it */
    BSPZ_MAP_WIPE_FORK = 1 << 3, /* a forked process finds zeros */
    BSPZ_MAP_DONT_DUMP = 1 << 4,
    BSPZ_MAP_NO_RESERVE = 1 << 5,
    BSPZ_MAP_HUGE_PAGES = 1 << 6,    /* madvise(MADV_HUGEPAGE) */
    BSPZ_MAP_NO_HUGE_PAGES = 1 << 7, /* madvise(MADV_NOHUGEPAGE) */
    BSPZ_MAP_HUGETLB = 1 << 8,
    BSPZ_MAP_DEVICE = 1 << 9,     /* no memory behind it: registers of a device */
    BSPZ_MAP_USERFAULT = 1 << 10, /* registered with a userfaultfd */
    BSPZ_MAP_LOCKED = 1 << 11,    /* mlock */
    BSPZ_MAP_SEALED = 1 << 12,    /* can be neither moved nor removed */
    BSPZ_MAP_SHADOW_STACK = 1 << 13,
    BSPZ_MAP_MERGEABLE = 1 << 14, /* madvise(MADV_MERGEABLE) */
    BSPZ_MAP_DELETED = 1 << 15,   /* its file has been unlinked */
    BSPZ_MAP_MAY_WRITE = 1 << 16, /* mprotect may make it writable */
    BSPZ_MAP_TRACKED = 1 << 17,   /* registered with a userfaultfd that watches writes only */
    BSPZ_MAP_TAKEN = 1 << 18,     /* has pages that the kernel may take at any time: MADV_FREE */
};

struct bspz_map {
    uint64_t start;
    uint64_t end;
    uint64_t offset;
    uint64_t inode;
    uint64_t device;  /* as the kernel prints it: major << 32 | minor */
    uint64_t present; /* bytes in memory */
    uint64_t swapped; /* bytes swapped out */
    uint32_t prot;    /* PROT_* */
    uint32_t flags;   /* BSPZ_MAP_* */
    uint64_t unused;  /* keeps the size a multiple of 16 */
    const char *path; /* "" when it has none; "[heap]", "[stack]", "[vdso]" as in /proc/self/maps */
};

struct bspz_maps {
    struct bspz_map *map;
    uint32_t count;
};

/* Reads all mappings, ascending, into tables taken from the arena.  `detailed` also fills `present`
 * and the flags that only the detailed list has, at a cost of some 20 ns per page in memory;
 * otherwise only BSPZ_MAP_SHARED and BSPZ_MAP_DELETED are known.  0, or a negative errno: -ENOMEM
 * when the arena is full. */
int bspz_maps_read(struct bspz_maps *maps, bool detailed, struct bspz_arena *arena);

/* The mapping that contains an address, or NULL. */
const struct bspz_map *bspz_maps_find(const struct bspz_maps *maps, uint64_t address);

#endif
