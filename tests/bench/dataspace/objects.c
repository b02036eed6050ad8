/* objects.c - see objects.h. */
#include "tests/bench/dataspace/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCHES 9

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double *times)
{
    qsort(times, BATCHES, sizeof *times, ascending);
    return times[BATCHES / 2];
}

static void check(const unsigned char *bytes, const unsigned char *got, size_t size)
{
    if (memcmp(bytes, got, size) != 0) {
        fprintf(stderr, "an object of %zu bytes is wrong\n", size);
        exit(1);
    }
}

static void measure(const struct objects_calls *calls, const char *tag, size_t size)
{
    unsigned char *bytes = malloc(size), *got = calloc(size, 1);
    double puts[BATCHES], reads[BATCHES], gets[BATCHES];
    int count = size < 65536 ? 200 : size < 4194304 ? 10 : 2;

    if (!bytes || !got)
        exit(1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + size);
    for (int batch = 0; batch < BATCHES; batch++) {
        double begun = now(), between = 0;

        for (int i = 0; i < count; i++)
            calls->put(tag, bytes, size);
        puts[batch] = (now() - begun) / count;
        begun = now();
        for (int i = 0; i < count; i++)
            calls->read(tag, got, size);
        reads[batch] = (now() - begun) / count;
        check(bytes, got, size);
        for (int i = 0; i < count; i++) {
            begun = now();
            calls->get(tag, got, size);
            between += now() - begun;
            calls->put(tag, bytes, size);
        }
        gets[batch] = between / count;
    }
    check(bytes, got, size);
    /* As many bytes whatever was measured: of replicas the first to write is shown. */
    printf("%10zu %14.2f %14.2f %14.2f\n", size, median(puts), median(reads), median(gets));
    free(bytes);
    free(got);
}

void objects_measure(const struct objects_calls *calls, const char *tag, size_t least, size_t most)
{
    for (size_t size = least; size <= most; size *= 4)
        measure(calls, tag, size);
}
