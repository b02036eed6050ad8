/* first_output.h - what replicas of a process write is shown once, from whichever is first.
 *
 * All replicas write the same bytes, as they are the same program with the same input; so what
 * counts is how many of them each has written.  What is not known to be of a certain process, as
 * that of its children, comes from several at once, on each host in another order: there each line
 * counts.
 *
 * Pure.
 */
#ifndef BSPRUN_FIRST_OUTPUT_H
#define BSPRUN_FIRST_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct first_output; /* initially NULL */

/* The replica of process pid, at least 0, on that host has written `size` bytes more on stream 1 or
 * 2.  Returns how many of them, at their end, no replica has written before; all, when there is
 * no memory to know. */
size_t first_output_take(struct first_output **first, uint32_t host, int pid, int stream,
                         size_t size);
/* Some process on that host, which has the same processes as the lead, has written a line, or a
 * part of one.  True: no host with that lead has written it so often before. */
bool first_output_line(struct first_output **first, uint32_t lead, uint32_t host, int stream,
                       const char *line, size_t size);
/* All begin to write again, in another term.  NULL is fine. */
void first_output_begin(struct first_output **first);

#endif
