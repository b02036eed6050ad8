/* Error 28: a message of a negative number of bytes.
 *
 * P: 1 3
 * STATUS: nonzero
 * ERROR: bsp_send @send ? 0
 * FACT: -3\b
 */
#include <bsp.h>

int main(void)
{
    bsp_begin(0);
    bsp_send(0, NULL, "abc", -3); /* @send */
    bsp_sync();
    bsp_end();
    return 0;
}
