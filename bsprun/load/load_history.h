/* load_history.h - bspload --history: the history of failures. */
#ifndef BSPRUN_LOAD_HISTORY_H
#define BSPRUN_LOAD_HISTORY_H

#include <stdbool.h>

/* Prints the statistics of each site, most recent first, as tables or as a line of JSON each.
 * Returns the exit status. */
int load_history_show(bool json);

#endif
