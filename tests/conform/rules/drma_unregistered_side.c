/* DRMA: the source of a put and the destination of a get need no registration, and may be anywhere:
 * constants, stack, heap.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static const char text[] = "a constant";

int main(void)
{
    char area[sizeof text] = "", *heap;

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    bsp_push_reg(area, sizeof area);
    bsp_sync();
    bsp_put((me + 1) % p, text, area, 0, sizeof text);
    bsp_sync();
    heap = malloc(sizeof text);
    bsp_get((me + 1) % p, area, 0, heap, sizeof text);
    bsp_sync();
    CHECK(strcmp(area, text) == 0);
    CHECK(strcmp(heap, text) == 0);
    free(heap);
    conform_done();
    bsp_end();
    return 0;
}
