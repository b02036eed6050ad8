/* ours.c - objects of the dataspace: ours MOST [TAG [LEAST]].  Process 0 measures, the others wait.
 * With a tag that belongs to another host, the way there is measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <volpex.h>

#include "tests/bench/dataspace/objects.h"

static void put(const char *tag, const void *bytes, size_t size)
{
    if (volpex_put(tag, (int)strlen(tag), bytes, (int)size) != (int)size)
        exit(1);
}

static void read_object(const char *tag, void *bytes, size_t size)
{
    if (volpex_read(tag, (int)strlen(tag), bytes, (int)size) != (int)size)
        exit(1);
}

static void get(const char *tag, void *bytes, size_t size)
{
    if (volpex_get(tag, (int)strlen(tag), bytes, (int)size) != (int)size)
        exit(1);
}

int main(int argc, char **argv)
{
    static const struct objects_calls calls = {put, read_object, get};

    volpex_init(argc, argv);
    if (volpex_getProcId() == 0)
        objects_measure(&calls, argc > 2 ? argv[2] : "object", argc > 3 ? (size_t)atol(argv[3]) : 1,
                        (size_t)atol(argv[1]));
    volpex_finalize();
    return 0;
}
