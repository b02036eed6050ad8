/* Idiom 26: a second pair of bsp_begin and bsp_end is refused with a message, it does not hang and
 * does not run.
 *
 * STATUS: nonzero
 * OUT-EACH: first ${i}
 * ERROR: bsp_begin ? 0 ?
 * FACT: (?i)second|already|again|twice|before
 */
#include "bsp.h"

void section(name)
char *name;
{
    bsp_begin(bsp_nprocs());
    printf("%s %d\n", name, bsp_pid());
    bsp_sync();
    bsp_end();
}

int main()
{
    section("first");
    section("second");
    return 0;
}
