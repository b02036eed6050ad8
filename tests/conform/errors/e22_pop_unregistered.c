/* Error 22: a pop of an address that is not registered; the message has the address.
 *
 * P: 1 3
 * STATUS: nonzero
 * ERROR: bsp_pop_reg @pop ? 1
 * FACT: 0x[0-9a-f]+
 *
 * CASE: never
 * ARGS: never
 *
 * CASE: interior
 * ARGS: interior
 *
 * CASE: twice
 * ARGS: twice
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    static int area[4], other;
    int *which = &other;

    bsp_begin(0);
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    if (argc > 1 && strcmp(argv[1], "interior") == 0)
        which = &area[1];
    if (argc > 1 && strcmp(argv[1], "twice") == 0) {
        which = area;
        bsp_pop_reg(area);
    }
    bsp_pop_reg(which); /* @pop */
    bsp_sync();
    bsp_end();
    return 0;
}
