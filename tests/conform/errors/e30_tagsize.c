/* Error 30: bsp_set_tagsize with NULL, a negative size, or one that no memory holds.
 *
 * P: 1 3
 * STATUS: nonzero
 *
 * CASE: null
 * ARGS: null
 * ERROR: bsp_set_tagsize @null ? 0
 * FACT: NULL
 *
 * CASE: negative
 * ARGS: negative
 * ERROR: bsp_set_tagsize @negative ? 0
 * FACT: -5\b
 *
 * CASE: huge
 * ARGS: huge
 * ERROR: bsp_set_tagsize @huge ? 0
 * FACT: 9223372036854775807\b
 */
#include <bsp.h>
#include <stdint.h>
#include <string.h>

int main(int argc, char **argv)
{
    int size = -5, *nothing = NULL;
    size_t huge = INT64_MAX;

    bsp_begin(0);
    if (argc > 1 && strcmp(argv[1], "null") == 0)
        bsp_set_tagsize(nothing); /* @null */
    else if (argc > 1 && strcmp(argv[1], "huge") == 0)
        bsp_set_tagsize(&huge); /* @huge */
    else
        bsp_set_tagsize(&size); /* @negative */
    bsp_sync();
    bsp_end();
    return 0;
}
