/* I/O: a job without standard input runs; no descriptor of the runtime takes number 0 so that a
 * read on it would reach something of ours.
 *
 * STDIN: closed
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <unistd.h>

int main(void)
{
    char c;

    bsp_begin(0);
    bsp_sync();
    CHECK(read(0, &c, 1) <= 0);
    conform_done();
    bsp_end();
    return conform_end();
}
