/* Header: bsp_begin and bsp_end were functions in 1998.  They can be taken by their addresses and called
 * through parentheses; messages have no place to name then.
 *
 * CASE: good
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: twice
 * ARGS: twice
 * STATUS: nonzero
 * ERROR: bsp_begin unprofiled ? 0
 */
#include "../check.h"

static void (*const begin)(int) = bsp_begin;
static void (*const end)(void) = &bsp_end;

int main(int argc, char **argv)
{
    begin(0);
    if (argc > 1 && strcmp(argv[1], "twice") == 0)
        (bsp_begin)(0);
    CHECK(begin == bsp_begin && end == bsp_end);
    conform_done();
    end();
    return 0;
}
