/* plan.h - what a node agent works out about a snapshot without touching anything: names,
 * places of copies, whether there is memory for them. */
#ifndef BSPRUN_SNAPSHOT_PLAN_H
#define BSPRUN_SNAPSHOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/core/coord.h"
#include "coordinator/core/lineage.h"
#include "lib/wire/wire.h"

/* What a copy of a process may hold. */
#define SNAPSHOT_SLOTS 2

/* Divides the path of process 0's image around the number; false when it is not one, or too long.
 */
bool snapshot_split_path(const char *path, char *start, size_t start_size, char *end,
                         size_t end_size);

/* The slot for the next frozen copy: one that does not hold that of `kept`.  held[k].term 0: slot k
 * is free. */
int snapshot_free_slot(const struct coord_name held[SNAPSHOT_SLOTS], struct coord_name kept);

/* How to take a snapshot of processes that have `resident` bytes of their own altogether while
 * `available` more can be had.  A copy may in the end need as much as its original. */
struct snapshot_way {
    bool copies; /* frozen copies of all */
    bool forked; /* images are written by copies, while the processes go on */
    bool short_of_memory;
};
struct snapshot_way snapshot_choose_way(enum wire_async async, uint64_t resident,
                                        uint64_t available);

/* What a snapshot has cost a host's processes besides the pause. */
struct snapshot_load {
    uint64_t cpu_ns;       /* processor time of everything that belongs to it */
    uint64_t changed;      /* bytes, of all processes, since the snapshot before */
    uint64_t page_copy_ns; /* what a page costs that copies share when it is changed; 0: none do */
    uint32_t processes, cores;
};
/* Whether the processes have all cores of their host. */
bool snapshot_cores_full(uint32_t processes, uint32_t cores);
/* Whether images are compressed, which takes several times as long as writing what it saves.  Where
 * that time would be the processes', and they are promised that snapshots take no more than a share
 * of it, larger images are the smaller evil; not where they travel to other hosts.  processes: 0
 * before they are made. */
bool snapshot_compress(bool share_promised, uint32_t copies, uint32_t processes, uint32_t cores);
/* How long the processes lacked their cores for it: not at all where one is left over. */
uint64_t snapshot_busy_ns(const struct snapshot_load *load);
/* How long they were held up by getting pages of their own. */
uint64_t snapshot_copied_ns(const struct snapshot_load *load);

/* From which host the image of process 0 comes to `host`: a tree of the hosts in the order of their
 * first processes, home[pid] being that of each, so that no host sends it to more than
 * SNAPSHOT_BRANCHES others.  Process 0's host, and one without processes, are told process 0's. */
#define SNAPSHOT_BRANCHES 2u
uint32_t snapshot_source(const uint32_t *home, uint32_t nprocs, uint32_t host);

/* Texts one after the other, each with its NUL.  False: there is no room. */
bool snapshot_pack_texts(const struct wire_texts *texts, char *room, size_t size, uint32_t *bytes);

/* Copies of texts that are not ours, NULL-terminated, for snapshot_free_texts; NULL: no memory. */
char **snapshot_copy_texts(const char *const *items, uint32_t count);
void snapshot_free_texts(char **texts);

/* The same of texts that lie one after the other, as in /proc/PID/environ; those that begin with
 * `without` (NULL: none) are left out. */
char **snapshot_unpack_texts(const char *bytes, size_t size, const char *without, uint32_t *count);

#endif
