/* picture.h - a run as a picture that stands by itself (SVG). */
#ifndef BSPPROF_PICTURE_H
#define BSPPROF_PICTURE_H

#include "tools/bspprof/costs.h"
#include "tools/bspprof/run.h"

/* Draws runs one below the other, with the parameters of each; their steps are gathered further, as
 * far as the picture needs.  That the file cannot be written is found by ferror. */
void picture_draw(FILE *file, const char *title, struct run *const *runs, const struct costs *costs,
                  unsigned count);

#endif
