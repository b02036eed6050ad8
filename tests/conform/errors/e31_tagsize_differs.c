/* Error 31: the processes set different tag sizes, or not equally often; the message has both
 * values.
 *
 * P: 2 3 4 7
 * STATUS: nonzero
 *
 * CASE: values
 * ARGS: values
 * ERROR: bsp_set_tagsize @set 0 1
 * FACT: \b12\b
 * FACT: \b13\b
 *
 * CASE: number of calls
 * ARGS: calls
 * ERROR: bsp_(set_tagsize|sync) ? ? 1
 * FACT: tag size
 * FACT: \b1\b
 * FACT: \b2\b
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    bsp_begin(0);
    int last = bsp_pid() == bsp_nprocs() - 1;
    int calls = argc > 1 && strcmp(argv[1], "calls") == 0, size;

    bsp_sync();
    size = last && !calls ? 13 : 12;
    bsp_set_tagsize(&size); /* @set */
    size = 12;
    if (last && calls)
        bsp_set_tagsize(&size);
    bsp_sync();
    bsp_end();
    return 0;
}
