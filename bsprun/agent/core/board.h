/* board.h - the agent's mappings of the board of its host. */
#ifndef BSPRUN_AGENT_BOARD_H
#define BSPRUN_AGENT_BOARD_H

#include "lib/shm/board.h"

struct agent;

/* There is none yet. */
void agent_board_open(struct agent *agent);
/* The board is that of the descriptor, of which the first page is mapped.  Takes ownership of
 * both. */
void agent_take_board(struct agent *agent, int fd, struct bspz_board *first_page);
/* Maps the slots of p processes, too. 0 or -errno. */
int agent_map_slots(struct agent *agent, int nprocs);

/* The largest mapping so far; NULL: none. */
struct bspz_board *agent_board(const struct agent *agent);
/* Stays mapped: the bell thread waits in it. */
struct bspz_board *agent_first_page(const struct agent *agent);
/* -1: none. */
int agent_board_fd(const struct agent *agent);

#endif
