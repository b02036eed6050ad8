/* show.h - prints relayed output line by line, and the progress. */
#ifndef BSPRUN_SHOW_H
#define BSPRUN_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/wire.h"

#define SHOW_LINE (1u << 20) /* bytes; a longer line is shown in pieces */

#define SHOW_TIME 40u /* bytes of a time */

/* Takes bytes of process pid (-1: unknown) for stream 1 or 2; 0 or -errno. */
typedef int show_writer(void *context, int pid, int stream, const char *data, size_t size);

/* The time now in words, and a blank, in fewer than SHOW_TIME bytes; returns their number. */
typedef size_t show_clock(char *text, size_t size);

struct show;

/* mode: WIRE_STDIO_TAG ("[pid] " before every line) or WIRE_STDIO_SPLIT (a banner before output of
 * another process or stream) or WIRE_STDIO_PLAIN (unchanged).  NULL: no memory. */
struct show *show_new(enum wire_stdio mode, show_writer *write, void *context);
/* From now on each line begins with the time at which it is complete, before the tag; without
 * effect where there are banners.  NULL: no longer. */
void show_times(struct show *show, show_clock *clock);
void show_free(struct show *show); /* NULL is fine */

/* A piece of output of process pid (-1: unknown).  Complete lines are written at once; the rest
 * waits for its end. 0, or the writer's error. */
int show_piece(struct show *show, int pid, int stream, const char *data, size_t size);

/* Writes incomplete lines unchanged, as they may be prompts. 0, or the writer's error. */
int show_release(struct show *show);

/* Writes incomplete lines, and ends them. 0, or the writer's error. */
int show_flush(struct show *show);

/* Further contents of the line of progress; zeros are omitted. */
struct progress {
    uint64_t superstep; /* of the previous line */
    double seconds;
    uint64_t first; /* since the last rollback: start of the estimate of the remaining time */
    double first_seconds;
    uint64_t total; /* supersteps of the program; 0: not known */
    bool has_snapshot;
    uint64_t snapshot; /* its superstep */
    uint32_t restarts;
};

/* "superstep 1200, 400/s, 3.0 s, p = 4, 5 s left, snapshot of 1150, 2 restarts"; updates `progress`
 * to this line. */
void progress_text(const struct wire_status *status, struct progress *progress, char *text,
                   size_t size);
/* The superstep that all processes have reached. */
uint64_t progress_superstep(const struct wire_status *status);

#endif
