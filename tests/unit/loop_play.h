/* loop_play.h - what tests with an event loop have in common: the loop, and that no descriptor
 * leaks. */
#ifndef TESTS_UNIT_LOOP_PLAY_H
#define TESTS_UNIT_LOOP_PLAY_H

#include <uv.h>

extern uv_loop_t loop;

/* Fixture.  All handles must be closed, or closing, when it is taken down: their callbacks are run.
 */
void loop_set_up(void);
void loop_tear_down(void);

/* One turn, which waits for something to happen. */
void turn(void);
/* Until nothing is left to be done. */
void run(void);

#endif
