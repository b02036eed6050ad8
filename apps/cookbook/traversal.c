/* traversal - breadth-first search: a superstep per level, a message per edge that leaves the
 * process.
 *
 * Vertex v of this graph is connected to v+1 and 2v modulo N; it belongs to process v mod p. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>

enum { N = 4096 };

int main(void)
{
    int tag_size = sizeof(int);

    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid(), n = (N - s + p - 1) / p, level = 0, reached = 0, packets;
    int *distance = malloc((n + 1) * sizeof *distance),
        *frontier = malloc((n + 1) * sizeof *frontier);
    int waiting = 0; /* vertices of the current level that are ours */

    for (int i = 0; i < n; i++)
        distance[i] = -1;
    bsp_set_tagsize(&tag_size);
    bsp_sync();
    if (s == 0) {
        distance[0] = 0;
        frontier[waiting++] = 0;
    }

    while (bsp_sumI(waiting) > 0) {
        reached += waiting;
        level++;
        for (int i = 0; i < waiting; i++) {
            int next[2] = {(frontier[i] + 1) % N, 2 * frontier[i] % N};

            for (int k = 0; k < 2; k++)
                bsp_send(next[k] % p, &next[k], NULL, 0); /* the tag says it all */
        }
        bsp_sync();
        waiting = 0;
        for (bsp_qsize(&packets, NULL); packets > 0; packets--) {
            int vertex, status;

            bsp_get_tag(&status, &vertex);
            bsp_move(NULL, 0);
            if (distance[vertex / p] < 0) {
                distance[vertex / p] = level;
                frontier[waiting++] = vertex;
            }
        }
    }

    reached = bsp_sumI(reached);
    int farthest = 0;
    for (int i = 0; i < n; i++)
        farthest = distance[i] > farthest ? distance[i] : farthest;
    farthest = bsp_maxI(farthest);
    /* The farthest is 4095, in binary twelve ones: +1, then 11 times doubled and +1. */
    int right = reached == N && farthest == 23;
    if (s == 0)
        printf("reached: %d, levels: %d\n%s\n", reached, farthest, right ? "verified" : "FAILED");
    bsp_end();
    return !right;
}
