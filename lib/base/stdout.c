/* stdout.c - see stdout.h. */
#include "lib/base/stdout.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

static void say(const char *command)
{
    fprintf(stderr, "%s: standard output: %s\n", command, strerror(errno));
    clearerr(stdout);
}

bool bspz_stdout_text(const char *command, const char *text)
{
    if (fputs(text, stdout) >= 0)
        return true;
    say(command);
    __fpurge(stdout); /* else the end would say it again */
    return false;
}

bool bspz_stdout_flushed(const char *command)
{
    errno = EIO; /* what failed before may not have left its reason */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    say(command);
    return false;
}
