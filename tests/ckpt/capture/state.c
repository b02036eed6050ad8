/* state.c - a program with every kind of state that a snapshot must keep.
 *
 *   state IMAGE   sets everything up, writes the image, spoils what it can and ends with status 10.
 *
 * Restored, it checks everything; then the handover text is the name of the next image, or empty,
 * in which case it ends well. */
#include "tests/ckpt/capture/state.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"

#define DEEP 2000

static void live(const char *image)
{
    char next[256];
    int hop = 0;

    snprintf(next, sizeof next, "%s", image);
    while (next[0]) {
        int forked = getenv("STATE_FORKED") != NULL;

        if ((forked ? host_snapshot_forked(next) : host_snapshot(next)) == 0) {
            memory_spoil();
            files_spoil();
            kernel_spoil();
            signals_spoil();
            _exit(10);
        }
        hop++;
        memory_check(hop);
        library_check(hop);
        files_check(hop);
        kernel_check(hop);
        signals_check();
        snprintf(next, sizeof next, "%s", host_handover());
    }
}

/* Megabytes of stack, each frame with contents that are checked on the way back. */
static uint64_t dive(int depth, const char *image)
{
    volatile uint64_t frame[256];
    uint64_t below;

    for (int i = 0; i < 256; i++)
        frame[i] = (uint64_t)depth * 256 + (uint64_t)i;
    if (depth == 0) {
        live(image);
        below = 0;
    } else {
        below = dive(depth - 1, image);
    }
    for (int i = 0; i < 256; i++)
        CHECK(frame[i] == (uint64_t)depth * 256 + (uint64_t)i);
    return below + 1;
}

int main(int argc, char **argv, char **environment)
{
    char first[64];

    CHECK(argc >= 2);
    snprintf(first, sizeof first, "%s", environment[0]);
    memory_set();
    library_set();
    files_set();
    kernel_set();
    signals_set();
    CHECK(dive(DEEP, argv[1]) == DEEP + 1);
    /* The arguments and the environment are those of the first life. */
    CHECK(strcmp(argv[argc - 1], "last argument") == 0);
    CHECK(strcmp(first, environment[0]) == 0);
    CHECK(strcmp(getenv("STATE_LIFE"), "first") == 0);
    /* The stack can still grow to its limit. */
    CHECK(argc < 3 || dive(DEEP * 3 / 2, "") == (uint64_t)DEEP * 3 / 2 + 1);
    printf("all of it\n");
    return 0;
}
