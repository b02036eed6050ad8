/* zero_here.c - see zero_here.h. */
#include "bsprun/agent/core/zero_here.h"

#include "bsprun/agent/core/agent_inside.h"

struct coord_shell *agent_zero(const struct agent *agent)
{
    return agent->zero;
}

void agent_set_zero(struct agent *agent, struct coord_shell *zero)
{
    coord_shell_free(agent->zero);
    agent->zero = zero;
}
