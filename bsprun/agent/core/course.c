/* course.c - see course.h. */
#include "bsprun/agent/core/course.h"

#include "bsprun/agent/core/agent_inside.h"

enum job_state agent_job(const struct agent *agent)
{
    return agent->job;
}

void agent_job_move(struct agent *agent, enum job_state to)
{
    job_move(&agent->job, to);
}

uint32_t agent_term(const struct agent *agent)
{
    return agent->term;
}

void agent_set_term(struct agent *agent, uint32_t term)
{
    agent->term = term;
}

uint64_t agent_begin_ns(const struct agent *agent)
{
    return agent->begin_ns;
}

uint64_t agent_end_ns(const struct agent *agent)
{
    return agent->end_ns;
}

void agent_note_begin(struct agent *agent, uint64_t now_ns)
{
    if (!agent->begin_ns)
        agent->begin_ns = now_ns;
}

void agent_note_end(struct agent *agent, uint64_t now_ns)
{
    agent->end_ns = now_ns;
}

bool agent_is_finished(const struct agent *agent)
{
    return agent->finished;
}

void agent_set_finished(struct agent *agent)
{
    agent->finished = true;
}

bool agent_is_dismissed(const struct agent *agent)
{
    return agent->dismissed;
}

void agent_set_dismissed(struct agent *agent)
{
    agent->dismissed = true;
}

uint32_t agent_survived(const struct agent *agent)
{
    return agent->survived;
}

void agent_set_survived(struct agent *agent, uint32_t losses)
{
    agent->survived = losses;
}
