/* Sources that treat bsp_begin and bsp_end as the functions they were in 1998. */
#ifndef BSPZ_BSPCC_PLAIN_CALLS_H
#define BSPZ_BSPCC_PLAIN_CALLS_H

#include <stdbool.h>

/* Does the source declare or #define bsp_begin or bsp_end itself?  The macros of bsp.h would be in
 * its way.  True also where it only looks so, say in a comment: then messages about these two calls
 * name no line, nothing else.  False for a file that cannot be read; the compiler will say why. */
bool declares_begin_or_end(const char *path);

#endif
