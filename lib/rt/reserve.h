/* reserve.h - the part of the shared memory that is only reserved: the last, large stretch of every
 * outbox half, and the tables of blocks.
 *
 * If a process locks its memory (mlockall), the kernel fills all that is accessible, including
 * holes of the memfd.  So only the used part of the reserve, up to twice as much, is accessible
 * (mprotect); inaccessible memory is not filled.  Opening costs a system call each time the opened
 * part of a half doubles, and nothing otherwise.
 */
#ifndef BSPZ_RT_RESERVE_H
#define BSPZ_RT_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct bspz_chunk;

/* Offset of the board from which on everything is reserve. */
extern uint64_t bspz_reserve_from;

/* To be called when the board was mapped for p processes, or mapped again: closes the reserve. 0 or
 * an errno. */
int bspz_reserve_begin(void);

/* Makes bytes of an outbox half accessible; those before the reserve are already. 0 or an errno. */
int bspz_reserve_open(uint64_t offset, uint64_t bytes);

/* The same for a published chunk, or the published calls of a superstep; ends the job on
 * failure. */
const void *bspz_reserve_show(uint64_t offset, uint64_t bytes);
struct bspz_chunk *bspz_reserve_show_chunk(uint64_t offset);

/* Opens or closes one of the tables of blocks.  0 or an errno. */
int bspz_reserve_table(const void *table, bool open);

#pragma GCC visibility pop

#endif
