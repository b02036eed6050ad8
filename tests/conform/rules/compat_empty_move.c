/* Compatibility: bsp_move on an empty queue is an error; with BSP_COMPAT=oxford it does nothing.
 *
 * CASE: default
 * STATUS: nonzero
 * ERROR: bsp_move @move ? 1
 * FACT: (?i)empty|no message
 *
 * CASE: oxford
 * ENV: BSP_COMPAT=oxford
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int buffer = 5;

    bsp_sync();
    bsp_move(&buffer, sizeof buffer); /* @move */
    CHECK_INT(buffer, 5);
    conform_done();
    bsp_end();
    return 0;
}
