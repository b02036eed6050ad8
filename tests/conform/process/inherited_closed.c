/* Process model: a program that closes descriptors it has not opened is told so where the job's
 * memory is needed next, and not that there is no memory.
 *
 * P: 1 2 3
 * STATUS: nonzero
 *
 * CASE: before bsp_begin
 * RUN: bsprun
 * ARGS: before
 * ERROR: bsp_begin @begin -1 ?
 * FACT: descriptor.*close
 *
 * CASE: after it
 * ARGS: after
 * ERROR: bsp_put @put ? 1
 * FACT: descriptor.*close
 */
#include <bsp.h>
#include <string.h>
#include <unistd.h>

static char area[8 << 20];

static void close_all(void)
{
    for (int fd = 3; fd < sysconf(_SC_OPEN_MAX); fd++)
        close(fd);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "before") == 0)
        close_all();
    bsp_begin(0); /* @begin */
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    close_all();
    bsp_put(0, area, area, 0, sizeof area); /* @put */
    bsp_sync();
    bsp_end();
    return 0;
}
