/* Life cycle: the job's status is what process 0 returns or passes to exit, before bsp_begin (no
 * process waits for one that never comes) or behind bsp_end.
 *
 * CASE: return zero
 * ARGS: return 0
 * STATUS: 0
 *
 * CASE: return behind the end
 * ARGS: return 41
 * STATUS: 41
 *
 * CASE: exit behind the end
 * ARGS: exit 255
 * STATUS: 255
 *
 * CASE: exit before begin
 * ARGS: early 5
 * STATUS: 5
 *
 * CASE: _exit behind the end
 * ARGS: _exit 9
 * STATUS: 9
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status = argc > 2 ? atoi(argv[2]) : 1;

    if (argc < 3)
        return 1;
    if (strcmp(argv[1], "early") == 0)
        exit(status);
    bsp_begin(0);
    bsp_sync();
    bsp_end();
    if (strcmp(argv[1], "exit") == 0)
        exit(status);
    if (strcmp(argv[1], "_exit") == 0)
        _exit(status);
    return status;
}
