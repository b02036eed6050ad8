/* data.h - runs as JSON, for the script of the page (tools/bspprof/bspprof.js). */
#ifndef BSPPROF_DATA_H
#define BSPPROF_DATA_H

#include "tools/bspprof/costs.h"
#include "tools/bspprof/run.h"

/* Writes one or two runs; `costs` of each.  That it cannot be written is found by ferror. */
void data_write(FILE *file, const char *title, struct run *const *runs, const struct costs *costs,
                unsigned count);

/* What a statement is called: FILE:LINE, or its number if the profile does not say. */
#define DATA_NAME 4200u
const char *data_statement(const struct profile *profile, uint32_t statement, char text[DATA_NAME]);

#endif
