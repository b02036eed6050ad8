/* halo - a line of cells, of which each step needs the neighbours: the ends of a block are
 * exchanged.
 *
 * In a step a cell becomes the sum of its neighbours modulo 2; from a single 1 that draws
 * Sierpinski's triangle, whose row 2^k has two cells, 2^k to the left and to the right. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>

enum { CELLS = 200, STEPS = 64, START = 100 };

int main(void)
{
    bsp_begin(CELLS); /* at most: every block needs a cell, to pass its ends on */
    int p = bsp_nprocs(), s = bsp_pid();
    int first = CELLS * s / p, n = CELLS * (s + 1) / p - first;
    char *now = calloc(n + 2, 1), *next = calloc(n + 2, 1); /* cells 1 to n are ours */
    char halo[2] = {0, 0}; /* of the left and of the right neighbour */

    if (START >= first && START < first + n)
        now[START - first + 1] = 1;
    bsp_push_reg(halo, sizeof halo);
    bsp_sync();

    for (int step = 0; step < STEPS; step++) {
        if (s > 0)
            bsp_put(s - 1, &now[1], halo, 1, 1);
        if (s < p - 1)
            bsp_put(s + 1, &now[n], halo, 0, 1);
        bsp_sync();
        now[0] = halo[0];
        now[n + 1] = halo[1];
        for (int i = 1; i <= n; i++)
            next[i] = now[i - 1] ^ now[i + 1];
        char *old = now;
        now = next;
        next = old;
    }

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += now[i + 1] != (abs(first + i - START) == STEPS);
    wrong = bsp_sumI(wrong);
    if (s == 0)
        printf("steps: %d\n%s\n", STEPS, wrong == 0 ? "verified" : "FAILED");
    bsp_end();
    return wrong != 0;
}
