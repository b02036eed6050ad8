/* trivial.c - the smallest program that is saved and goes on: a counter, a string, a file of text
 * on stdout that is only partly written.
 *
 *   trivial IMAGE   writes the image and ends with status 10; restored, it prints what it kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"

static int counter = 1;

int main(int argc, char **argv)
{
    char *heap = malloc(1000);
    int local = 5;

    if (argc != 2)
        return 2;
    counter = 41;
    strcpy(heap, "kept");
    printf("before ");
    if (host_snapshot(argv[1]) == 0)
        _exit(10);
    counter++;
    local++;
    printf("after %d %s %d %s\n", counter, heap, local, host_handover());
    free(heap);
    return 0;
}
