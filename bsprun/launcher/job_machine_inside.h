/* job_machine_inside.h - what the job machine knows, shared by its files. */
#ifndef BSPRUN_JOB_MACHINE_INSIDE_H
#define BSPRUN_JOB_MACHINE_INSIDE_H

#include "bsprun/launcher/job_machine.h"

enum host_state {
    HOST_UNUSED, /* a spare */
    HOST_STARTING,
    HOST_UP,
    HOST_GONE,
};

struct machine_host {
    uint32_t id;
    enum host_state state;
    uint32_t starts;
    uint32_t since; /* up: lower for whoever came earlier */
};

struct job_machine {
    struct job_machine_config config; /* without hosts */
    enum job_machine_state state;
    struct machine_host *hosts;
    uint64_t fence_until_ms;
    bool fenced; /* a timer is set for that */
    uint32_t term;
    bool elected;     /* there was a term */
    uint32_t program; /* host id: where a new job begins the program */
    uint32_t zero;    /* host id; before the first term: the same */
    uint32_t came;    /* agents, so far */
    bool registered;  /* process 0 has */
    bool restores; /* the next term, and the present one */
    bool closed;   /* nothing is rolled back any more */
    struct coord_name committed;
    struct coord_name avoid[COORD_AVOID_MAX];
    uint32_t avoid_count;
    struct job_fault fault;
    bool stop_asked, save_asked;
    uint32_t signal;
    struct coord_outcome outcome;
};

#endif
