/* timeline.c - see timeline.h. */
#include "tests/sim/timeline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void timeline_begin(struct timeline *timeline, size_t action_size, const struct seeds_job *job)
{
    *timeline = (struct timeline){
        .job = *job, .random = job->seed, .apart = ~job->seed, .action_size = action_size};
}

void timeline_take_course(struct timeline *timeline)
{
    if (timeline->job.course > 0)
        timeline->random ^= timeline->job.course * 0xda942042e4dd58b5u;
    timeline->apart ^= timeline->job.course;
}

void timeline_end(struct timeline *timeline)
{
    free(timeline->actions);
    timeline->actions = NULL;
    timeline->count = timeline->room = 0;
}

/* ---- Chance ---- */

static uint64_t splitmix64(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t timeline_random(struct timeline *timeline, uint64_t below)
{
    return splitmix64(&timeline->random) % below;
}

uint64_t timeline_apart(struct timeline *timeline, uint64_t below)
{
    return splitmix64(&timeline->apart) % below;
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
    if (!timeline->job.verbose)
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
    char what[256], command[SEEDS_COMMAND_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    fflush(stdout);
    if (!seeds_note_failure(what))
        fprintf(stderr, "%s: seed %llu, time %llu: %s\n(see it happen: %s)\n",
                timeline->job.program, (unsigned long long)timeline->job.seed,
                (unsigned long long)timeline->now, what, seeds_command(&timeline->job, command));
    _exit(1);
}
