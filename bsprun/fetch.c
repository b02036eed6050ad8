/* fetch.c - files between agents; see fetch.h. */
#include "bsprun/fetch.h"

void agent_fetch_message(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    (void)agent;
    (void)host;
    (void)message;
}

void agent_fetch_lost(struct agent *agent, uint32_t host)
{
    (void)agent;
    (void)host;
}

void agent_fetch_forget(struct agent *agent)
{
    (void)agent;
}
