/* dataspace_inside.h - what the files of dataspace.h share.
 *
 *   dataspace.c        requests, messages, life
 *   dataspace_room.c   the memory for objects and answers
 *   dataspace_alone.c  processes that are restarted alone, and logs
 *   dataspace_halt.c   where processes with replicas stop at calls
 */
#ifndef BSPRUN_AGENT_DATASPACE_INSIDE_H
#define BSPRUN_AGENT_DATASPACE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct agent;
struct dataspace;
struct keeper;
struct objects_news;
struct pool;
struct spill;
struct stops;

/* There was no memory for an object; or a process that was restarted alone does something else than
 * before; or all hosts are lost that held some part of the dataspace. */
struct failure {
    bool known, differs, part_lost;
    bool stays; /* what never goes to a file fills the memory */
    uint32_t pid;
    uint64_t bytes, in_memory, in_file; /* of the object, and of all others (with tags) */
};

struct agent_dataspace {
    struct failure failure;
    struct objects_news *news; /* NULL: none */
    struct pool *pool;
    struct spill *spill; /* for the pool */
    struct dataspace *space;
    unsigned char **windows; /* by pid; NULL: not mapped (yet) */
    uint32_t nprocs;
    uint64_t log_most; /* bytes of answers, in all parts */
    uv_timer_t timer;
    bool said_late;                    /* that a process does not come to where it stops */
    bool said_rule;                    /* whatever there is to say of --every */
    struct stops *stops;               /* bsprun/dataspace/stops.h; NULL: no process was to stop */
    void (*left)(struct agent *agent); /* whenever something has happened, without the lock; NULL */
    bool said_calls;       /* Processor Zero knows that processes are saved at their calls */
    struct keeper *keeper; /* of the snapshot that is being taken; NULL: nobody keeps the objects */
};

/* The lock is held wherever the service, the windows or the pool are used. */
void objects_lock(struct agent *agent);
/* Lets go, and does what the service has said meanwhile: the job may end. */
void objects_unlock(struct agent *agent);
/* The same, after it has sent what there is room for, now and later, and said what is to be. */
void objects_leave(struct agent *agent);
/* From now on there is one.  False: no memory, and the job is being ended. */
bool objects_begin(struct agent *agent);
/* NULL: there is none, yet. */
struct agent_dataspace *objects_shell(const struct agent *agent);
/* The service; NULL: there is none, yet. */
struct dataspace *objects_space(const struct agent *agent);
/* Bytes of answers that may be kept in all parts, if there is one. */
uint64_t objects_log_most(const struct agent *agent);
/* ... as far as there is memory for them now. */
uint64_t objects_log_bound(const struct agent *agent);
/* The memory for objects, beyond which they go to files.  False: no memory; to be closed also then,
 * when there are no objects (any more). */
bool objects_room_open(const struct agent *agent, struct agent_dataspace *shell);
void objects_room_close(struct agent_dataspace *shell);
/* There is no room for an object of a process. */
struct failure objects_no_room(const struct pool *pool, uint32_t pid, uint64_t bytes);
/* ... and the job ends. */
void objects_end_job(struct agent *agent, const struct failure *failure);

#endif
