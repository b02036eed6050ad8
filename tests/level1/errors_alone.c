/* What is wrong with several processes is wrong with one, too.
 *
 * @procs 1 2
 * @fails unregistered => errors_alone\.c:[0-9]+: bsp_bcast: pid . of [12], superstep 1.*is not
 * registered
 * @fails too-small => errors_alone\.c:[0-9]+: bsp_bcast: pid .*12 bytes at offset 0 do not fit:
 * process
 * @succeeds fresh
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <string.h>

int main(int argc, char **argv)
{
    int x[2] = {0, 0}, y[4] = {1, 2, 3, 4};

    bsp_begin(0);
    bsp_push_reg(x, sizeof(x));
    bsp_sync();
    if (strcmp(argv[argc - 1], "unregistered") == 0)
        bsp_bcast(0, x, y, 4);
    if (strcmp(argv[argc - 1], "too-small") == 0)
        bsp_bcast(0, y, x, 12);
    /* A registration may come in effect inside the collective. */
    bsp_push_reg(y, sizeof(y));
    bsp_bcast(0, x, y, 8);
    bsp_end();
    puts("ok");
    return 0;
}
