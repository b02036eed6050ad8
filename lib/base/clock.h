/* clock.h - clocks in nanoseconds.  Costs as clock_gettime, about 20 ns. */
#ifndef BSPZ_BASE_CLOCK_H
#define BSPZ_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define BSPZ_NS_PER_MS UINT64_C(1000000)
#define BSPZ_NS_PER_S  UINT64_C(1000000000)

/* The time of the clock; 0: it does not exist, as that of a process that has ended. */
static inline uint64_t bspz_clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * BSPZ_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* For intervals: monotonic, stops while the machine is suspended. */
static inline uint64_t bspz_now_ns(void)
{
    return bspz_clock_ns(CLOCK_MONOTONIC);
}

/* For dates: since 1970, UTC. */
static inline uint64_t bspz_wall_ns(void)
{
    return bspz_clock_ns(CLOCK_REALTIME);
}

/* Milliseconds, for poll(), until bspz_now_ns reaches the moment; 0: it is past. */
static inline int bspz_ms_until(uint64_t moment_ns)
{
    uint64_t now = bspz_now_ns(), left = moment_ns > now ? (moment_ns - now) / BSPZ_NS_PER_MS : 0;

    return left < INT32_MAX ? (int)left : INT32_MAX;
}

#endif
