/* processor_time.c - see processor_time.h. */
#include "lib/rt/processor_time.h"

bool bspz_processor_time_is_read(const struct bspz_processor_time *work)
{
    return work->passed + 1 >= work->each && work->each > 0;
}

void bspz_processor_time_begin(struct bspz_processor_time *work, uint64_t now_ns, uint64_t cpu_ns)
{
    work->began_ns = now_ns;
    work->began_cpu_ns = cpu_ns;
}

/* As many supersteps of the mean length since the last reading as take the time between two. */
static uint32_t spread(const struct bspz_processor_time *work, uint64_t now_ns, uint32_t count)
{
    uint64_t mean = (now_ns - work->read_ns) / count + 1;
    uint64_t each = BSPZ_PROCESSOR_TIME_APART_NS / mean;

    return each < 1                          ? 1
           : each > BSPZ_PROCESSOR_TIME_EACH ? BSPZ_PROCESSOR_TIME_EACH
                                             : (uint32_t)each;
}

uint64_t bspz_processor_time_end(struct bspz_processor_time *work, uint64_t now_ns, uint64_t cpu_ns)
{
    uint64_t elapsed = now_ns - work->began_ns, ran;
    uint32_t count = work->passed + 1;

    if (work->each == 0) {
        work->each = elapsed > BSPZ_PROCESSOR_TIME_SHORT_NS;
        work->read_ns = now_ns;
        return elapsed;
    }
    if (!bspz_processor_time_is_read(work)) {
        work->passed = count;
        if (elapsed >
            BSPZ_PROCESSOR_TIME_APART_NS) /* supersteps have become longer: the next one is read */
            work->each = 1;
        return 0;
    }
    ran = cpu_ns - work->began_cpu_ns;
    work->each = elapsed > BSPZ_PROCESSOR_TIME_SHORT_NS ? spread(work, now_ns, count) : 0;
    work->passed = 0;
    work->read_ns = now_ns;
    return (ran < elapsed ? ran : elapsed) * count;
}
