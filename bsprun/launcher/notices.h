/* notices.h - bsprun's own lines on stderr, and the live line of progress there. */
#ifndef BSPRUN_NOTICES_H
#define BSPRUN_NOTICES_H

#include <stdbool.h>

struct notices {
    unsigned lines;   /* said so far, of whatever */
    bool terminal;    /* stderr is one: progress is one live line */
    bool line_shown;  /* ... and it is on the screen */
    bool within_line; /* output that was shown last has not come to the end of its line */
};

/* A line of bsprun's own. */
void notices_say(struct notices *notices, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* How far the job is: a line, or on a terminal the live line, unless that would wipe a prompt. */
void notices_progress(struct notices *notices, const char *text);
/* Wipes the live line, if there is one: something else is to be shown. */
void notices_clear(struct notices *notices);

#endif
