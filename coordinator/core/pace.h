/* pace.h - whether supersteps have become longer: a pure test for a change of their mean.
 *
 * It is told at times of the caller's choice in which superstep the processes are.  The time from
 * one advance to the next, by the supersteps between them, is compared with the mean of all since
 * the watch began; what exceeds it by more than PACE_SLACK of the mean is summed up, a shorter time
 * reduces the sum again, and a sum above PACE_BOUND means that the mean has changed: the cumulative
 * sum of Page (Continuous inspection schemes, Biometrika 41, 1954).  A superstep that has not ended
 * counts as long as it has taken so far.  No glance adds more than PACE_MOST, so one that comes in
 * a short disturbance is not enough.
 *
 * After a change the watch begins anew.  The first glances only measure, each time twice as many as
 * before if changes follow each other: supersteps whose length changes all the time are not looked
 * at all the time.
 *
 * Times in nanoseconds of any clock.  Where a clock or a superstep goes back, what is between
 * counts for nothing.
 */
#ifndef COORD_PACE_H
#define COORD_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_SLACK       0.25 /* relative to the mean, as the two below */
#define PACE_BOUND       1.25
#define PACE_MOST        0.5
#define PACE_SETTLE      4u  /* glances with an advance that only measure, at first ... */
#define PACE_SETTLE_MOST 64u /* ... and at most */

/* All 0 before the first glance.  To be read by pace.c alone. */
struct pace {
    bool anchored;
    uint64_t since_ns, newest; /* the last advance, and the superstep it led to */
    double took_ns, steps;     /* since the watch began */
    uint32_t advances,
        settle; /* glances that saw one; how many of them only measure, 0: the least */
    double sum;
};

/* The processes are in that superstep.  True: supersteps are clearly longer than they were. */
bool pace_glance(struct pace *pace, uint64_t now_ns, uint64_t superstep);

/* The time from the last glance to the next one is not that of supersteps. */
void pace_skip(struct pace *pace);

#endif
