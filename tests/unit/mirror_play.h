/* mirror_play.h - the boards of two hosts, and blocks that go from the first to the second. */
#ifndef TESTS_UNIT_MIRROR_PLAY_H
#define TESTS_UNIT_MIRROR_PLAY_H

#include "bsprun/link/mirror_inside.h"
#include "tests/unit/boards.h"

#define PROCS 6

/* Processes 0, 2 and 3 on host 1; 1 and 4 on host 7; 5 on host 9. */
extern struct board_host one, seven;
extern struct mirror *from_one, *from_seven;

void mirror_set_up(void);
void mirror_tear_down(void);
/* Both mirrors, of boards that are as they shall be. */
void begin(void);

/* All of one's ranks arrive. */
void all_arrive(uint64_t superstep, uint32_t flags);
/* So that seven has arrived at the barrier itself. */
void seven_arrives(uint64_t superstep);
/* The block that is due for seven. */
struct mirror_block collect(uint64_t superstep, enum bspz_stage stage);
/* The data from where they lie to where they belong; both are freed. */
void copy_data(const struct mirror_block *from, const struct mirror_block *to);
/* What mirror_expect of seven, or else mirror_accept says. */
int take(struct mirror_block *block);
/* What is due is collected and taken. */
void pass(uint64_t superstep, enum bspz_stage stage);
/* Of that process, as seven sees it. */
uint64_t stamp(int pid, uint64_t superstep);

#endif
