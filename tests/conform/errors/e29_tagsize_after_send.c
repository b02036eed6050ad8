/* Error 29 does not occur: bsp_set_tagsize behind a bsp_send of the same superstep is legal, the
 * sends before keep their size.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    int tag_size = 2, status;
    char tag[4] = "---";

    bsp_begin(0);
    bsp_send(0, NULL, "one", 3);
    bsp_set_tagsize(&tag_size);
    bsp_sync();
    bsp_send(bsp_pid(), "tg", "two", 3);
    tag_size = 3;
    bsp_set_tagsize(&tag_size);
    CHECK_INT(tag_size, 2);
    bsp_sync();
    bsp_get_tag(&status, tag);
    CHECK(status == 3 && strcmp(tag, "tg-") == 0);
    conform_done();
    bsp_end();
    return 0;
}
