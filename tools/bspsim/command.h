/* command.h - what the commands of bspsim share. */
#ifndef BSPSIM_COMMAND_H
#define BSPSIM_COMMAND_H

#include <stdio.h>

#include "tools/bspsim/arguments.h"
#include "tools/bspsim/batch.h"

enum { STATUS_OK = 0, STATUS_BAD = 1, STATUS_WRONG = 2 };

/* The set-up by the arguments, with a limit of time in any case.  A trace is left to the caller. */
struct batch_setup command_setup(const struct arguments *arguments);

/* Prints "bspsim: TEXT" on stderr; returns the status. */
int bspsim_command_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A time for people, such as 1.5 s, 12.3 min, 154.2 h, 41.7 d; "-" where it is not finite. */
#define COMMAND_TIME_MAX 32
const char *bspsim_command_time(double seconds, char text[COMMAND_TIME_MAX]);

/* "name": value, with a comma before it unless it is the first of its object; a value that is not
 * finite is null. */
void command_number(FILE *file, bool first, const char *name, double value);

int command_plan(const struct arguments *arguments);
int command_run(const struct arguments *arguments);
int command_replay(const struct arguments *arguments);

#endif
