/* objects.h - the same measurement for whatever holds objects: how long a put, a read and a get of
 * one process take, by the size of the object.
 */
#ifndef BENCH_DATASPACE_OBJECTS_H
#define BENCH_DATASPACE_OBJECTS_H

#include <stddef.h>

/* Each ends the program if it fails. */
struct objects_calls {
    void (*put)(const char *tag, const void *bytes, size_t size);
    void (*read)(const char *tag, void *bytes, size_t size);
    void (*get)(const char *tag, void *bytes, size_t size);
};

/* Prints "SIZE PUT READ GET": bytes, and microseconds of one call in the median of some batches.
 * The sizes are `least` to `most` bytes, each four times the one before. */
void objects_measure(const struct objects_calls *calls, const char *tag, size_t least, size_t most);

#endif
