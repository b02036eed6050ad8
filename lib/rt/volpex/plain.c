/* plain.c - the calls of volpex.h as plain symbols; see lib/rt/plain.c. */
#include "include/volpex.h"

#define HERE 0, "unprofiled"

int(volpex_init)(int argc, char *argv[])
{
    return volpex_init_cpp(argc, argv, HERE);
}

void(volpex_finalize)(void)
{
    volpex_finalize_cpp(HERE);
}

int(volpex_put)(const char *tag, int tagSize, const void *data, int dataSize)
{
    return volpex_put_cpp(tag, tagSize, data, dataSize, HERE);
}

int(volpex_get)(const char *tag, int tagSize, void *data, int dataSize)
{
    return volpex_get_cpp(tag, tagSize, data, dataSize, HERE);
}

int(volpex_read)(const char *tag, int tagSize, void *data, int dataSize)
{
    return volpex_read_cpp(tag, tagSize, data, dataSize, HERE);
}
