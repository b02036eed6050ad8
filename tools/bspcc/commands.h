/* Carries out a parsed command line. */
#ifndef BSPZ_BSPCC_COMMANDS_H
#define BSPZ_BSPCC_COMMANDS_H

#include "tools/bspcc/layout.h"
#include "tools/bspcc/request.h"

/* Compiles, or compiles and links, and returns the exit status.  May replace this process by the
 * compiler instead of returning. */
int carry_out(struct request *request, const struct layout *layout);

#endif
