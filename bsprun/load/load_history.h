/* load_history.h - bspload --history: what jobs saw of hosts that fail. */
#ifndef BSPRUN_LOAD_HISTORY_H
#define BSPRUN_LOAD_HISTORY_H

#include <stdbool.h>

/* Prints what the history says of each site, the one heard of last first, as tables or as a line of JSON
 * each.  The exit status. */
int load_history_show(bool json);

#endif
