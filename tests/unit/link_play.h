/* link_play.h - two agents' links over a socket pair, on one loop; the ranks only pretend.
 *
 * Processes 0 and 1 live at the first end, 2 and 3 at the second.  The fixture fails a test that
 * leaks a descriptor. */
#ifndef TESTS_UNIT_LINK_PLAY_H
#define TESTS_UNIT_LINK_PLAY_H

#include "bsprun/link/link_inside.h"
#include "tests/unit/boards.h"

#define PROCS 4

struct end {
    struct links *links;
    struct board_host at;
    struct link_bell bell;
    unsigned messages, lost, arrived;
    uint64_t next; /* position expected in the next message */
    char why[LINK_TEXT];
    bool close_at_message, close_at_lost, break_at_message;
    void (*at_message)(void);
    uint64_t arrived_at;
};

extern uv_loop_t loop;
extern struct end ends[2];
extern int fds[2], outputs[2];
/* Of the ends that are opened. */
extern uint64_t spin_ns;
extern uint32_t heartbeat_ms;
extern bool has_third; /* both have a link to host 2, too, which never comes up */
extern const struct net_session sessions[2];

void link_set_up(void);
void link_tear_down(void);

void open_end(int which, bool encrypt, bool with_output);
void close_end(struct end *end);
void take(int which);
void mirror(int which);
/* All of these, of both. */
void begin(bool encrypt);
void turn(void);

/* A message to the other end; the positions there begin with 0. */
void post(int which, uint64_t position, uint32_t size);
/* Both ranks of an end send to all and arrive; and the bell was heard. */
void arrive(int which, uint64_t superstep, uint64_t bytes);
void superstep_of(int which, uint64_t superstep, uint64_t bytes);
bool complete(int which, uint64_t superstep, enum bspz_stage stage);
/* The superstep whose end the other host was told of last (+ 1; 0: none). */
uint64_t passed(int which);
void check_data(int which, uint64_t superstep, uint64_t bytes);
void run_superstep(uint64_t superstep, uint64_t bytes);

#endif
