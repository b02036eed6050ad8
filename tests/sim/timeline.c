/* timeline.c - see timeline.h. */
#include "tests/sim/timeline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void timeline_begin(struct timeline *timeline, const char *program, size_t action_size,
                    uint64_t seed, bool verbose)
{
    *timeline = (struct timeline){.program = program,
                                  .seed = seed,
                                  .random = seed,
                                  .verbose = verbose,
                                  .action_size = action_size};
}

void timeline_end(struct timeline *timeline)
{
    free(timeline->actions);
    timeline->actions = NULL;
    timeline->count = timeline->room = 0;
}

/* ---- Chance ---- */

uint64_t timeline_random(struct timeline *timeline, uint64_t below)
{
    /* splitmix64 */
    timeline->random += 0x9e3779b97f4a7c15u;
    uint64_t x = timeline->random;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % below;
}

bool timeline_chance(struct timeline *timeline, unsigned percent)
{
    return timeline_random(timeline, 100) < percent;
}

/* ---- The plan ---- */

void *timeline_at(const struct timeline *timeline, uint32_t i)
{
    return (char *)timeline->actions + i * timeline->action_size;
}

void *timeline_last(const struct timeline *timeline)
{
    return timeline_at(timeline, timeline->count - 1);
}

void *timeline_plan(struct timeline *timeline, uint64_t delay)
{
    if (timeline->count == timeline->room) {
        timeline->room = timeline->room ? timeline->room * 2 : 64;
        timeline->actions = realloc(timeline->actions, timeline->room * timeline->action_size);
        if (!timeline->actions)
            timeline_fail(timeline, "out of memory");
    }
    timeline->count++;
    struct moment *moment = timeline_last(timeline);
    memset(moment, 0, timeline->action_size);
    *moment = (struct moment){timeline->now + delay, timeline->order++};
    return moment;
}

void timeline_remove(struct timeline *timeline, uint32_t i)
{
    timeline->count--;
    if (i < timeline->count)
        memcpy(timeline_at(timeline, i), timeline_at(timeline, timeline->count),
               timeline->action_size);
}

bool timeline_next(struct timeline *timeline, void *action)
{
    uint32_t next = 0;
    if (timeline->count == 0)
        return false;
    for (uint32_t i = 1; i < timeline->count; i++) {
        const struct moment *a = timeline_at(timeline, i), *b = timeline_at(timeline, next);
        if (a->when < b->when || (a->when == b->when && a->order < b->order))
            next = i;
    }
    memcpy(action, timeline_at(timeline, next), timeline->action_size);
    timeline_remove(timeline, next);
    timeline->now = ((const struct moment *)action)->when;
    return true;
}

/* ---- What is told ---- */

void timeline_note(struct timeline *timeline, const char *format, ...)
{
    if (!timeline->verbose)
        return;
    va_list arguments;
    va_start(arguments, format);
    printf("%6llu  ", (unsigned long long)timeline->now);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

void timeline_fail(const struct timeline *timeline, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "%s: seed %llu, time %llu: ", timeline->program,
            (unsigned long long)timeline->seed, (unsigned long long)timeline->now);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n(see it happen: %s --seed %llu --verbose)\n", timeline->program,
            (unsigned long long)timeline->seed);
    va_end(arguments);
    exit(1);
}
