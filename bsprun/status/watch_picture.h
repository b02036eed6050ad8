/* watch_picture.h - what bspstat --watch shows, as characters with their looks.  Pure. */
#ifndef BSPRUN_WATCH_PICTURE_H
#define BSPRUN_WATCH_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "bsprun/status/watch_facts.h"
#include "bsprun/status/watch_view.h"

#define WATCH_SIDE_MOST 1000u /* rows or columns: a larger terminal is used in part */

enum watch_look {
    WATCH_PLAIN,
    WATCH_BOLD,
    WATCH_REVERSE,
    WATCH_FAINT,
    WATCH_COMPUTING, /* parts of a bar; also told apart by their characters */
    WATCH_COMMUNICATING,
    WATCH_WAITING,
    WATCH_LOOKS
};

struct watch_cell {
    wchar_t glyph; /* 0: the second half of a wide character */
    uint8_t look;
};

/* Initially all zero. */
struct watch_picture {
    unsigned rows, columns;
    struct watch_cell *cells; /* rows * columns; owned */
};

struct watch_scene {
    const struct watch_facts *facts; /* NULL: none have come yet */
    const struct watch_view *view;
    size_t job_number, job_count; /* this is the first, ...; 0: only one is watched */
    bool unicode;                 /* the terminal shows more than ASCII; then LC_CTYPE is UTF-8 */
};

/* How many processes a screen of that many rows shows. */
size_t watch_picture_page(unsigned rows, const struct watch_facts *facts);

/* Draws it in that size, of at least 1 by 1.  False: no memory; the picture is as before. */
bool watch_picture_draw(struct watch_picture *picture, unsigned rows, unsigned columns,
                        const struct watch_scene *scene);
void watch_picture_free(struct watch_picture *picture);

/* The line in which the end of the job is told on the normal screen, without a line feed. */
void watch_picture_last_line(const struct watch_facts *facts, int job, char *text, size_t size);

#endif
