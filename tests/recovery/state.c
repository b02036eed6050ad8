/* state.c - processes with every kind of state that a snapshot must keep, checked in every
 * superstep.
 *
 *   state DIRECTORY SUPERSTEPS
 *
 * Process I works in DIRECTORY/I, which exists.  What is set up and checked is what the tests of the
 * capture engine have (tests/ckpt/capture/state.h), here under libbsp.  See outside.h for how it is
 * watched. */
#include <bsp.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tests/ckpt/capture/state.h"
#include "tests/recovery/outside.h"

#define DEEP 1500

static void live(int supersteps)
{
    for (int s = 1; s <= supersteps; s++) {
        outside_superstep(s);
        bsp_sync();
        memory_check(s);
        library_check(s);
        files_check(s);
        kernel_check(s);
        signals_check();
    }
}

/* Megabytes of stack, each frame with contents that are checked on the way back. */
static uint64_t dive(int depth, int supersteps)
{
    volatile uint64_t frame[256];
    uint64_t below = 0;

    for (int i = 0; i < 256; i++)
        frame[i] = (uint64_t)depth * 256 + (uint64_t)i;
    if (depth == 0)
        live(supersteps);
    else
        below = dive(depth - 1, supersteps);
    for (int i = 0; i < 256; i++)
        CHECK(frame[i] == (uint64_t)depth * 256 + (uint64_t)i);
    return below + 1;
}

int main(int argc, char **argv, char **environment)
{
    char first[64], name[3000];
    int supersteps;

    CHECK(argc >= 3);
    outside_directory = argv[1];
    supersteps = atoi(argv[2]);
    snprintf(first, sizeof first, "%s", environment[0]);
    bsp_begin(0);
    snprintf(name, sizeof name, "%s/%d", outside_directory, bsp_pid());
    CHECK(chdir(name) == 0);
    memory_set();
    library_set();
    files_set();
    kernel_set();
    signals_set();
    bsp_sync();
    CHECK(dive(DEEP, supersteps) == DEEP + 1);
    /* The arguments and the environment are those of the first life. */
    CHECK(strcmp(argv[2] + strlen(argv[2]) + 1, argv[argc - 1]) == 0 || argc == 3);
    CHECK(strcmp(first, environment[0]) == 0);
    CHECK(strcmp(getenv("STATE_LIFE"), "first") == 0);
    /* The stack can still grow. */
    CHECK(dive(DEEP * 3 / 2, 0) == (uint64_t)DEEP * 3 / 2 + 1);
    for (int turn = 0; turn < bsp_nprocs(); turn++) {
        if (turn == bsp_pid()) {
            printf("all of it in process %d\n", turn);
            fflush(stdout);
        }
        bsp_sync();
    }
    outside_end(supersteps);
    bsp_end();
    return 0;
}
