/* input_same.c - see input_same.h. */
#include "bsprun/launcher/input_same.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/digest.h"

#define PIECE 8192

/* Compares a file from the descriptor's offset on. */
static enum input_sameness compare_file(const struct input_claim *claim, int descriptor)
{
    uint64_t digest = BSPZ_DIGEST_NOTHING, left = claim->position;
    off_t at = lseek(descriptor, 0, SEEK_CUR);
    char bytes[PIECE];

    while (left > 0 && at >= 0) {
        ssize_t got = pread(descriptor, bytes, left < PIECE ? (size_t)left : PIECE, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return INPUT_ENDS;
        digest = bspz_digest(digest, bytes, (size_t)got);
        left -= (uint64_t)got;
        at += got;
    }
    if (at < 0 || claim->digest == BSPZ_DIGEST_UNKNOWN)
        return INPUT_SAME;
    return digest == claim->digest ? INPUT_SAME : INPUT_DIFFERS;
}

static bool is_null(const struct stat *status)
{
    return S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 3);
}

/* Whether it is a pipe without writers and contents. */
static bool is_over(int descriptor)
{
    struct pollfd poller = {.fd = descriptor, .events = POLLIN};

    return poll(&poller, 1, 0) == 1 && (poller.revents & (POLLIN | POLLHUP)) == POLLHUP;
}

enum input_sameness input_compare(const struct input_claim *claim, int descriptor)
{
    struct stat status;

    if (claim->position == 0 || isatty(descriptor))
        return INPUT_SAME;
    if (fstat(descriptor, &status) != 0 || is_null(&status) || is_over(descriptor))
        return INPUT_ENDS;
    return S_ISREG(status.st_mode) ? compare_file(claim, descriptor) : INPUT_SAME;
}

void input_complaint(const struct input_claim *claim, enum input_sameness sameness,
                     char text[INPUT_TEXT])
{
    snprintf(text, INPUT_TEXT,
             "at the snapshot of superstep %" PRIu64 " the job had read %" PRIu64
             " bytes of its input, and the input of this restart %s: give it the same input again "
             "(bsprun --restart DIR < FILE), or --input-differs",
             claim->superstep, claim->position,
             sameness == INPUT_ENDS ? "ends before that" : "begins with different ones");
}
