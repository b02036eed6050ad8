/* usage.h - what each process used: read from the board, and shown as the table of --report. */
#ifndef BSPRUN_USAGE_H
#define BSPRUN_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/shm/board.h"
#include "lib/wire/wire.h"

/* The row of process pid; wall_ns as measured by the agent. */
void usage_read(const struct bspz_board *board, int pid, uint64_t wall_ns, struct wire_usage *row);

/* The table, with a line of totals, without a line break at its end; free() it.  NULL when memory
 * is short. */
char *usage_table(const struct wire_usage *rows, size_t count);

/* "1.2 MiB" and the like, for at most 4 digits. */
void usage_bytes_text(uint64_t bytes, char *text, size_t size);

#endif
