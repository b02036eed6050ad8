/* output.c - see output.h. */
#include "tools/bspprof/output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_fresh(struct output *output)
{
    mode_t mask = umask(0);
    umask(mask);
    if (asprintf(&output->fresh, "%s.XXXXXX", output->name) < 0)
        return -1;
    int fd = mkstemp(output->fresh);
    if (fd >= 0)
        fchmod(fd, 0666 & ~mask);
    return fd;
}

bool output_begin(struct output *output, const char *name)
{
    struct stat status;
    *output = (struct output){.name = name};
    if (stat(name, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (stat(name, &status) == 0 && !S_ISREG(status.st_mode)) {
        output->file = fopen(name, "we");
        return output->file != NULL;
    }
    int fd = make_fresh(output);
    output->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->file)
        return true;
    int error = errno;
    if (fd >= 0) {
        close(fd);
        unlink(output->fresh);
    }
    free(output->fresh);
    errno = error;
    return false;
}

bool output_end(struct output *output, bool good)
{
    good = good && fflush(output->file) == 0 && !ferror(output->file);
    int error = errno;
    if (fclose(output->file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && output->fresh && rename(output->fresh, output->name) != 0) {
        good = false;
        error = errno;
    }
    if (!good && output->fresh)
        unlink(output->fresh);
    free(output->fresh);
    errno = error;
    return good;
}
