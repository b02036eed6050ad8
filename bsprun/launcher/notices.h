/* notices.h - bsprun's own lines on stderr, and the live line of progress there. */
#ifndef BSPRUN_NOTICES_H
#define BSPRUN_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

#define NOTICES_ONCE 64u /* the last ones that are not to be shown again */

struct notices {
    unsigned lines;   /* printed so far, of any kind */
    bool terminal;    /* stderr is a terminal: progress is a live line */
    bool line_shown;  /* ... which is on the screen */
    bool within_line; /* the last output shown is an incomplete line */
    bool hurries;     /* a line for which its reader has no room is not printed */
    struct {
        uint64_t term, once;
    } shown[NOTICES_ONCE]; /* a ring: where the next goes is `shown_count` modulo its size */
    unsigned shown_count;
};

/* A line of bsprun's own. */
void notices_say(struct notices *notices, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, but for a line of a term with a number that was shown for that term shortly before. */
void notices_say_once(struct notices *notices, uint64_t term, uint64_t once, const char *text);
/* Prints progress: a line, or on a terminal the live line, unless that would erase a prompt. */
void notices_progress(struct notices *notices, const char *text);
/* Erases the live line, if any, before other output. */
void notices_clear(struct notices *notices);

#endif
