/* arguments.h - the command lines of bspprof, bspsig and bspcgprof. */
#ifndef BSPPROF_ARGUMENTS_H
#define BSPPROF_ARGUMENTS_H

#include "tools/bspprof/costs.h"
#include "tools/bspprof/run.h"

#define ARGUMENTS_ERROR 512u

enum arguments_command { ARGUMENTS_PROF = 1, ARGUMENTS_SIG = 2, ARGUMENTS_CGPROF = 4 };

enum arguments_sort {
    ARGUMENTS_BY_COST,
    ARGUMENTS_BY_COMPUTING,
    ARGUMENTS_BY_COMMUNICATING,
    ARGUMENTS_BY_H,
    ARGUMENTS_BY_SUPERSTEPS,
    ARGUMENTS_BY_STATEMENT
};

struct arguments {
    bool help, version, verbose;
    const char *files[2]; /* profiles; the first is PROF.bsp when none is given */
    unsigned file_count;
    const char *output; /* NULL: none is given */
    bool svg, json;
    const char *title;   /* NULL: the name of the file */
    const char *params;  /* of -slg, or NULL */
    const char *machine; /* of -arch, or NULL */
    struct run_section section;
    /* bspsig only */
    bool short_form, statistics;
    enum arguments_sort sort;
    uint64_t bucket;   /* words */
    uint64_t compress; /* entries; 0: all */
    double ignore;     /* per cent */
};

/* Options may be written with one dash or with two.  On failure false and `error`.  The texts of
 * `arguments` are those of argv. */
bool bspprof_arguments_parse(enum arguments_command command, int argc, char **argv,
                             struct arguments *arguments, char error[ARGUMENTS_ERROR]);

#endif
