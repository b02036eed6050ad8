/* usage.h - the resource usage of processes: read from the board, and printed as the table of
 * --report. */
#ifndef BSPRUN_USAGE_H
#define BSPRUN_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/shm/board.h"
#include "lib/wire/wire.h"

/* The row of process pid; wall_ns as measured by the agent. */
void usage_read(const struct bspz_board *board, int pid, uint64_t wall_ns, struct wire_usage *row);

/* The table, with a line of totals, without a final line break; for free().  NULL: no memory. */
char *usage_table(const struct wire_usage *rows, size_t count);

/* The effects of snapshots and faults since the start of bsprun; times in seconds.  All processes
 * roll back together, so the times of each are those of the job. */
struct usage_faults {
    uint64_t snapshots;
    double pauses, lost, down;
    uint32_t faults;              /* of processes and hosts */
    const uint32_t *of_processes; /* process_count items: faults of each process */
    uint32_t process_count;
    bool restarted; /* by --restart; useful time is still that of the whole job */
};

/* The second table of a job with snapshots; as usage_table. */
char *usage_faults_table(const struct wire_usage *rows, size_t count,
                         const struct usage_faults *faults);

#endif
