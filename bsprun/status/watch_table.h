/* watch_table.h - the processes of a job as a table with bars, for watch_picture.c, and the canvas
 * on which both draw.  Pure. */
#ifndef BSPRUN_WATCH_TABLE_H
#define BSPRUN_WATCH_TABLE_H

#include "bsprun/status/watch_picture.h"

struct watch_canvas {
    unsigned rows, columns;
    struct watch_cell *cells;
    bool unicode;
};

/* Puts a text of UTF-8 into the columns from `from` to before `to`, as much as there is room for.
 * What the terminal cannot show becomes '?'.  Returns the column after it. */
unsigned watch_canvas_put(struct watch_canvas *canvas, unsigned row, unsigned from, unsigned to,
                          const char *text, enum watch_look look);

/* Draws the names of the columns in that row, and `page` processes below it from the one on to
 * which the view is scrolled, in its order. */
void watch_table_draw(struct watch_canvas *canvas, unsigned row, unsigned page,
                      const struct watch_facts *facts, const struct watch_view *view);

#endif
