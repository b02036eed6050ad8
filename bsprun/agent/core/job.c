/* job.c - the table of a job's states; see job.h. */
#include "bsprun/agent/core/job.h"

#include "lib/base/states.h"

#define TO        BSPZ_STATES_TO
#define CUT_SHORT (TO(JOB_STOPPING) | TO(JOB_KILLING) | TO(JOB_OVER))

static const struct bspz_states_row rows[JOB_STATE_COUNT] = {
    [JOB_NEW] = {"new", TO(JOB_SEQUENTIAL) | TO(JOB_REGISTERED) | TO(JOB_FORMING) |
                            TO(JOB_REWINDING) | CUT_SHORT},
    [JOB_SEQUENTIAL] = {"sequential", TO(JOB_REGISTERED) | CUT_SHORT},
    [JOB_REGISTERED] = {"registered", TO(JOB_FORMING) | TO(JOB_REWINDING) | CUT_SHORT},
    [JOB_FORMING] = {"forming", TO(JOB_RUNNING) | TO(JOB_REWINDING) | CUT_SHORT},
    [JOB_RUNNING] = {"running", TO(JOB_ENDING) | TO(JOB_REWINDING) | CUT_SHORT},
    [JOB_ENDING] = {"ending", CUT_SHORT},
    [JOB_REWINDING] = {"rewinding", TO(JOB_RESTORING) | CUT_SHORT},
    [JOB_RESTORING] = {"restoring", TO(JOB_RUNNING) | TO(JOB_REWINDING) | CUT_SHORT},
    [JOB_STOPPING] = {"stopping", TO(JOB_KILLING) | TO(JOB_OVER)},
    [JOB_KILLING] = {"killing", TO(JOB_OVER)},
    [JOB_OVER] = {"over", 0},
};

static const struct bspz_states states = {"a job", JOB_STATE_COUNT, rows};

bool job_may_move(enum job_state from, enum job_state to)
{
    return bspz_states_allow(&states, from, to);
}

void job_move(enum job_state *state, enum job_state to)
{
    *state = (enum job_state)bspz_states_move(&states, *state, to);
}

bool job_is_stopping(enum job_state state)
{
    return state == JOB_STOPPING || state == JOB_KILLING || state == JOB_OVER;
}
