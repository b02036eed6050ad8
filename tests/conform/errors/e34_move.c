/* Error 34: bsp_move without a place for the payload, or with a negative size.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: null
 * ARGS: null
 * ERROR: bsp_move @null ? 1
 * FACT: NULL
 * FACT: \b77\b
 *
 * CASE: negative
 * ARGS: negative
 * ERROR: bsp_move @negative ? 1
 * FACT: -6\b
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    char value[4];

    bsp_begin(0);
    bsp_send(bsp_pid(), NULL, "abc", 3);
    bsp_sync();
    if (argc > 1 && strcmp(argv[1], "null") == 0)
        bsp_move(NULL, 77); /* @null */
    else
        bsp_move(value, -6); /* @negative */
    bsp_end();
    return 0;
}
