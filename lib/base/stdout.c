/* stdout.c - see stdout.h. */
#include "lib/base/stdout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool bspz_stdout_flushed(const char *command)
{
    errno = EIO; /* what failed before may not have left its reason */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "%s: standard output: %s\n", command, strerror(errno));
    clearerr(stdout);
    return false;
}
