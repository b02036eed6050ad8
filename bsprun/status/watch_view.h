/* watch_view.h - what bspstat --watch shows of a job, and what keys change of it.  Pure.
 *
 *   SHOWS          q ends; sort, scroll and another job at once; s requests a snapshot
 *   ASKS_HOST      d: the name of a host is typed; Enter goes on, Escape goes back
 *   CONFIRMS_DRAIN its drain is requested by y
 *   CONFIRMS_END   e: the end of the job is requested by y
 *   ENDED          the job has ended: the last picture stays until a key
 */
#ifndef BSPRUN_WATCH_VIEW_H
#define BSPRUN_WATCH_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "bsprun/status/watch_facts.h"

enum watch_state {
    WATCH_SHOWS,
    WATCH_ASKS_HOST,
    WATCH_CONFIRMS_DRAIN,
    WATCH_CONFIRMS_END,
    WATCH_ENDED
};

enum watch_order { WATCH_BY_PID, WATCH_BY_MEMORY, WATCH_BY_COMPUTING, WATCH_BY_WAITING };

/* Keys: a character of ASCII, or one of these. */
enum watch_key {
    WATCH_KEY_UP = 256,
    WATCH_KEY_DOWN,
    WATCH_KEY_PAGE_UP,
    WATCH_KEY_PAGE_DOWN,
    WATCH_KEY_HOME,
    WATCH_KEY_END,
    WATCH_KEY_OTHER
};

#define WATCH_KEY_ESCAPE 27
#define WATCH_KEY_ERASE  8 /* and 127 */

/* What is to be done besides showing the view. */
enum watch_action {
    WATCH_NOTHING,
    WATCH_QUIT,
    WATCH_NEXT_JOB,
    WATCH_SNAPSHOT, /* requests, for the job that is shown */
    WATCH_DRAIN,    /* of the host in `typed` */
    WATCH_END
};

#define WATCH_TYPED_MOST   256u
#define WATCH_MESSAGE_MOST 512u

/* Initially all zero. */
struct watch_view {
    enum watch_state state;
    enum watch_order order;
    size_t top; /* processes that are scrolled away above */
    char typed[WATCH_TYPED_MOST];
    char message[WATCH_MESSAGE_MOST]; /* the last answer, one line */
};

/* Takes a key.  facts: NULL as long as nothing is known.  page: rows of processes on the screen. */
enum watch_action watch_view_key(struct watch_view *view, const struct watch_facts *facts, int key,
                                 size_t page);

/* Keeps the scroll position within what there is. */
void watch_view_fit(struct watch_view *view, size_t rank_count, size_t page);

/* The job has ended: a question about it is dropped. */
void watch_view_end(struct watch_view *view);

/* A new answer, up to the end of its line. */
void watch_view_say(struct watch_view *view, const char *message);

#endif
