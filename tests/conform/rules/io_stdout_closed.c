/* I/O: a job whose standard output is closed computes on and keeps its status; the descriptor is
 * not taken by something of the runtime.
 *
 * STDOUT: closed
 * STATUS: 3
 * ERR: all well
 */
#include <bsp.h>
#include <unistd.h>

int main(void)
{
    int written = 0, count = 0;

    bsp_begin(0);
    bsp_push_reg(&count, sizeof count);
    bsp_sync();
    written = write(1, "x", 1) == 1;
    bsp_put(0, &written, &count, 0, sizeof written);
    bsp_sync();
    bsp_end();
    if (count == 0)
        fprintf(stderr, "all well\n");
    return 3;
}
