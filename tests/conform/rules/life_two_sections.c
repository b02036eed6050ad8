/* Life cycle: a second SPMD part is an error, also behind the end of the first and after a new
 * bsp_init.
 *
 * STATUS: nonzero
 * ERROR: bsp_(begin|init) ? (-1|0) ?
 */
#include <bsp.h>

static void spmd(void)
{
    bsp_begin(0);
    bsp_sync();
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(spmd, argc, argv);
    spmd();
    bsp_init(spmd, argc, argv);
    spmd();
    return 0;
}
