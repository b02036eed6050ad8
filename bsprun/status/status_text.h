/* status_text.h - what is known of a running job, as a text for people or as JSON.  Pure. */
#ifndef BSPRUN_STATUS_TEXT_H
#define BSPRUN_STATUS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/status/learned_text.h"

struct status_host {
    const char *name;
    uint32_t slots;    /* its cores where none were given; 0: not known */
    const char *state; /* "up", "lost", "spare", ... */
};

struct status_rank {
    uint32_t pid, host; /* host: index of status_facts.hosts */
    const char *state;
    uint64_t superstep;
    const char *function, *file; /* of its last call; "" if there was none */
    uint32_t line;
    uint32_t os_pid; /* on its host; 0: not known, or gone */
};

struct status_facts {
    int os_pid; /* of bsprun */
    const char *program, *directory,
        *job;           /* command line; where it was started; the job's name, "" */
    double seconds;     /* since bsp_begin, 0: not there yet */
    uint32_t processes; /* 0: not known yet */
    double rate;        /* supersteps per second; negative: not known */
    uint32_t term, restarts;
    const char *zero;  /* the host of Processor Zero, "" */
    bool snapshots;    /* the job takes them ... */
    bool has_snapshot; /* ... and has one: */
    const struct learned_facts *learned; /* of failures; NULL: nothing */
    uint64_t snapshot_superstep, snapshot_count;
    double snapshot_age; /* seconds; negative: not known, as it is from before a restart */
    const struct status_host *hosts;
    uint32_t host_count;
    const struct status_rank *ranks; /* by pid; those that have answered */
    uint32_t rank_count;
};

/* The least superstep of all processes that are still in one. */
uint64_t status_superstep(const struct status_rank *ranks, uint32_t count);

/* Several lines, the last one with its newline, resp. one line; to be freed; NULL: no memory. */
char *status_text(const struct status_facts *facts);
char *status_json(const struct status_facts *facts);

#endif
