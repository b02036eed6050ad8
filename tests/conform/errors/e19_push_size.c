/* Error 19: a negative registration size, and NULL with a size.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: negative
 * ARGS: negative
 * ERROR: bsp_push_reg @negative ? 0
 * FACT: -16\b
 *
 * CASE: NULL
 * ARGS: null
 * ERROR: bsp_push_reg @null ? 0
 * FACT: NULL
 * FACT: \b16\b
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    int area = 0;

    bsp_begin(0);
    if (argc > 1 && strcmp(argv[1], "negative") == 0)
        bsp_push_reg(&area, -16); /* @negative */
    if (argc > 1 && strcmp(argv[1], "null") == 0)
        bsp_push_reg(NULL, 16); /* @null */
    bsp_sync();
    bsp_end();
    return 0;
}
