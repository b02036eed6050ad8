/* Error 35: bsp_move on an empty queue.
 *
 * STATUS: nonzero
 *
 * CASE: nothing arrived
 * ARGS: 0
 * ERROR: bsp_move @move ? 1
 * FACT: (?i)empty|no message
 *
 * CASE: once too often
 * ARGS: 1
 * ERROR: bsp_move @move ? 1
 * FACT: (?i)empty|no message
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char value[4];

    bsp_begin(0);
    for (int k = argc > 1 ? atoi(argv[1]) : 0; k > 0; k--)
        bsp_send(bsp_pid(), NULL, "abc", 3);
    bsp_sync();
    for (;;)
        bsp_move(value, 4); /* @move */
}
