/* increments.c - a full image and increments upon it, each with what it was at its time.
 *
 *   increments FULL FIRST SECOND   writes the three; restored from one, it says which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"

#define BYTES ((size_t)4 << 20)

static void check(const unsigned char *at, size_t from, size_t to, int value)
{
    for (size_t i = from; i < to; i++) {
        if (at[i] != value) {
            fprintf(stderr, "byte %zu is %d, not %d\n", i, at[i], value);
            exit(1);
        }
    }
}

static void report(const char *which)
{
    printf("%s\n", which);
    exit(0);
}

int main(int argc, char **argv)
{
    unsigned char *memory = malloc(BYTES);

    if (argc < 4)
        return 2;
    memset(memory, 1, BYTES);
    if (host_snapshot(argv[1]) == 1) {
        check(memory, 0, BYTES, 1);
        report("full");
    }
    memset(memory + BYTES / 4, 2, 100000);
    memset(memory + BYTES / 2, 0, BYTES / 4);
    if (host_snapshot_increment(argv[2]) == 1) {
        check(memory, 0, BYTES / 4, 1);
        check(memory, BYTES / 4, BYTES / 4 + 100000, 2);
        check(memory, BYTES / 2, BYTES / 4 * 3, 0);
        check(memory, BYTES / 4 * 3, BYTES, 1);
        report("first");
    }
    memset(memory, 3, 10);
    if (host_snapshot_increment(argv[3]) == 1) {
        check(memory, 0, 10, 3);
        check(memory, 10, BYTES / 4, 1);
        check(memory, BYTES / 4, BYTES / 4 + 100000, 2);
        check(memory, BYTES / 2, BYTES / 4 * 3, 0);
        report("second");
    }
    return 10;
}
