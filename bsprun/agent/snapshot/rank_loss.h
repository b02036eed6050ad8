/* rank_loss.h - classifies the death of a rank in a job with snapshots; pure.
 *
 * A death by a signal is a fault: Processor Zero rolls back to a snapshot, if there is one.  During
 * a restore it depends: another snapshot is tried if the image is damaged, the same one after a
 * transient error, and none if the machine has changed (another program, a missing file), which the
 * user must resolve.
 */
#ifndef BSPRUN_AGENT_RANK_LOSS_H
#define BSPRUN_AGENT_RANK_LOSS_H

#include <stdbool.h>

#include "bsprun/agent/core/job.h"
#include "bsprun/process.h"
#include "lib/shm/board.h"

struct rank_loss {
    enum job_state job;
    bool first_is_here; /* process 0 is on this host; else ranks are restored in JOB_FORMING */
    bool told;          /* this death was reported to Processor Zero */
    bool alone;         /* it was restarted alone, and has not been seen in its place yet */
    enum bspz_rank_state mark;
    struct death death;
    /* Of a process being restored. */
    bool said;    /* it has written an error to the board, */
    bool refused; /* which is not the fault of the image */
    int error;    /* that error */
    bool copied;  /* it was a frozen copy */
};

enum loss_step {
    LOSS_IS_AN_END,  /* the program's own end: the job ends */
    LOSS_IS_KNOWN,   /* already handled */
    LOSS_OF_RANK,    /* Processor Zero rolls back */
    LOSS_OF_LONE,    /* while it was restored alone: it is tried again, or as before */
    LOSS_OF_IMAGE,   /* Processor Zero may choose another snapshot */
    LOSS_BY_CHANCE,  /* Processor Zero may try again */
    LOSS_OF_MACHINE, /* no snapshot can be restored here: the job ends, with a message */
};

enum loss_step loss_judge(const struct rank_loss *loss);
/* Whether the process failed by itself during the restore. */
bool loss_in_restore(const struct rank_loss *loss);

#endif
