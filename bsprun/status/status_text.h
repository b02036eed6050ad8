/* status_text.h - the status of a running job as text or JSON.  Pure. */
#ifndef BSPRUN_STATUS_TEXT_H
#define BSPRUN_STATUS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/status/learned_text.h"

struct status_host {
    const char *name;
    uint32_t slots;     /* or the cores, if no slots were set; 0: unknown */
    const char *state;  /* "up", "drained", "lost", "spare", ... */
    uint64_t available; /* bytes of memory for further processes; UINT64_MAX: unknown */
    double
        share; /* of its cores, 0 to 1, that others have left the job, measured for so many ... */
    double share_seconds; /* ... of the time; 0: not at all */
};

struct status_rank {
    uint32_t pid, host; /* host: index of status_facts.hosts */
    const char *state;
    uint64_t superstep;
    const char *function, *file; /* of its last call; "" if there was none */
    uint32_t line;
    uint32_t os_pid; /* on its host; 0: not known, or gone */
    uint64_t memory; /* its private bytes; 0: unknown */
    /* Seconds of its activities since they are counted: since bsp_begin, or since the job was asked
     * for its status. */
    double computing, communicating, waiting;
    bool trails;     /* another replica of the process is ahead, or as far and leads: */
    uint64_t behind; /* by so many supersteps */
};

/* A process that comes to a host: images are sent to it, or it is restored there. */
struct status_coming {
    uint32_t pid, host; /* as in struct status_rank */
    const char *state;  /* "sent ahead", "restored ahead", ... */
    uint64_t superstep; /* of the snapshot; UINT64_MAX: of the one from which all begin */
    uint64_t memory;    /* what it has there, bytes; 0: nothing yet */
};

/* A replica that is lost. */
struct status_lost {
    uint32_t pid, host; /* as in struct status_rank */
};

struct status_facts {
    int os_pid; /* of bsprun */
    const char *program, *directory,
        *job;           /* command line; where it was started; the job's name, "" */
    double seconds;     /* since bsp_begin; 0: before it */
    uint32_t processes; /* 0: unknown */
    double rate;        /* supersteps per second; negative: unknown */
    uint32_t term, restarts;
    uint32_t restarted_alone;            /* processes, while the others went on */
    const char *zero;                    /* the host of Processor Zero, "" */
    bool snapshots;                      /* the job takes snapshots ... */
    bool has_snapshot;                   /* ... and has one: */
    const struct learned_facts *learned; /* of failures; NULL: nothing */
    uint64_t snapshot_superstep, snapshot_count;
    double snapshot_age; /* seconds; negative: unknown, as it is from before a restart */
    const struct status_host *hosts;
    uint32_t host_count;
    const struct status_rank *ranks; /* by pid; those that have answered */
    uint32_t rank_count;
    const struct status_coming *coming; /* by host, state, snapshot, and pid */
    uint32_t coming_count;
    const char *replicas;           /* of each process, as --replicas has it; NULL: one of each */
    uint32_t missing;               /* replicas that there should be */
    const struct status_lost *lost; /* of this term, by pid */
    uint32_t lost_count;
    uint64_t replicas_lost, replicas_made; /* of the whole job, and made anew */
};

/* Sorts them by pid, replicas of a process with the one that leads first, and fills in `trails` and
 * `behind`. */
void status_compare(struct status_rank *ranks, uint32_t count);

/* The least superstep of all processes before bsp_end; of replicas of one process that of the one
 * that leads. */
uint64_t status_superstep(const struct status_rank *ranks, uint32_t count);

/* How many of the processes that have answered are on the host of that index. */
uint32_t status_processes_on(const struct status_facts *facts, uint32_t host);

/* Several lines, the last one with its newline, resp. one line; to be freed; NULL: no memory. */
char *status_text(const struct status_facts *facts);
char *status_hosts_text(const struct status_facts *facts);
char *status_json(const struct status_facts *facts);

#endif
