/* I/O: a job whose standard output is closed computes on and keeps its status; descriptor 1 is
 * closed or /dev/null, never something of the runtime.
 *
 * STDOUT: closed
 * STATUS: 3
 * ERR: all well
 */
#include <bsp.h>
#include <sys/stat.h>

int main(void)
{
    int written = 0, count = 0;

    bsp_begin(0);
    bsp_push_reg(&count, sizeof count);
    bsp_sync();
    struct stat one, null;

    written = fstat(1, &one) == 0 && (stat("/dev/null", &null) != 0 || one.st_rdev != null.st_rdev);
    bsp_put(0, &written, &count, 0, sizeof written);
    bsp_sync();
    bsp_end();
    if (count == 0)
        fprintf(stderr, "all well\n");
    return 3;
}
