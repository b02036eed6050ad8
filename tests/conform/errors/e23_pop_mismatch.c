/* Error 23: the processes pop different slots; the message has two processes and the lines of both
 * registrations.
 *
 * P: 2 3 4 7
 * STATUS: nonzero
 *
 * CASE: one slot
 * ARGS: one
 * ERROR: bsp_pop_reg @pop 0 1
 * FACT: process ${p-1}\b|process 1\b
 * FACT: process 0\b
 * FACT: e23_pop_mismatch\.c:${line('first')}\b
 * FACT: e23_pop_mismatch\.c:${line('second')}\b
 *
 * CASE: order of two
 * ARGS: two
 * ERROR: bsp_pop_reg @pop 0 1
 * FACT: process ${p-1}\b|process 1\b
 * FACT: process 0\b
 * FACT: e23_pop_mismatch\.c:${line('first')}\b
 * FACT: e23_pop_mismatch\.c:${line('second')}\b
 */
#include <bsp.h>
#include <string.h>

int main(int argc, char **argv)
{
    int first = 0, second = 0;

    bsp_begin(0);
    int last = bsp_pid() == bsp_nprocs() - 1;

    bsp_push_reg(&first, sizeof first);   /* @first */
    bsp_push_reg(&second, sizeof second); /* @second */
    bsp_sync();
    bsp_pop_reg(last ? &first : &second); /* @pop */
    if (argc > 1 && strcmp(argv[1], "two") == 0)
        bsp_pop_reg(last ? &second : &first);
    bsp_sync();
    bsp_end();
    return 0;
}
