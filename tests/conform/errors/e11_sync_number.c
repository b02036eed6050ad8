/* Error 11: the Fortran check of a number that must be equal on all processes.
 *
 * P: 2 3 4
 *
 * CASE: equal
 * ARGS: equal
 * OUT-EACH: ${i}
 *
 * CASE: different
 * ARGS: different
 * STATUS: nonzero
 * ERROR: bspsync_number unprofiled 0 0
 * FACT: numbers
 * ERR-RE: 40
 * ERR-RE: 4${p-1}
 */
#include <bsp.h>
#include <string.h>

void bspsync_number_(int *number);

int main(int argc, char **argv)
{
    bsp_begin(0);
    int number = argc > 1 && strcmp(argv[1], "different") == 0 ? 40 + bsp_pid() : 5;

    bspsync_number_(&number);
    printf("%d\n", bsp_pid());
    bsp_end();
    return 0;
}
