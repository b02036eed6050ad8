/* Idiom 25: a file opened and partly read before bsp_begin is read on by process 0 inside and
 * behind the SPMD part, although the other processes leave with the same buffers.
 *
 * OUT-EACH: ${i}: in
 * OUT-ANY: lines 1000, in order
 */
#include <stdlib.h>
#include "bsp.h"

FILE *input;
int read_so_far, in_order = 1;

void read_lines(int n)
{
    int i, number;

    for (i = 0; i < n; i++) {
        if (fscanf(input, "%d some more text\n", &number) != 1 || number != read_so_far)
            in_order = 0;
        read_so_far++;
    }
}

int main()
{
    FILE *output = fopen("input", "w");
    int i;

    for (i = 0; i < 1000; i++)
        fprintf(output, "%d some more text\n", i);
    fclose(output);
    input = fopen("input", "r");
    read_lines(10);
    bsp_begin(bsp_nprocs());
    if (bsp_pid() == 0)
        read_lines(490);
    bsp_sync();
    printf("%d: in\n", bsp_pid());
    bsp_end();
    read_lines(500);
    printf("lines %d, %s\n", read_so_far,
           in_order && fgetc(input) == EOF ? "in order" : "out of order");
    return 0;
}
