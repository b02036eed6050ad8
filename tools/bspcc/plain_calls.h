/* Sources that treat bsp_begin and bsp_end as the functions they were in 1998. */
#ifndef BSPZ_BSPCC_PLAIN_CALLS_H
#define BSPZ_BSPCC_PLAIN_CALLS_H

#include <stdbool.h>

/* Whether the source declares or #defines bsp_begin or bsp_end itself, which conflicts with the
 * macros of bsp.h.  A false positive, from a comment say, does no harm but that messages about
 * these two calls name no line.  False for a file that cannot be read; the compiler will report
 * that. */
bool declares_begin_or_end(const char *path);

#endif
