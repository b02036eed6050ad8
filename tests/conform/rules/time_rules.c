/* Time: bsp_time is 0 before bsp_begin, wall seconds since then at a resolution finer than a
 * microsecond, monotone, and goes on behind bsp_end; bsp_dtime is the time since its last call and
 * unaffected by bsp_time; bsp_cputime is what this process has used.
 *
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <time.h>
#include <unistd.h>

static double wall(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check_resolution(void)
{
    double least = 1, last = bsp_time();

    for (int i = 0; i < 10000; i++) {
        double now = bsp_time();

        CHECK(now >= last);
        if (now > last && now - last < least)
            least = now - last;
        last = now;
    }
    CHECK(least < 0.9e-6);
}

/* Processor time is what the process used, not what passed. */
static void check_cputime(void)
{
    clock_t start = clock();
    double before = bsp_cputime(), used;

    while (clock() - start < CLOCKS_PER_SEC / 25)
        ;
    used = bsp_cputime() - before;
    CHECK(used >= 0.035 && used <= 0.05 + (double)(clock() - start) / CLOCKS_PER_SEC);
    before = bsp_cputime();
    usleep(200000);
    CHECK(bsp_cputime() - before < 0.1);
}

int main(void)
{
    CHECK(bsp_time() == 0.0);
    double earliest = wall();

    bsp_begin(0);
    double latest = wall(), first = bsp_dtime(), second;

    CHECK(first >= 0 && first <= wall() - earliest);
    CHECK(bsp_time() >= 0);
    usleep(20000);
    CHECK(bsp_time() <= wall() - earliest);
    CHECK(bsp_time() >= 0.02 && wall() >= latest + 0.02);
    second = bsp_dtime();
    CHECK(second >= 0.02 && second <= wall() - earliest);
    CHECK(bsp_cputime() >= 0 && bsp_cputime() < bsp_time() + 0.5);
    check_cputime();
    check_resolution();
    conform_done();
    double before_end = bsp_time();

    bsp_end();
    CHECK(bsp_time() >= before_end);
    usleep(5000);
    CHECK(bsp_time() >= before_end + 0.005);
    return conform_end();
}
