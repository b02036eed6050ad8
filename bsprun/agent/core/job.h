/* job.h - the life of a job as its node agent sees it: named states and the moves they allow. */
#ifndef BSPRUN_JOB_H
#define BSPRUN_JOB_H

#include <stdbool.h>

enum job_state {
    JOB_NEW,        /* nothing runs */
    JOB_SEQUENTIAL, /* the program runs and has not reached bsp_begin */
    JOB_REGISTERED, /* process 0 waits in bsp_begin for Processor Zero */
    JOB_FORMING,    /* p is known: the other processes are being made (elsewhere than where process
                       0 lives, out of JOB_NEW) */
    JOB_RUNNING,    /* between bsp_begin and bsp_end */
    JOB_ENDING,     /* all are past bsp_end; process 0 goes on, the others leave */
    JOB_REWINDING,  /* the term is over by a fault: what runs is ended, then waits for ELECT */
    JOB_RESTORING,  /* elected again: processes are made from a snapshot */
    JOB_STOPPING,   /* cut short: processes have a moment to leave by themselves */
    JOB_KILLING,    /* cut short: they are killed */
    JOB_OVER,       /* nothing runs any more */
    JOB_STATE_COUNT
};

/* Whether the table allows the move. */
bool job_may_move(enum job_state from, enum job_state to);

/* Moves; a move that the table does not allow is a defect of the agent and ends it. */
void job_move(enum job_state *state, enum job_state to);

/* Being cut short: losses and failures are expected now. */
bool job_is_stopping(enum job_state state);

#endif
