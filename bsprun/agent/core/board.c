/* board.c - see board.h. */
#include "bsprun/agent/core/board.h"

#include <errno.h>

#include "bsprun/agent/core/agent_inside.h"
#include "lib/shm/board.h"

void agent_board_open(struct agent *agent)
{
    agent->board_fd = -1;
}

void agent_take_board(struct agent *agent, int fd, struct bspz_board *first_page)
{
    agent->board_fd = fd;
    agent->first_page = agent->board = first_page;
}

int agent_map_slots(struct agent *agent, int nprocs)
{
    struct bspz_board *board = bspz_board_map_agent(agent->board_fd, nprocs);

    if (!board)
        return -errno;
    agent->board = board;
    return 0;
}

struct bspz_board *agent_board(const struct agent *agent)
{
    return agent->board;
}

struct bspz_board *agent_first_page(const struct agent *agent)
{
    return agent->first_page;
}

int agent_board_fd(const struct agent *agent)
{
    return agent->board_fd;
}
