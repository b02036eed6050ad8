/* window.h - the destination of the job's output: terminals and their size. */
#ifndef BSPRUN_WINDOW_H
#define BSPRUN_WINDOW_H

#include <stdint.h>

struct window {
    uint32_t terminals;     /* 1: stdout is a terminal, 2: stderr */
    uint32_t discards;      /* 1: stdout is /dev/null, 2: stderr */
    uint32_t rows, columns; /* 0: not known */
};

struct window window_look(void);

#endif
