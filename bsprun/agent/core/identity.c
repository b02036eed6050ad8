/* identity.c - see identity.h. */
#include "bsprun/agent/core/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/course.h"

void agent_identity_open(struct agent *agent)
{
    gethostname(agent->host_name, sizeof agent->host_name - 1);
    if (getenv(AGENT_NAME_VARIABLE))
        snprintf(agent->host_name, sizeof agent->host_name, "%s", getenv(AGENT_NAME_VARIABLE));
}

const unsigned char *agent_job_id(const struct agent *agent)
{
    return agent->job_id;
}

void agent_set_job_id(struct agent *agent, const unsigned char *id)
{
    memcpy(agent->job_id, id, sizeof agent->job_id);
}

uint32_t agent_host(const struct agent *agent)
{
    return agent->host;
}

void agent_set_host(struct agent *agent, uint32_t host)
{
    agent->host = host;
}

const char *agent_host_name(const struct agent *agent)
{
    return agent->host_name;
}

void agent_envelope(const struct agent *agent, struct wire_envelope *envelope)
{
    memcpy(envelope->job, agent->job_id, sizeof envelope->job);
    envelope->term = agent_term(agent);
}
