/* timers.c - see timers.h. */
#include "bsprun/agent/core/timers.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"

struct agent_timers {
    uv_timer_t each[AGENT_TIMER_COUNT];
};

int agent_timers_open(struct agent *agent)
{
    struct agent_timers *timers = calloc(1, sizeof *timers);

    if (!timers)
        return -ENOMEM;
    agent->timers = timers;
    for (int i = 0; i < AGENT_TIMER_COUNT; i++) {
        uv_timer_init(agent_loop(agent), &timers->each[i]);
        timers->each[i].data = agent;
    }
    uv_unref((uv_handle_t *)&timers->each[AGENT_TIMER_TIMES]);
    return 0;
}

void agent_timers_close(struct agent *agent)
{
    for (int i = 0; i < AGENT_TIMER_COUNT; i++) {
        uv_handle_t *timer = (uv_handle_t *)&agent->timers->each[i];

        if (!uv_is_closing(timer))
            uv_close(timer, NULL);
    }
}

void agent_timers_free(struct agent *agent)
{
    free(agent->timers);
    agent->timers = NULL;
}

uv_timer_t *agent_timer(const struct agent *agent, enum agent_timer timer)
{
    return &agent->timers->each[timer];
}
