/* Process model: a program with another thread at bsp_begin is warned with their number; the clones
 * have one thread.
 *
 * P: 1 3
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: one thread
 * ARGS: 0
 *
 * CASE: two more
 * P: 2 3
 * ARGS: 2
 * ERR-RE: (?i)bspzero: .*\b(2 other|2 more|3) threads
 */
#include "../check.h"
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static int threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    int count = -2;

    while (directory && readdir(directory))
        count++;
    closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    int more = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t thread;

    for (int i = 0; i < more; i++)
        if (pthread_create(&thread, NULL, wait_for_ever, NULL))
            return 1;
    bsp_begin(0);
    CHECK_INT(threads(), bsp_pid() == 0 ? 1 + more : 1);
    bsp_sync();
    conform_done();
    bsp_end();
    return conform_end();
}
