/* processor_time.h - how much processor time the process has had between barriers, for balancing.
 *
 * The thread's clock costs a system call, two for each superstep that is read.  So short work is
 * taken to have had a processor all the time, and of longer work some supersteps are read that
 * stand for those since the one before: as many as keep readings BSPZ_PROCESSOR_TIME_APART_NS
 * apart, at most BSPZ_PROCESSOR_TIME_EACH.  That is unbiased, since which superstep is read does
 * not depend on its processor time, and exact where supersteps take longer than that.
 */
#ifndef BSPZ_RT_PROCESSOR_TIME_H
#define BSPZ_RT_PROCESSOR_TIME_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define BSPZ_PROCESSOR_TIME_SHORT_NS 50000u   /* work up to this is not read */
#define BSPZ_PROCESSOR_TIME_APART_NS 4000000u /* from one reading to the next, about */
#define BSPZ_PROCESSOR_TIME_EACH     64u      /* supersteps that one reading stands for, at most */

/* Which supersteps are read.  Of zeros: the next one is not. */
struct bspz_processor_time {
    uint64_t began_ns;     /* the present work */
    uint64_t began_cpu_ns; /* the thread's clock then, if it is read */
    uint64_t read_ns;      /* end of the work that was read last */
    uint32_t each;         /* supersteps that a reading is to stand for; 0: work is short */
    uint32_t passed;       /* supersteps since the last reading */
};

/* Whether the thread's clock is to be read at the beginning and at the end of the present work. */
bool bspz_processor_time_is_read(const struct bspz_processor_time *work);
/* The barrier is complete at that time; cpu_ns: of the thread's clock, where it is read. */
void bspz_processor_time_begin(struct bspz_processor_time *work, uint64_t now_ns, uint64_t cpu_ns);
/* The next barrier is entered.  Returns the nanoseconds by which the processor time of all work so
 * far has grown: 0 where a later reading stands for this superstep, too. */
uint64_t bspz_processor_time_end(struct bspz_processor_time *work, uint64_t now_ns,
                                 uint64_t cpu_ns);

#pragma GCC visibility pop

#endif
