/* job.h - the states of a job in its node agent, and the permitted transitions. */
#ifndef BSPRUN_JOB_H
#define BSPRUN_JOB_H

#include <stdbool.h>

enum job_state {
    JOB_NEW,        /* nothing runs */
    JOB_SEQUENTIAL, /* the program runs and has not reached bsp_begin */
    JOB_REGISTERED, /* process 0 waits in bsp_begin for Processor Zero */
    JOB_FORMING,    /* p is known: the other processes are being made (on hosts without process 0,
                       after JOB_NEW) */
    JOB_RUNNING,    /* between bsp_begin and bsp_end */
    JOB_ENDING,     /* all are past bsp_end; process 0 goes on, the others leave */
    JOB_REWINDING,  /* a fault has ended the term: ends the processes, then waits for ELECT */
    JOB_RESTORING,  /* elected again: processes are made from a snapshot */
    JOB_STOPPING,   /* aborted: processes have a moment to exit by themselves */
    JOB_KILLING,    /* aborted: they are killed */
    JOB_OVER,       /* no process runs any more */
    JOB_STATE_COUNT
};

/* Whether the table allows the move. */
bool job_may_move(enum job_state from, enum job_state to);

/* Changes the state; a transition that the table does not allow is a defect of the agent and ends
 * it. */
void job_move(enum job_state *state, enum job_state to);

/* The job is being aborted: losses and failures are expected. */
bool job_is_stopping(enum job_state state);

#endif
