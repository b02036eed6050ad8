/* watch_facts.h - what bsprun answers to "json" (status_text.h), read for bspstat --watch.  Pure.
 */
#ifndef BSPRUN_WATCH_FACTS_H
#define BSPRUN_WATCH_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum watch_activity { WATCH_COMPUTES, WATCH_COMMUNICATES, WATCH_WAITS, WATCH_ACTIVITIES };

struct watch_host {
    const char *name, *state;
};

struct watch_rank {
    uint32_t pid, os_pid;
    uint64_t superstep, memory;       /* 0: not known */
    double seconds[WATCH_ACTIVITIES]; /* since they are counted */
    double shares[WATCH_ACTIVITIES];  /* of the time since the status before; all 0: not known */
    const char *host, *state;
};

/* Texts are never NULL, and as long as the facts. */
struct watch_facts {
    const char *program;
    int pid; /* of bsprun */
    uint32_t processes, restarts, restarted_alone;
    double seconds, rate; /* negative: not known, here and below */
    uint64_t superstep;
    bool has_snapshot;
    uint64_t snapshot_superstep, snapshot_count;
    double snapshot_age;
    double snapshot_cost, failure_rate; /* seconds; per second */
    double interval;                    /* between snapshots */
    const char *why;                    /* of the interval; "": it is not decided by time */
    struct watch_host *hosts;
    size_t host_count;
    struct watch_rank *ranks; /* by pid */
    size_t rank_count;
    struct json_object *owner; /* of the texts */
};

/* NULL: the text is no status of a job, or there is no memory. */
struct watch_facts *watch_facts_read(const char *text);
void watch_facts_free(struct watch_facts *facts); /* NULL: nothing */

/* Fills in the shares from what has passed since `before`, an earlier status of the job or NULL: of
 * all that was counted, as is done for a process whose times are less than they were (after a
 * rollback). */
void watch_facts_compare(struct watch_facts *facts, const struct watch_facts *before);

#endif
