/* usage.h - what each process used: read from the board, and shown as the table of --report. */
#ifndef BSPRUN_USAGE_H
#define BSPRUN_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/shm/board.h"
#include "lib/wire/wire.h"

/* The row of process pid; wall_ns as measured by the agent. */
void usage_read(const struct bspz_board *board, int pid, uint64_t wall_ns, struct wire_usage *row);

/* The table, with a line of totals, without a line break at its end; free() it.  NULL when memory
 * is short. */
char *usage_table(const struct wire_usage *rows, size_t count);

/* What snapshots and faults did to a job since bsprun began; times in seconds.  All processes go
 * back to a barrier together, so that each has lost and waited as long as the job. */
struct usage_faults {
    uint64_t snapshots;
    double pauses, lost, down;
    uint32_t faults;              /* of processes and hosts */
    const uint32_t *of_processes; /* process_count items: how often each was the first to be lost */
    uint32_t process_count;
    bool restarted; /* by --restart: useful time is that of the whole job all the same */
};

/* The second table of a job with snapshots; as usage_table. */
char *usage_faults_table(const struct wire_usage *rows, size_t count,
                         const struct usage_faults *faults);

/* "1.2 MiB" and the like, for at most 4 digits. */
void usage_bytes_text(uint64_t bytes, char *text, size_t size);

#endif
