/* window.h - where the user sees what the job prints, if at all. */
#ifndef BSPRUN_WINDOW_H
#define BSPRUN_WINDOW_H

#include <stdint.h>

struct window {
    uint32_t terminals;     /* 1: stdout is one, 2: stderr is */
    uint32_t discards;      /* 1: stdout is /dev/null, 2: stderr is */
    uint32_t rows, columns; /* 0: not known */
};

struct window window_look(void);

#endif
