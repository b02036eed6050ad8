/* cores.h - the processors that the ranks of a job have on this host.
 *
 * Jobs on the same machine claim processors by binding an abstract socket per processor; the kernel
 * releases it when the holder dies, and no file is left.
 */
#ifndef BSPRUN_CORES_H
#define BSPRUN_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/wire/wire.h"

struct cores_claim {
    int count;                       /* ranks that have processors; 0: not enough were free */
    struct hwloc_topology *topology; /* this machine's, and kept from one claim to the next ... */
    struct hwloc_bitmap_s *seen;     /* ... while these are the processors that may be used */
    struct hwloc_bitmap_s **sets;    /* the processors of each rank */
    int *sockets;                    /* claims, by processor; -1: none */
    int processors;                  /* number of these */
};

/* Claims the processors that affinity_choose gives to `wanted` ranks out of those that this thread
 * may use and no other job has claimed: all of them or none.  Returns the number of ranks.  Cost of
 * the first one: some milliseconds, as it looks at the machine. */
int cores_claim(int wanted, enum wire_bind bind, enum wire_map map, struct cores_claim *claim);

/* Releases them; harmless for an empty claim. */
void cores_release(struct cores_claim *claim);
/* The same, and what is known of the machine. */
void cores_free(struct cores_claim *claim);

/* Binds the main thread of a process of the same user to the processors of a rank of the claim.
 * 0 or -errno. */
int cores_bind(const struct cores_claim *claim, int rank, pid_t os_pid);

/* Lets that thread run where this one may.  0 or -errno. */
int cores_unbind(pid_t os_pid);

/* Whether this thread could be bound to the processors of the first rank; it runs where it did
 * afterwards.  0 or -errno. */
int cores_try(const struct cores_claim *claim);

/* The lowest processor of a rank of the claim. */
int cores_first(const struct cores_claim *claim, int rank);

/* What a rank is bound to: "package 0[core 0[hwt 0-1]], processors 0,4". */
void cores_describe(const struct cores_claim *claim, int rank, char *text, size_t size);

/* The processors on which this thread may run: "0-7". */
void cores_allowed(char *text, size_t size);

#endif
