/* Life cycle: large static arrays and large automatic arrays are no obstacle; untouched static
 * memory costs nothing.
 *
 * P: 1 2 4
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static char huge[400 << 20];

static int deep(void)
{
    volatile char automatic[6 << 20];

    automatic[0] = 1;
    automatic[sizeof automatic - 1] = 2;
    bsp_sync();
    return automatic[0] + automatic[sizeof automatic - 1];
}

int main(void)
{
    huge[sizeof huge - 1] = 7;
    bsp_begin(0);
    CHECK_INT(deep(), 3);
    CHECK_INT(huge[sizeof huge - 1], 7);
    huge[bsp_pid()] = (char)bsp_pid();
    bsp_sync();
    CHECK_INT(huge[bsp_pid()], bsp_pid());
    conform_done();
    bsp_end();
    return 0;
}
