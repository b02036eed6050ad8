/* Error 3: bsp_init twice, or with NULL for the function.
 *
 * STATUS: nonzero
 *
 * CASE: twice
 * ARGS: twice
 * ERROR: bsp_init @second -1 ?
 *
 * CASE: null
 * ARGS: null
 * ERROR: bsp_init @null -1 ?
 * FACT: NULL
 *
 * CASE: inside
 * ARGS: inside
 * ERROR: bsp_init @inside ? 0
 */
#include <bsp.h>
#include <string.h>

static const char *how = "";

static void spmd(void)
{
    bsp_begin(0);
    if (strcmp(how, "inside") == 0)
        bsp_init(spmd, 0, NULL); /* @inside */
    bsp_end();
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "null") == 0)
        bsp_init(NULL, argc, argv); /* @null */
    if (strcmp(how, "inside") != 0)
        bsp_init(spmd, argc, argv);
    if (strcmp(how, "twice") == 0)
        bsp_init(spmd, argc, argv); /* @second */
    spmd();
    return 0;
}
