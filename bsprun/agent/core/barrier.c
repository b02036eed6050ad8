/* barrier.c - see barrier.h. */
#include "bsprun/agent/core/barrier.h"

#include <stdio.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells_mirror.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/verdict.h"

/* Enables mirroring of other hosts' ranks, which run as soon as the last host is ready. */
static bool join_boards(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};
    int error = agent_cells_mirror(agent);

    if (!error)
        return true;
    snprintf(verdict.text, sizeof verdict.text, "no memory for what comes from other hosts: %s",
             strerror(-error));
    agent_abort(agent, COORD_NOBODY, &verdict);
    return false;
}

void agent_say_all_ready(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_RANKS_READY};

    message.ranks_ready.count = (uint32_t)agent_here(agent);
    agent_tell_zero(agent, &message);
}

void agent_all_ready(struct agent *agent)
{
    if (!join_boards(agent))
        return;
    agent_known_ready(agent);
    agent_say_all_ready(agent);
}

void agent_answer(struct agent *agent, uint64_t superstep, enum bspz_decision decision,
                  uint64_t consult)
{
    struct bspz_board *board = agent_board(agent);

    atomic_store(&board->consult_from, consult);
    atomic_store(&board->answer, (uint32_t)decision);
    atomic_store(&board->answered, superstep + 1);
    bspz_barrier_wake(board);
}
