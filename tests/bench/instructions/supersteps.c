/* supersteps KIND SUPERSTEPS OPERATIONS - the same superstep again and again: every process issues
 * OPERATIONS puts, gets or messages of 8 bytes to its right neighbour.
 *
 * `run` counts the instructions of two such runs; what they differ in is the cost of the difference. */
#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

static int64_t area[MOST], mine[MOST];

static void read_queue(void)
{
    int packets, nbytes;

    for (bsp_qsize(&packets, &nbytes); packets > 0; packets--) {
        int64_t payload;

        bsp_move(&payload, sizeof payload);
        area[0] += payload;
    }
}

static void superstep(const char *kind, int operations)
{
    int right = (bsp_pid() + 1) % bsp_nprocs();

    if (strcmp(kind, "put") == 0) {
        for (int i = 0; i < operations; i++)
            bsp_put(right, &mine[i], area, i * 8, 8);
    } else if (strcmp(kind, "get") == 0) {
        for (int i = 0; i < operations; i++)
            bsp_get(right, area, i * 8, &mine[i], 8);
    } else if (strcmp(kind, "send") == 0) {
        for (int i = 0; i < operations; i++)
            bsp_send(right, NULL, &mine[i], 8);
    }
    bsp_sync();
    if (strcmp(kind, "send") == 0)
        read_queue();
}

int main(int argc, char **argv)
{
    if (argc != 4 || atoi(argv[3]) < 0 || atoi(argv[3]) > MOST) {
        fprintf(stderr, "usage: supersteps put|get|send|sync SUPERSTEPS OPERATIONS\n");
        return 2;
    }
    bsp_begin(bsp_nprocs());
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (int s = 0; s < atoi(argv[2]); s++)
        superstep(argv[1], atoi(argv[3]));
    bsp_end();
    return 0;
}
