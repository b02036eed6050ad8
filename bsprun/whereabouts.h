/* whereabouts.h - where each process is, read from the board. */
#ifndef BSPRUN_WHEREABOUTS_H
#define BSPRUN_WHEREABOUTS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/shm/board.h"
#include "lib/wire/wire.h"

struct whereabouts {
    int pid;
    enum wire_rank_state state;
    enum bspz_rank_state mark; /* the state that the process has written */
    int exit_status;           /* with mark EXITED */
    uint64_t superstep;
    unsigned call; /* enum bspz_call */
    const char *function;
    const char *begin, *end; /* the names of the calls with which the program begins and ends */
    char file[BSPZ_NAME_BYTES];
    unsigned line;
};

/* Reads the slot of process pid < nprocs; whatever its contents, the result is well formed. */
void whereabouts_read(const struct bspz_board *board, int nprocs, int pid,
                      struct whereabouts *where);

/* The lines of all processes, each with its newline (with many processes, consecutive ones at the
 * same place share one: " pids 3 to 70: ..."); for free().  NULL: no memory.  killed[pid] as above.
 * Processes of other hosts are omitted. */
char *whereabouts_table(const struct bspz_board *board, int nprocs, const bool *killed);

/* Merges two tables by pid; of the rows of one process, which has replicas, the one with the
 * greatest superstep stays, of several such the first.  For free(), NULL: no memory. */
char *whereabouts_merge(const char *table, const char *more);

#endif
