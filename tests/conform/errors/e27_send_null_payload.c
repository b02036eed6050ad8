/* Error 27: a message of some bytes without a payload.
 *
 * P: 1 3
 * STATUS: nonzero
 * ERROR: bsp_send @send ? 0
 * FACT: NULL
 * FACT: \b36\b
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    bsp_send(0, NULL, NULL, 36); /* @send */
    bsp_sync();
    bsp_end();
    return 0;
}
