/* arguments_inside.h - what the parts of the command line's reading share. */
#ifndef BSPSIM_ARGUMENTS_INSIDE_H
#define BSPSIM_ARGUMENTS_INSIDE_H

#include <popt.h>

#include "tools/bspsim/arguments.h"

/* ---- arguments_table.c ---- */

extern const struct poptOption arguments_table[];

/* The long name of the option. */
const char *arguments_name(enum argument argument);

/* Stores the text and returns false. */
bool arguments_wrong(char error[ARGUMENTS_ERROR], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- arguments_rules.c ---- */

/* Whether the options go together and with the command, and nothing is missing; else false and
 * `error`. */
bool arguments_check(const struct arguments *arguments, char error[ARGUMENTS_ERROR]);

#endif
