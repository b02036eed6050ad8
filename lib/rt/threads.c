/* threads.c - handles other threads: a clone has one thread, and only a process with one can be
 * saved.
 *
 * A pool of OpenMP is released, and made anew when it is next needed: in a clone or a restored
 * process its threads would be missing, and the first parallel region would wait for them for ever.
 * bsp_begin warns of other threads; they stay in process 0.
 */
#include <dirent.h>
#include <time.h>

#include "lib/rt/rt.h"

#define LINGER_STEPS 50 /* of a millisecond: an ended thread lingers in /proc for a moment */

/* OpenMP 5.0; defined if the program is linked with it. */
extern int omp_pause_resource_all(int kind) __attribute__((weak));
extern int omp_in_parallel(void) __attribute__((weak));
#define OMP_PAUSE_SOFT 1
#define OMP_PAUSE_HARD 2

/* LLVM's and Intel's library keeps its threads in a soft pause, and loses the program's settings in
 * a hard one. */
extern void __kmpc_fork_call(void *where, int count, void *function, ...) __attribute__((weak));
extern int omp_get_max_threads(void) __attribute__((weak));
extern void omp_set_num_threads(int count) __attribute__((weak));
extern int omp_get_dynamic(void) __attribute__((weak));
extern void omp_set_dynamic(int dynamic) __attribute__((weak));
extern int omp_get_max_active_levels(void) __attribute__((weak));
extern void omp_set_max_active_levels(int levels) __attribute__((weak));
extern void omp_get_schedule(int *kind, int *chunk) __attribute__((weak));
extern void omp_set_schedule(int kind, int chunk) __attribute__((weak));

static int count_threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    if (!directory)
        return 1;
    while ((entry = readdir(directory)))
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static struct settings {
    bool known;
    int threads, dynamic, levels, kind, chunk;
} settings;

/* Whether the library loses settings and has the functions to restore them. */
static bool pause_loses_settings(void)
{
    return __kmpc_fork_call && omp_pause_resource_all && omp_get_max_threads &&
           omp_set_num_threads && omp_get_dynamic && omp_set_dynamic && omp_get_max_active_levels &&
           omp_set_max_active_levels && omp_get_schedule && omp_set_schedule;
}

static void note_settings(void)
{
    settings.threads = omp_get_max_threads();
    settings.dynamic = omp_get_dynamic();
    settings.levels = omp_get_max_active_levels();
    omp_get_schedule(&settings.kind, &settings.chunk);
    settings.known = true;
}

void bspz_put_back_pool(void)
{
    if (!settings.known)
        return;
    omp_set_num_threads(settings.threads);
    omp_set_dynamic(settings.dynamic);
    omp_set_max_active_levels(settings.levels);
    omp_set_schedule(settings.kind, settings.chunk);
    settings.known = false;
}

void bspz_release_pool(void)
{
    if (!omp_pause_resource_all || (omp_in_parallel && omp_in_parallel()) || count_threads() == 1)
        return;
    if (!pause_loses_settings()) {
        omp_pause_resource_all(OMP_PAUSE_SOFT);
        return;
    }
    note_settings();
    if (omp_pause_resource_all(OMP_PAUSE_HARD) == 0)
        bspz_put_back_pool();
    settings.known = false;
}

void bspz_release_threads(int line, const char *file)
{
    const struct timespec step = {0, 1000000};
    int count = count_threads();

    if (count > 1)
        bspz_release_pool();
    if (pause_loses_settings())
        note_settings(); /* for the clones: a fork loses them like a pause */
    for (int i = 0; i < LINGER_STEPS && count > 1; i++) {
        nanosleep(&step, NULL);
        count = count_threads();
    }
    if (count > 1)
        bspz_warn("bsp_begin", line, file,
                  "%d other thread%s in this process: %s in process 0, the other "
                  "processes start with one thread each",
                  count - 1, count == 2 ? " runs" : "s run", count == 2 ? "it stays" : "they stay");
}
