/* timeline.h - what happened to a job, in order, and what its time was by that: for the page of
 * --report=html.
 *
 * No clock: times are arguments, in milliseconds of one clock, and do not run backwards but for
 * snapshots, which are told when they are committed, with the time at which they were taken. */
#ifndef BSPRUN_TIMELINE_H
#define BSPRUN_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_EVENTS 100000u /* further ones are counted only */

enum timeline_kind {
    TIMELINE_RUNNING,  /* the processes compute, for the first time or again */
    TIMELINE_STOPPED,  /* they do not: a fault, a move or the end */
    TIMELINE_SAVED,    /* a snapshot is committed; at_ms: when it was taken */
    TIMELINE_BACK,     /* the job goes back to this superstep: what came after it is lost */
    TIMELINE_FAULT,    /* text: what it was */
    TIMELINE_MOVED,    /* processes move */
    TIMELINE_RESTARTED /* another bsprun goes on with the job */
};

struct timeline_event {
    enum timeline_kind kind;
    uint64_t at_ms, superstep;
    uint64_t bytes, pause_ns, commit_ns; /* of a snapshot */
    char *text;                          /* of a fault; else NULL */
};

enum timeline_use { TIMELINE_START, TIMELINE_USEFUL, TIMELINE_LOST, TIMELINE_DOWN };

struct timeline_span {
    uint64_t from_ms, to_ms;
    enum timeline_use use;
};

/* Initially all zero. */
struct timeline {
    struct timeline_event *events; /* owned, with their texts */
    size_t count;
    uint64_t dropped;
};

/* Copies the event and its text.  Without memory it is counted as dropped. */
void timeline_add(struct timeline *timeline, const struct timeline_event *event);
void timeline_free(struct timeline *timeline);

/* The time from begin to end, without gaps: start (and end: when the processes do not compute yet,
 * or will not again), computing that counts, computing that a rollback made them do again, and the
 * time between.  Returns how many;
 * *spans is to be freed.  0 and NULL: no memory, or no time. */
size_t timeline_spans(const struct timeline *timeline, uint64_t begin_ms, uint64_t end_ms,
                      struct timeline_span **spans);

#endif
