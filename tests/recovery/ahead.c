/* ahead.c - for LD_PRELOAD: a process whose clock is an hour ahead.  What it starts does not know
 * of this. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600

__attribute__((constructor)) static void begin(void)
{
    unsetenv("LD_PRELOAD");
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    if (result == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += HOUR;
    return result;
}
