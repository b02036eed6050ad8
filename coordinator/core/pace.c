/* pace.c - whether supersteps have become longer; see pace.h. */
#include "coordinator/core/pace.h"

#include <math.h>

#define CALM 4u /* times `settle` advances without a change: changes do not follow each other */

void pace_skip(struct pace *pace)
{
    pace->anchored = false;
}

static void anchor(struct pace *pace, uint64_t now_ns, uint64_t superstep)
{
    pace->anchored = true;
    pace->since_ns = now_ns;
    pace->newest = superstep;
}

static bool has_changed(struct pace *pace, double took_ns, uint64_t steps)
{
    double mean = pace->took_ns / pace->steps;
    double superstep = took_ns / (double)(steps > 0 ? steps : 1);
    double excess = fmin(superstep / mean - 1 - PACE_SLACK, PACE_MOST);

    if (steps > 0 || excess > 0)
        pace->sum = fmax(pace->sum + excess, 0);
    return pace->sum > PACE_BOUND;
}

static void begin_anew(struct pace *pace)
{
    pace->settle = pace->settle < PACE_SETTLE_MOST / 2 ? 2 * pace->settle : PACE_SETTLE_MOST;
    pace->took_ns = pace->steps = pace->sum = 0;
    pace->advances = 0;
}

bool pace_glance(struct pace *pace, uint64_t now_ns, uint64_t superstep)
{
    if (!pace->anchored || now_ns < pace->since_ns || superstep < pace->newest) {
        anchor(pace, now_ns, superstep);
        return false;
    }
    double took_ns = (double)(now_ns - pace->since_ns);
    uint64_t steps = superstep - pace->newest;

    if (pace->settle == 0)
        pace->settle = PACE_SETTLE;
    if (pace->advances >= pace->settle && pace->took_ns > 0 && has_changed(pace, took_ns, steps)) {
        begin_anew(pace);
        anchor(pace, now_ns, superstep);
        return true;
    }
    if (steps == 0)
        return false;
    pace->took_ns += took_ns;
    pace->steps += (double)steps;
    if (++pace->advances >= CALM * pace->settle)
        pace->settle = PACE_SETTLE;
    anchor(pace, now_ns, superstep);
    return false;
}
