/* I/O: on the other processes descriptor 0 is an empty source too, not only the stdio stream, and
 * their reading does not take input away from process 0.
 *
 * CASE: pipe
 * STDIN: pipe abcdef
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: file
 * STDIN: file abcdef
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <unistd.h>

int main(void)
{
    char text[10] = "";

    bsp_begin(0);
    if (bsp_pid() != 0)
        CHECK_INT(read(0, text, sizeof text), 0);
    bsp_sync();
    if (bsp_pid() == 0)
        CHECK(read(0, text, sizeof text) == 6 && memcmp(text, "abcdef", 6) == 0);
    conform_done();
    bsp_end();
    return 0;
}
