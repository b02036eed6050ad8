/* plan.h - pure computations of a node agent about a snapshot: names, places of copies, memory. */
#ifndef BSPRUN_SNAPSHOT_PLAN_H
#define BSPRUN_SNAPSHOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/core/coord.h"
#include "lib/base/snapshot.h"
#include "lib/wire/wire.h"

/* Slots for the frozen copies of a process. */
#define SNAPSHOT_SLOTS 2

/* Splits the path of process 0's image around the number; false: malformed or too long. */
bool snapshot_split_path(const char *path, char *start, size_t start_size, char *end,
                         size_t end_size);

/* The slot for the next frozen copy: not that of `kept`.  held[k].term 0: slot k is free. */
int snapshot_free_slot(const struct bspz_snapshot_name held[SNAPSHOT_SLOTS],
                       struct bspz_snapshot_name kept);

/* How to take a snapshot of processes with `resident` private bytes in total when `available` bytes
 * are free.  A copy may eventually need as much as its original. */
struct snapshot_way {
    bool copies; /* frozen copies of all */
    bool forked; /* images are written by copies, while the processes go on */
    bool short_of_memory;
};
struct snapshot_way snapshot_choose_way(enum wire_async async, uint64_t resident,
                                        uint64_t available);

/* The costs of a snapshot to a host's processes besides the pause. */
struct snapshot_load {
    uint64_t cpu_ns;       /* CPU time of copies, writers and agent */
    uint64_t changed;      /* bytes changed by all processes since the previous snapshot */
    uint64_t page_copy_ns; /* cost of a copy-on-write fault; 0: no copies */
    uint32_t processes, cores;
};
/* Whether the processes have all cores of their host. */
bool snapshot_cores_full(uint32_t processes, uint32_t cores);
/* What writers may take of busy cores when nobody waits for their images.  If the overhead is
 * bounded they wait for idle cores, unless that has taken long before: what they take is part of
 * the overhead then.  An interval that the user has set is to be kept as far as that is possible.
 * slowest_ns: the longest time that such a snapshot has taken from its barrier to its commit. */
enum bspz_writer_share snapshot_writer_share(bool share_promised, uint64_t slowest_ns);
/* Whether images are compressed, which takes several times as long as writing the bytes it saves.
 * If that would take time from the processes, and the overhead is bounded, larger images are
 * preferable, unless they are sent to other hosts.  processes: 0 before they are made. */
bool snapshot_compress(bool share_promised, uint32_t copies, uint32_t processes, uint32_t cores);
/* The time for which the snapshot kept the processes from their cores: 0 if there is a spare
 * core. */
uint64_t snapshot_busy_ns(const struct snapshot_load *load);
/* The time of copy-on-write faults. */
uint64_t snapshot_copied_ns(const struct snapshot_load *load);

/* The host from which `host` gets the image of process 0: in a tree of the hosts in the order of
 * their first processes, by home[pid], no host sends it to more than SNAPSHOT_BRANCHES others.  For
 * process 0's host, and hosts without processes, that of process 0. */
#define SNAPSHOT_BRANCHES 2u
uint32_t snapshot_source(const uint32_t *home, uint32_t nprocs, uint32_t host);

/* Packs texts, each with its NUL.  False: there is no room. */
bool snapshot_pack_texts(const struct wire_texts *texts, char *room, size_t size, uint32_t *bytes);

/* Copies texts, NULL-terminated, for snapshot_free_texts; NULL: no memory. */
char **snapshot_copy_texts(const char *const *items, uint32_t count);
void snapshot_free_texts(char **texts);

/* The same for packed texts, as in /proc/PID/environ; omits those that begin with `without` (NULL:
 * none). */
char **snapshot_unpack_texts(const char *bytes, size_t size, const char *without, uint32_t *count);

#endif
