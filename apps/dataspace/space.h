/* space.h - what the programs of this directory share: tags that are printed, tasks that are handed
 * out, and how long it took.
 */
#ifndef APPS_DATASPACE_SPACE_H
#define APPS_DATASPACE_SPACE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <volpex.h>

#define TAG_MOST 64

static inline int tag_print(char *tag, const char *format, va_list words)
{
    return vsnprintf(tag, TAG_MOST, format, words);
}

__attribute__((format(printf, 3, 4))) static inline void space_put(const void *data, size_t bytes,
                                                                   const char *format, ...)
{
    char tag[TAG_MOST];
    va_list words;

    va_start(words, format);
    volpex_put(tag, tag_print(tag, format, words), data, (int)bytes);
    va_end(words);
}

/* Returns the bytes of the object, which is removed. */
__attribute__((format(printf, 3, 4))) static inline size_t space_get(void *data, size_t room,
                                                                     const char *format, ...)
{
    char tag[TAG_MOST];
    va_list words;
    int size;

    va_start(words, format);
    size = volpex_get(tag, tag_print(tag, format, words), data, (int)room);
    va_end(words);
    return (size_t)size;
}

__attribute__((format(printf, 3, 4))) static inline size_t space_read(void *data, size_t room,
                                                                      const char *format, ...)
{
    char tag[TAG_MOST];
    va_list words;
    int size;

    va_start(words, format);
    size = volpex_read(tag, tag_print(tag, format, words), data, (int)room);
    va_end(words);
    return (size_t)size;
}

/* The next task of `count`, or `count` if there is none left.  Some process has put a 0 under that
 * name first. */
static inline int64_t space_next_task(const char *name, int64_t count)
{
    int64_t next, taken;

    space_get(&next, sizeof next, "%s", name);
    taken = next;
    if (next < count)
        next++;
    space_put(&next, sizeof next, "%s", name);
    return taken;
}

static inline void *allocate(size_t bytes)
{
    void *at = malloc(bytes > 0 ? bytes : 1);

    if (!at) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return at;
}

static inline double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A number that depends on both, and looks like chance. */
static inline uint64_t hash_of(uint64_t a, uint64_t b)
{
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0x632be59bd9b4e019);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* argv[at], at least `least`, or `otherwise`; a word that is no number ends the program. */
static inline int64_t number_of(int argc, char **argv, int at, int64_t otherwise, int64_t least)
{
    char *end;
    long long number;

    if (at >= argc)
        return otherwise;
    number = strtoll(argv[at], &end, 10);
    if (*end || end == argv[at] || number < least) {
        fprintf(stderr, "%s: argument %d: a number from %lld on is expected, not \"%s\"\n", argv[0],
                at, (long long)least, argv[at]);
        exit(2);
    }
    return number;
}

/* "time" as the last argument, which is removed: print how long it took, and do not check. */
static inline bool is_timed(int *argc, char **argv)
{
    bool timed = *argc > 1 && strcmp(argv[*argc - 1], "time") == 0;

    *argc -= timed;
    return timed;
}

/* By process 0, at the end. */
static inline void finish(bool timed, bool right, double since)
{
    if (timed)
        printf("%.6f seconds\n", seconds() - since);
    else
        printf("%s\n", right ? "verified" : "FAILED");
    if (!right)
        exit(1);
}

#endif
