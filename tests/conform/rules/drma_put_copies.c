/* DRMA: bsp_put copies its source at the call; the source may be changed or freed at once.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    int area[64] = {0};
    int big_area[5000];
    int *source = malloc(5000 * sizeof(int));

    bsp_push_reg(area, sizeof area);
    bsp_push_reg(big_area, sizeof big_area);
    bsp_sync();
    for (int i = 0; i < 50; i++) {
        int temporary = 1000 * me + i;

        bsp_put((me + 1) % p, &temporary, area, i * (int)sizeof(int), sizeof(int));
        temporary = -1;
    }
    for (int i = 0; i < 5000; i++)
        source[i] = me + i;
    bsp_put((me + 1) % p, source, big_area, 0, 5000 * sizeof(int));
    memset(source, 0xff, 5000 * sizeof(int));
    free(source);
    bsp_sync();
    int left = (me + p - 1) % p;

    for (int i = 0; i < 50; i++)
        CHECK_INT(area[i], 1000 * left + i);
    for (int i = 0; i < 5000; i++)
        CHECK_INT(big_area[i], left + i);
    conform_done();
    bsp_end();
    return 0;
}
