/* options.h - command lines of the example programs: a table of options, typed and bounded.
 *
 * A program fills one array of rows and calls options_parse before bsp_begin, so that --help and
 * mistakes are answered once, by one process.  Every program also understands --json, --timing
 * and --help without listing them.
 */
#ifndef APPS_COMMON_OPTIONS_H
#define APPS_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,    /* target: bool */
    OPTION_INTEGER, /* target: int64_t; 1000000 and 1e6 are both understood */
    OPTION_REAL,    /* target: double */
    OPTION_TEXT,    /* target: const char * */
};

struct option_row {
    const char *name; /* long spelling without dashes; NULL ends the table */
    char letter;      /* short spelling, or 0 */
    enum option_kind kind;
    void *target;         /* holds the default, receives the value */
    double least, most;   /* inclusive bounds of a number */
    const char *argument; /* how the help calls the value */
    const char *help;
};

struct program {
    const char *name;
    const char *purpose;  /* one sentence */
    const char *operands; /* how the help calls them, "" when there are none */
    int max_operands;
    const struct option_row *options;
};

/* Fills the targets, tells complain (report.h) the program's name, and returns the index in argv of
 * the first operand.  Prints the help and
 * exits with 0, or one message and exits with 2, where the command line asks for it. */
int options_parse(const struct program *program, int argc, char **argv);

/* Says that both files of a program, either of which may be NULL, cannot be stdin. */
bool stdin_is_needed_twice(const struct program *program, const char *one, const char *other);

/* Set by --json and --timing. */
extern bool option_json, option_timing;

#endif
