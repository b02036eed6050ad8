/* past.h - what the bspruns of a job saw of its time, one after the other, in a file of the job's
 * directory: for the page of a job that was restarted.
 *
 * The file is a help for people: it is not made durable, nothing is decided by it, and a job goes
 * on without it.  doc/formats.md describes its lines. */
#ifndef BSPRUN_PAST_H
#define BSPRUN_PAST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bsprun/launcher/timeline.h"

#define PAST_FILE "times"

/* ---- Pure ---- */

struct past_runs {
    struct timeline timeline; /* times since the first of them began; owned */
    uint32_t count;           /* earlier bspruns; 0: nothing is known of any */
    uint64_t begun_ms;        /* when the first one began, since 1970 */
    uint64_t ended_ms;        /* when the last one was last heard of, since the first began */
    uint64_t last_ms;         /* when the last one began, since the first began */
    bool open;                /* the last one did not note its end: it was killed */
};

/* Reads the text of such a file; lines that make no sense are passed over.  heard_ms: when the file
 * was last written to or touched, since 1970: until then the last bsprun lived, if it has noted no
 * end.  `runs` begins as zeros; release with timeline_free. */
void past_read(const char *text, size_t length, uint64_t heard_ms, struct past_runs *runs);

/* When a bsprun began, since the first one; not before the earlier ones ended, whatever was done to
 * the clock. */
uint64_t past_since(const struct past_runs *runs, uint64_t wall_ms);

/* ---- The file ---- */

/* Initially all zero: nothing is noted. */
struct past {
    FILE *file;
    uint64_t begun_ms; /* when this bsprun began, by the clock of its events */
    uint32_t lines;    /* at most TIMELINE_EVENTS */
    struct past_runs earlier;
    uint64_t since_ms; /* when this bsprun began, since the first of `earlier` */
};

/* Reads what is there and begins to note. */
void past_open(struct past *past, const char *job_directory, uint64_t now_ms, uint64_t wall_ms);
/* Touches the file, so that a later bsprun knows how long this one lived. */
void past_live(struct past *past);
void past_note(struct past *past, const struct timeline_event *event);
void past_close(struct past *past, uint64_t now_ms);

/* The time of the whole job, all of its bspruns together: times since the first one began.  To be
 * freed with timeline_free. */
struct timeline past_and(const struct past *past, const struct timeline *now);

#endif
