/* Header: bsp.h under every standard from C90 with GNU extensions to C2x, without a warning.
 *
 * P: 1 2
 * OUT-EACH: pid ${i}: 7
 *
 * CASE: gnu89
 * CC: -std=gnu89 -Wall -Wextra -Werror
 *
 * CASE: c99
 * CC: -std=c99 -pedantic -Wall -Wextra -Werror
 *
 * CASE: gnu17
 * CC: -std=gnu17 -Wall -Wextra -Werror
 *
 * CASE: gnu2x
 * CC: -std=gnu2x -Wall -Wextra -Werror
 *
 * CASE: clang, which knows _Generic as an extension in C99 and warns
 * NEEDS: clang
 * CC: -overridecc clang -std=c99 -pedantic -Wall -Wextra -Werror
 */
#include <bsp.h>

int main(void)
{
    int area = 0, seven = 7, tag_size = 0, packets, bytes, status;
    void *tag, *payload;

    bsp_begin(0);
    bsp_push_reg(&area, sizeof area);
    bsp_set_tagsize(&tag_size);
    bsp_sync();
    bsp_put(bsp_pid(), &seven, &area, 0, sizeof seven);
    bsp_send(bsp_pid(), NULL, NULL, 0);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    bsp_get_tag(&status, NULL);
    if (packets != 1 || bytes != 0 || status != 0 || bsp_hpmove(&tag, &payload) != 0)
        bsp_abort("wrong message");
    bsp_pop_reg(&area);
    bsp_sync();
    printf("pid %d: %d\n", bsp_pid(), area);
    bsp_end();
    return 0;
}
