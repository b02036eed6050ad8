/* Header: bsp.h brings stdio but no level-1 name, so that programs may define their own; it
 * compiles in old and new dialects, and its macros take commas inside their arguments.
 *
 * CASE: default dialect
 * OUT-EACH: pid ${i}: 45
 */
#include <bsp.h>

/* Names that programs of the time define themselves. */
int bsp_sum(int a, int b);
int bsp_broadcast(void);
int bsp_allsums;
static int nloc(int p, int s, int n);

int bsp_sum(int a, int b)
{
    return a + b;
}

int bsp_broadcast(void)
{
    return 3;
}

static int nloc(int p, int s, int n)
{
    return (n + p - s - 1) / p;
}

struct pair {
    int a, b;
};

int main(void)
{
    bsp_begin(0);
    struct pair area = {0, 0};

    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    bsp_put(bsp_pid(), &(struct pair){40, 5}, &area, 0, sizeof area);
    bsp_sync();
    printf("pid %d: %d\n", bsp_pid(), bsp_sum(area.a, area.b) + nloc(1, 0, bsp_allsums));
    bsp_end();
    return 0 * bsp_broadcast();
}
