/* Error 26: a message without a tag where tags have a size; the message has the size.
 *
 * P: 1 3
 * STATUS: nonzero
 * ERROR: bsp_send @send ? 1
 * FACT: NULL
 * FACT: \b24\b
 */
#include <bsp.h>

int main(void)
{
    int tag_size = 24, value = 0;

    bsp_begin(0);
    bsp_set_tagsize(&tag_size);
    bsp_sync();
    bsp_send(0, NULL, &value, sizeof value); /* @send */
    bsp_sync();
    bsp_end();
    return 0;
}
