/* outside.h - descriptors that were open before bsprun was started: a shell's, a lock of flock(1),
 * leaks of a batch system.  The program inherits them; they are not part of its state. */
#ifndef BSPRUN_AGENT_OUTSIDE_H
#define BSPRUN_AGENT_OUTSIDE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "lib/shm/board.h"

struct outside {
    struct bspz_outside list[BSPZ_OUTSIDE_MAX];
    uint32_t count;
};

struct agent;

/* Records them; to be called before anything is opened; `own` is this process's, -1: none.  Those
 * beyond the maximum count as the program's. */
void outside_note(struct outside *outside, int own);

/* Whether a process's descriptor with this number and status is one of them. */
bool outside_has(const struct outside *outside, int fd, const struct stat *status);

/* Writes them to the board for the ranks. */
void outside_show(const struct outside *outside, struct bspz_board *board);

/* Calls `tell` with a line about each. */
void outside_tell(const struct outside *outside, void (*tell)(void *context, const char *text),
                  void *context);

#endif
