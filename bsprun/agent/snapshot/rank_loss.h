/* rank_loss.h - what the death of a rank means in a job with snapshots; pure.
 *
 * A rank that dies by a signal is a fault: Processor Zero goes back to a snapshot, if there is one.
 * In a restore it depends: another snapshot is worth trying when the image is damaged, the same one
 * when it was chance, and none when the machine is not as it was (another program, a file that is
 * gone): that is for the user.
 */
#ifndef BSPRUN_AGENT_RANK_LOSS_H
#define BSPRUN_AGENT_RANK_LOSS_H

#include <stdbool.h>

#include "bsprun/agent/core/job.h"
#include "bsprun/process.h"
#include "lib/shm/board.h"

struct rank_loss {
    enum job_state job;
    bool first_is_here; /* process 0 lives on this host: else, in JOB_FORMING, ranks are restored */
    bool told;          /* Processor Zero knows of this death */
    enum bspz_rank_state mark;
    struct death death;
    /* Of a process that is restored. */
    bool said;    /* it has left word on the board why it could not be, */
    bool refused; /* which is not the image's fault */
    int error;    /* of the word */
    bool copied;  /* it was to be thawed */
};

enum loss_step {
    LOSS_IS_AN_END,  /* its own doing: the job ends */
    LOSS_IS_KNOWN,   /* nothing more is to be done */
    LOSS_OF_RANK,    /* Processor Zero goes back to a snapshot */
    LOSS_OF_IMAGE,   /* it may choose another one */
    LOSS_BY_CHANCE,  /* it may try again */
    LOSS_OF_MACHINE, /* no snapshot can be restored here: the job ends, and the user is told why */
};

enum loss_step loss_judge(const struct rank_loss *loss);
/* Whether the rank has ended by itself before it was one again. */
bool loss_in_restore(const struct rank_loss *loss);

#endif
