/* output.h - a file that appears under its name when it is whole, so that a full disk costs nothing
 * that was there before. */
#ifndef BSPPROF_OUTPUT_H
#define BSPPROF_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *name;
    char *fresh; /* the name meanwhile; NULL: what has the name is no regular file, and is written
                    to as it is */
    FILE *file;
};

/* False: errno says why.  On success to be ended with output_end. */
bool output_begin(struct output *output, const char *name);

/* Ends what was begun: with `good` the file gets its name, else nothing is left of it.  False:
 * errno says why it was not written. */
bool output_end(struct output *output, bool good);

#endif
