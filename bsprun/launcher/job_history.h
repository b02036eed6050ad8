/* job_history.h - the history of failures and costs: from earlier jobs for this one, and from this
 * one for later ones (bsprun/history). */
#ifndef BSPRUN_JOB_HISTORY_H
#define BSPRUN_JOB_HISTORY_H

#include "bsprun/history/history.h"
#include "bsprun/launcher/agents.h"
#include "bsprun/launcher/evidence.h"
#include "bsprun/launcher/host_shares.h"

enum job_history_state {
    JOB_HISTORY_OFF, /* disabled, or cannot be read or written */
    JOB_HISTORY_ON,
    JOB_HISTORY_BEGUN, /* the processes have run */
    JOB_HISTORY_ENDED,
};

struct job_history {
    struct common *common;
    const struct agents *agents;
    const struct evidence *evidence;
    enum job_history_state state;
    char path[HISTORY_PATH_MAX], site[HISTORY_NAME_MAX + 1];
    uint64_t *lives_since_ms; /* by host: start of the time not yet recorded; 0: not up */
    const bool *agent_ended;  /* by host: possibly with the host; the caller's */
    struct host_shares shares;
    uint64_t image_bytes;           /* of the newest snapshot */
    char lines[HISTORY_APPEND_MAX]; /* to be written */
    size_t size;
    struct estimate told; /* recorded up to here */
    uint64_t flushed_ms;  /* when; 0: not yet */
    bool owes;            /* a loss is not recorded yet, as its kind may change */

    struct history_writing *writing; /* NULL: none */
    int done;                        /* readable when that has ended */
    uv_poll_t poll;                  /* open while it is going on */
};

/* Adds the history of earlier jobs to the prior. 0 or -ENOMEM. */
int job_history_open(struct job_history *history, struct common *common,
                     const struct agents *agents, const bool *agent_ended,
                     const struct evidence *evidence, struct estimate *prior);
/* After the loop; also when all is zero.  Waits for what is being written, but not for ever. */
void job_history_free(struct job_history *history);

/* The host's agent is up. */
void job_history_up(struct job_history *history, const struct launcher_agent *agent);
/* The processes run, again or for the first time. */
void job_history_running(struct job_history *history);
/* A failure of that kind, on that host or (NULL) on no particular one. */
void job_history_lost(struct job_history *history, const struct launcher_agent *agent,
                      enum estimate_kind kind);
/* Records what was not certain before, unless there is something that still is not. */
void job_history_sure(struct job_history *history);
/* The host has left the job, and is not watched any more. */
void job_history_left(struct job_history *history, const struct launcher_agent *agent);
/* A snapshot is committed and known to all: records observations if the last record is old. */
void job_history_saved(struct job_history *history);
/* The job is over; preempted: its hosts were taken away.  A second call has no effect. */
void job_history_end(struct job_history *history, bool preempted);

#endif
