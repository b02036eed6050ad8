/* Header: a program may declare bsp_begin and bsp_end itself, behind the header, at file scope and in a
 * function, as old ones do with everything they call.  bspcc sees that and leaves them functions.
 *
 * CC: -Wall -Wextra -Werror -Wno-strict-prototypes
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

void bsp_begin(int maxprocs);
extern void bsp_end();

int main(void)
{
    void bsp_begin(), bsp_end();

    bsp_begin(0);
    conform_done();
    bsp_end();
    return 0;
}
