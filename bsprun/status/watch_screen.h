/* watch_screen.h - the terminal of bspstat --watch, by ncurses.  One at a time, as ncurses keeps
 * its state for itself. */
#ifndef BSPRUN_WATCH_SCREEN_H
#define BSPRUN_WATCH_SCREEN_H

#include <stdbool.h>

#include "bsprun/status/watch_picture.h"

struct watch_screen {
    void *terminal; /* of ncurses */
    bool colours, unicode;
};

/* Begins to draw on standard input and output, which are a terminal.  NULL, or why that cannot be.
 * Sets the process's LC_CTYPE. */
const char *watch_screen_open(struct watch_screen *screen);
/* Restores the terminal. */
void watch_screen_close(struct watch_screen *screen);

/* Restores the terminal for a while; begins again, with everything drawn anew, which is also for a
 * terminal that somebody else has used. */
void watch_screen_leave(void);
void watch_screen_return(void);

/* Takes over the present size of the terminal. */
void watch_screen_fit(void);
void watch_screen_size(unsigned *rows, unsigned *columns);

void watch_screen_show(const struct watch_screen *screen, const struct watch_picture *picture);

/* The next key that has been typed, as watch_view_key takes it; -1: there is none. */
int watch_screen_key(void);

#endif
