/* watch_inquiry.h - a request to bsprun (status_socket.h) that is answered while other things are
 * done. */
#ifndef BSPRUN_WATCH_INQUIRY_H
#define BSPRUN_WATCH_INQUIRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bsprun/status/jobs.h"
#include "lib/base/buffer.h"

/* All zero but fd, which is -1: nothing has been asked. */
struct watch_inquiry {
    int fd;
    struct bspz_buffer text; /* what has come, without a zero byte */
    uint64_t asked_ns;
};

enum watch_progress { WATCH_COMES, WATCH_COMPLETE, WATCH_NO_MEMORY };

/* Asks; an earlier inquiry is dropped.  False and *why: there is no such job (any more), or it
 * accepts no connection now. */
bool watch_inquiry_ask(struct watch_inquiry *inquiry, pid_t job, const char *request,
                       enum jobs_silence *why);
/* Reads what has come, to be called when fd is readable. */
enum watch_progress watch_inquiry_read(struct watch_inquiry *inquiry);
/* What has come, as a text; until the next call.  NULL: no memory. */
const char *watch_inquiry_text(struct watch_inquiry *inquiry);
/* The line of that number, from 0, of what has come; a copy without its end, to be freed.  NULL: it
 * has not come, or there is no memory. */
char *watch_inquiry_line(struct watch_inquiry *inquiry, unsigned number);
/* Closes the connection and forgets the answer.  What was requested is not undone. */
void watch_inquiry_drop(struct watch_inquiry *inquiry);

#endif
