/* room.h - whether what the user asks for fits into the memory of the hosts, as far as that is
 * known while the job runs: the request is tried on paper, by the placement of Processor Zero
 * (coordinator/core/placement.h).  Pure, but for memory of malloc.
 *
 * Which processes share files, and must go together, bsprun does not know; Processor Zero decides
 * again, with what it knows, when the next term begins.
 */
#ifndef BSPRUN_ROOM_H
#define BSPRUN_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/placement.h"
#include "lib/wire/replica_counts.h"
#include "lib/wire/wire.h"

#define ROOM_NOBODY UINT32_MAX

struct room_host {
    const char *name;
    uint32_t slots;     /* 0 counts as 1 */
    bool takes_part;    /* in the present term, and in the next one */
    bool drained;       /* in the next one */
    uint32_t busy;      /* load by others, in hundredths of a process */
    uint32_t speed;     /* of a core; 0: unknown */
    uint64_t available; /* bytes for further processes; PLACEMENT_UNKNOWN */
};

struct room_process {
    uint32_t host;   /* index; ROOM_NOBODY: unknown */
    uint64_t memory; /* private bytes; 0: unknown */
};

struct room {
    const struct room_host *hosts; /* with what is asked for */
    uint32_t host_count;
    const struct room_process *processes; /* by pid */
    uint32_t process_count;
    bool by_node, anew;
    bool without_copies; /* processes need their memory also where they are: they have ended, and
                            may have no copies */
    uint32_t leaves;     /* the host that processes are to leave; ROOM_NOBODY */
    uint32_t moves, to;  /* the process that is to go to a host; ROOM_NOBODY */
    struct wire_move_list wanted; /* others that were asked for before; the hosts are indexes */
};

/* A host has that process, and so much memory of it.  Of several, which have replicas, one counts
 * that goes on having it: the next term need not have it elsewhere.  hosts: of the room. */
void room_found(const struct room_host *hosts, struct room_process *process,
                struct room_process found);

/* False: it does not fit, and `text` says which process needs how much, and what hosts have left.
 * Without memory of malloc nothing is refused. */
bool room_suffices(const struct room *room, char text[PLACEMENT_TEXT_MAX]);

/* Where each process is expected to be in the next term: indexes of hosts.  False: nothing is
 * expected, as some process fits nowhere, no host takes part, or there is no memory of malloc. */
bool room_expect(const struct room *room, uint32_t *to);

#define ROOM_REPLICAS_TEXT (PLACEMENT_TEXT_MAX + 32u)

/* Whether there is room for so many replicas of each process in the next term: Processor Zero
 * begins it on paper.  `available` of a host is what it has left when all processes of this one
 * have ended. False: there would be fewer, and `text` says why.  Without memory of malloc there is
 * room. */
bool room_replicas_fit(const struct room *room, const struct replica_counts *counts,
                       char text[ROOM_REPLICAS_TEXT]);

#endif
