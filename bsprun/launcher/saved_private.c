/* saved_private.c - a private directory of snapshots: on several hosts processes are made from the
 * image of process 0, which needs a place; see saved.h.
 *
 * It is in $TMPDIR and removed when the job ends.  Directories of a killed bsprun are removed when
 * the same user starts the next job there (bsprun/leftovers.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/saved.h"
#include "bsprun/leftovers.h"
#include "lib/base/temporary.h"

#define RANDOM "XXXXXX"

void saved_remove_private(const char *path)
{
    leftovers_remove(path);
}

char *saved_make_private(char error[SAVED_TEXT])
{
    char *path;

    if (asprintf(&path, "%s/" LEFTOVERS_JOB RANDOM, bspz_temporary_root()) < 0)
        path = NULL;
    if (path && mkdtemp(path))
        return path;
    snprintf(error, SAVED_TEXT, "no directory for the job in %.300s (TMPDIR): %s",
             bspz_temporary_root(), strerror(errno));
    free(path);
    return NULL;
}
