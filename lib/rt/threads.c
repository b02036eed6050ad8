/* threads.c - a clone has one thread: what to do about others before the processes are made.
 *
 * A pool of OpenMP is given back, and made anew when it is next needed: in a clone its threads would
 * be missing, and the first parallel region would wait for them for ever.  Of other threads the
 * program is told; they stay in process 0.
 */
#include <dirent.h>
#include <time.h>

#include "lib/rt/rt.h"

#define LINGER_STEPS 50 /* of a millisecond: an ended thread is seen in /proc for a moment */

/* OpenMP 5.0; there when the program is linked with it. */
extern int omp_pause_resource_all(int kind) __attribute__((weak));
#define OMP_PAUSE_SOFT 1

static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    if (!folder)
        return 1;
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

void bspz_release_threads(int line, const char *file)
{
    const struct timespec step = {0, 1000000};
    int count = count_threads();

    if (count > 1 && omp_pause_resource_all)
        omp_pause_resource_all(OMP_PAUSE_SOFT);
    for (int i = 0; i < LINGER_STEPS && count > 1; i++) {
        nanosleep(&step, NULL);
        count = count_threads();
    }
    if (count > 1)
        bspz_warn("bsp_begin", line, file,
                  "%d other threads run in this process: they stay in process 0, the other "
                  "processes start with one thread each",
                  count - 1);
}
