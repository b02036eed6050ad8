/* options_play.h - what tests of bsprun's options have in common: words, and an environment. */
#ifndef TESTS_INTEG_OPTIONS_PLAY_H
#define TESTS_INTEG_OPTIONS_PLAY_H

#include "bsprun/options/options.h"

extern const char *procs, *faults; /* BSP_PROCS, BSPZERO_FAULT */
extern const char *settings[8][2]; /* other variables */

const char *lookup(const char *name);
void set(int index, const char *name, const char *value);
void forget_settings(void);

#define PARSE(options, ...)                                                                        \
    do {                                                                                           \
        const char *words[] = {"bsprun", __VA_ARGS__, NULL};                                       \
        options_parse((int)(sizeof words / sizeof *words) - 1, words, lookup, options);            \
    } while (0)

#endif
