/* Error 2: a negative number of processes.
 *
 * STATUS: nonzero
 *
 * CASE: minus one
 * ARGS: -1
 * ERROR: bsp_begin @begin -1 ?
 * FACT: -1\b
 *
 * CASE: smallest
 * ARGS: -2147483648
 * ERROR: bsp_begin @begin -1 ?
 * FACT: -2147483648\b
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    bsp_begin(argc > 1 ? atoi(argv[1]) : 0); /* @begin */
    bsp_end();
    return 0;
}
