/* placement.h - which process goes to which host: pure arithmetic, the same for Processor Zero, who
 * decides, and for bsprun, which tries a request on paper before it passes it on.
 *
 * At first hosts are filled in order, or in turn.  When processes go on from a snapshot:
 *
 *   - those with a frozen copy stay where it is, unless they are to be elsewhere;
 *   - those that are to be on a host, by request or because all are placed anew, go there;
 *   - all others go to the least loaded host;
 *
 * groups that share open files as a whole, none to a drained host while there is another, and none
 * to a host where its memory does not fit beside those that go there, too: then to the least loaded
 * host of those where it fits.  One that fits nowhere stays with its frozen copy, even on a drained
 * host; without a copy it goes to a drained host rather than nowhere.  If that fails for one, or
 * some must stay, the largest are placed first, each where least is left over: the better of both
 * ways counts.  That is no search for the best answer, which may exist where none is found.
 *
 * Memory is regarded only where it is known: what is not known refuses nothing.  What processes
 * that stay with their copies need is not regarded: they are there.
 *
 * No clock, no I/O: equal calls give equal answers.
 */
#ifndef COORD_PLACEMENT_H
#define COORD_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_UNKNOWN  UINT64_MAX
#define PLACEMENT_NOBODY   UINT32_MAX
#define PLACEMENT_TEXT_MAX 1024u

struct placement_host {
    const char *name; /* for texts; NULL: the host is called by its number */
    uint32_t id;      /* that number */
    uint32_t slots;   /* at least 1 */
    uint32_t busy;    /* load by others, in hundredths of a process */
    uint32_t speed;   /* of a core, at least 1 */
    bool drained;     /* gets no processes while there is another */
    uint64_t left;    /* bytes of memory for further processes; PLACEMENT_UNKNOWN */
    uint32_t count;   /* answer: its processes ... */
    uint32_t first;   /* ... and the lowest; 0 if there is none */
    uint64_t free;    /* answer: what remains of `left` */
    uint32_t quota;   /* inside: processes still to be assigned */
};

/* Processes that go to one host: those of a group. */
struct placement_group {
    uint64_t need;   /* bytes, of all together */
    uint32_t lowest; /* pid */
    bool lost;       /* they have no host to stay on */
    bool placed;
};

/* Arrays belong to the caller, and have an entry for each process if nothing else is said. */
struct placement {
    struct placement_host *hosts;
    uint32_t host_count; /* at least 1 */
    uint32_t processes;  /* at least 1 */
    bool all_drained;    /* which is as if none were */
    bool by_node;        /* in turn, else one host after the other */
    bool anew;           /* without regard to where processes were */

    const uint32_t *pids;     /* of each, for texts, in place of its number; NULL: the same */
    const uint16_t *copy_on;  /* index of the host with the frozen copy, plus 1; 0: none */
    const uint32_t *together; /* a lower one of its group; the lowest names itself */
    const uint64_t *needs;    /* bytes of memory elsewhere than with its copy; 0: unknown */
    const uint16_t *moves_to; /* index of the host where it is to be, plus 1; 0: anywhere */

    uint16_t *home;                 /* answer: index of its host */
    uint16_t *wanted;               /* answer: where it was to be, plus 1; 0: anywhere */
    uint32_t *next;                 /* inside: the next of its group, or PLACEMENT_NOBODY */
    struct placement_group *groups; /* inside */
    uint32_t group_count;
    uint32_t nowhere; /* answer: the lowest of a group that fits nowhere, or PLACEMENT_NOBODY */
};

/* As at first: beginning with that host.  Needs hosts and home only. */
void placement_begin(struct placement *placement, uint32_t first);

/* As from a snapshot.  False: some fit nowhere, and the answer says which. */
bool placement_again(struct placement *placement);

/* After true: whether the process was to be elsewhere than it is, by request or as its host is
 * drained. */
bool placement_missed(const struct placement *placement, uint32_t pid);

/* Whether the host gets processes. */
bool placement_is_open(const struct placement *placement, const struct placement_host *host);

/* What the process, with its group, needs, and what the hosts have left where it was to be, or all
 * those that get processes: "process 3 needs 2.0 GiB of memory; host h1 has 1.2 GiB left". */
void placement_text(const struct placement *placement, uint32_t pid, char text[PLACEMENT_TEXT_MAX]);

#endif
