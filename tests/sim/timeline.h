/* timeline.h - what made-up worlds share: chance, the clock, the plan of what happens. */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/seeds.h"

/* What every action begins with.  Of two at the same time the one that was planned first happens
 * first. */
struct moment {
    uint64_t when, order;
};

struct timeline {
    struct seeds_job job;
    uint64_t random, apart, now, order;
    void *actions; /* the plan, in no order */
    size_t action_size;
    uint32_t count, room;
};

/* actions: of that size, which is that of a moment at least. */
void timeline_begin(struct timeline *timeline, size_t action_size, const struct seeds_job *job);
/* The world is made, what follows is chance: another chance with each course. */
void timeline_take_course(struct timeline *timeline);
/* What actions hold is for the caller to free. */
void timeline_end(struct timeline *timeline);

/* From 0 to below - 1. */
uint64_t timeline_random(struct timeline *timeline, uint64_t below);
bool timeline_chance(struct timeline *timeline, unsigned percent);
/* As timeline_random, and leaves what that gives as it is: for what a world has learned since, so
 * that seeds that once failed still mean the same. */
uint64_t timeline_apart(struct timeline *timeline, uint64_t below);

/* A new action, the last one, empty but for its moment; good until the next one is planned. */
void *timeline_plan(struct timeline *timeline, uint64_t delay);
void *timeline_at(const struct timeline *timeline, uint32_t i);
void *timeline_last(const struct timeline *timeline);
/* Another one takes its place. */
void timeline_remove(struct timeline *timeline, uint32_t i);
/* Moves on to the earliest action, which is copied and removed; false: there is none. */
bool timeline_next(struct timeline *timeline, void *action);

void timeline_note(struct timeline *timeline, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Says what is wrong, with the command that shows it again, and ends the program. */
void timeline_fail(const struct timeline *timeline, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif
