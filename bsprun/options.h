/* options.h - bsprun's command line and environment, read into one struct. */
#ifndef BSPRUN_OPTIONS_H
#define BSPRUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/fault.h"
#include "lib/wire/wire.h"

enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_ERROR };

struct options {
    enum options_action action;
    int processes; /* 0: not given */
    int verbosity;
    enum wire_stdio stdio;
    enum wire_bind bind;
    double timeout; /* seconds; 0: none */
    bool report, progress, core_dumps;
    const char **exports; /* NAME=VALUE, for -x; owned */
    int export_count;
    char **command; /* program and arguments, NULL-terminated; owned */
    int command_length;
    struct faults faults;
    char note[256];  /* worth a line on stderr, "" if nothing */
    char error[512]; /* with OPTIONS_ERROR */
};

/* Looks a variable up; NULL when it is not set. */
typedef const char *options_lookup(const char *name);

/* Reads everything.  The result is to be freed with options_free, whatever it is. */
void options_parse(int argc, const char **argv, options_lookup *lookup, struct options *options);
void options_free(struct options *options);

extern const char options_help[];

#endif
