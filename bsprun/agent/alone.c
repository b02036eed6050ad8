/* alone.c - see alone.h. */
#include "bsprun/agent/alone.h"

#include <stdio.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/replica_files.h"
#include "lib/shm/board.h"

bool agent_why_alone(struct agent *agent, char *text, size_t size)
{
    text[0] = '\0';
    if (agent_nprocs(agent) == 0 || agent_has_replicas(agent))
        return false;
    if (agent_board(agent)->layout.mail > 0)
        snprintf(text, size, "it communicates by MPI, which replicas do not go together with");
    else if (!agent_order(agent)->any_replica_files)
        agent_replica_files_find(agent, text, size);
    return text[0] != '\0';
}
