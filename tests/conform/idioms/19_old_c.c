/* Idiom 19: void main, implicit declarations and int, K&R definitions and declarations in bodies.
 *
 * P: 1 2 3
 * STATUS: any
 * OUT-EACH: ${i}: 6 equal
 */
#include "bsp.h"

static calls;

twice(n)
{
    calls++;
    return 2 * n;
}

double half(x)
double x;
{
    return x / 2;
}

void main(argc, argv)
int argc;
char **argv;
{
    double half();
    char *word;

    bsp_begin(bsp_nprocs());
    word = "same";
    printf("%d: %d %s\n", bsp_pid(), twice(3) + (int)half(0.0), strcmp(word, "same") ? "different" : "equal");
    if (calls != 1)
        exit(1);
    bsp_end();
}
