/* Header: a program may put macros of its own around bsp_begin and bsp_end.
 *
 * CC: -Wall -Wextra -Werror
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static int begun, ended;

#define bsp_begin(n) (begun++, bsp_begin(n))
#define bsp_end() (ended++, bsp_end())

int main(void)
{
    bsp_begin(0);
    CHECK_INT(begun, 1);
    conform_done();
    bsp_end();
    return ended != 1;
}
