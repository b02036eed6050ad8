/* Life cycle: communication issued since the last bsp_sync is dropped by bsp_end.
 *
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"

int main(void)
{
    int target = 1, source = 2, fetched = 3, elsewhere = 4;

    bsp_begin(0);
    bsp_push_reg(&target, sizeof target);
    bsp_push_reg(&elsewhere, sizeof elsewhere);
    bsp_sync();
    for (int i = 0; i < bsp_nprocs(); i++) {
        bsp_put(i, &source, &target, 0, sizeof source);
        bsp_get(i, &elsewhere, 0, &fetched, sizeof fetched);
        bsp_send(i, NULL, &source, sizeof source);
    }
    conform_done();
    bsp_end();
    CHECK_INT(target, 1);
    CHECK_INT(fetched, 3);
    return conform_end();
}
