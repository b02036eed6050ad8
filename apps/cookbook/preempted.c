/* preempted - a long iteration that may be stopped at any barrier and goes on later.  Nothing in it
 * says so: bsprun --ckpt saves the state, and bsprun --restart goes on with it. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>

/* Each process multiplies by 3 modulo a prime; after a round of prime - 1 steps that gives 1 again.
 */
enum { PRIME = 65537 };

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;

    bsp_begin(0);
    int x = 1, steps = 0;

    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < 16; k++) {
            /* A superstep is short, so that a snapshot is never far away. */
            for (int i = 0; i < (PRIME - 1) / 16; i++)
                x = (int)(3L * x % PRIME);
            steps = bsp_maxI(steps + 1);
        }
    int wrong = bsp_sumI(x != 1);
    if (bsp_pid() == 0)
        printf("supersteps: %d\n%s\n", steps, wrong == 0 ? "verified" : "FAILED");
    bsp_end();
    return wrong != 0;
}
