/* command.h - what the commands that show profiles share. */
#ifndef BSPPROF_COMMAND_H
#define BSPPROF_COMMAND_H

#include "tools/bspprof/arguments.h"

enum { STATUS_OK = 0, STATUS_BAD = 1, STATUS_WRONG = 2 };

/* Prints "NAME: TEXT" on stderr, where NAME is that of the command; returns the status. */
int bspprof_command_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The main of a command: reads the arguments, shows help or version, else does the work, whose
 * status it returns, or STATUS_BAD when the standard output cannot be written. */
int command_main(enum arguments_command command, const char *name, const char *help, int argc,
                 char **argv, int (*work)(const struct arguments *arguments));

/* A time for people, from nanoseconds: 1.234 ms. */
#define COMMAND_TIME_MAX 32
const char *bspprof_command_time(double ns, char text[COMMAND_TIME_MAX]);

/* What a statement is called in a column of a table: the end of a long name says more. */
#define COMMAND_NAME_MAX 40
const char *command_name(const struct profile *profile, uint32_t statement,
                         char text[COMMAND_NAME_MAX]);

#endif
