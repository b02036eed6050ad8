/* repeats.h - output of processes that are restarted alone: what a process writes again is known by
 * its length, and compared by its digest.  Pure.
 *
 * A rollback of all is the business of bsprun (bsprun/launcher/replay.h); after a restart of one
 * process the agent sees to it that bsprun gets nothing twice.
 */
#ifndef BSPRUN_AGENT_REPEATS_H
#define BSPRUN_AGENT_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct repeats;

/* NULL: no memory. */
struct repeats *repeats_new(uint32_t nprocs);
/* NULL is fine, here and below: nothing is restarted. */
void repeats_free(struct repeats *repeats);
/* All processes begin anew, at their images. */
void repeats_clear(struct repeats *repeats);

/* The process (-1: unknown) has written that to stream 1 or 2.  Returns how many bytes of it, from
 * the beginning, are a repetition.  *differs is set when a repetition is over, and was not one. */
size_t repeats_take(struct repeats *repeats, int pid, int stream, const char *data, size_t size,
                    bool *differs);

/* An image is made of the process, which has written all before it. */
void repeats_mark(struct repeats *repeats, int pid);
/* What it wrote before the last mark is not repeated any more. */
void repeats_forget(struct repeats *repeats, int pid);
/* The process begins again, at the mark before which all is forgotten. */
void repeats_begin(struct repeats *repeats, int pid);

#endif
