/* bsp_fold and bsp_scan with an operator that does not commute, against the serial result; items
 * from a few bytes to more than the library keeps memory for; all algorithms.
 *
 * @procs 1 2 3 4 5 7 8
 * @env BSP_SLG=100,1e9,1,1
 * @env BSP_SLG=100,1,1e6,1
 * @env BSP_SLG=100,3000,12,8
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* An item is a row of maps x -> a*x + b modulo 2^32; the operator composes them. */
struct map {
    unsigned a, b;
};

static int calls;

static void compose(struct map *result, const struct map *left, const struct map *right, int *n)
{
    int maps = *n / (int)sizeof(struct map);

    CHECK(*n % (int)sizeof(struct map) == 0);
    CHECK(result + maps <= left || left + maps <= result);
    CHECK(result + maps <= right || right + maps <= result);
    CHECK(left + maps <= right || right + maps <= left);
    for (int i = 0; i < maps; i++) {
        result[i].a = left[i].a * right[i].a;
        result[i].b = left[i].a * right[i].b + left[i].b;
    }
    calls++;
    *n = -1; /* an operator may do that to its own argument */
}

static struct map *items_of(int pid, int maps, unsigned seed)
{
    struct map *items = malloc((size_t)maps * sizeof(struct map) + 1);

    seed += (unsigned)pid * 77;
    for (int i = 0; i < maps; i++) {
        items[i].a = next_number(&seed);
        items[i].b = next_number(&seed);
    }
    return items;
}

/* What processes 0 to last give together. */
static struct map *serial(int last, int maps, unsigned seed)
{
    struct map *total = items_of(0, maps, seed);

    for (int pid = 1; pid <= last; pid++) {
        struct map *right = items_of(pid, maps, seed);
        for (int i = 0; i < maps; i++) {
            total[i].b += total[i].a * right[i].b;
            total[i].a *= right[i].a;
        }
        free(right);
    }
    return total;
}

static void one_size(int maps, unsigned seed)
{
    int p = bsp_nprocs(), me = bsp_pid(), n = maps * (int)sizeof(struct map);
    struct map *mine = items_of(me, maps, seed), *kept = items_of(me, maps, seed);
    struct map *total = serial(p - 1, maps, seed), *prefix = serial(me, maps, seed);
    struct map *result = malloc((size_t)n + 1);

    bsp_fold(compose, mine, result, n);
    CHECK(memcmp(result, total, (size_t)n) == 0);
    CHECK(memcmp(mine, kept, (size_t)n) == 0);
    bsp_scan(compose, mine, result, n);
    CHECK(memcmp(result, prefix, (size_t)n) == 0);
    CHECK(memcmp(mine, kept, (size_t)n) == 0);

    bsp_fold(compose, mine, mine, n);
    CHECK(memcmp(mine, total, (size_t)n) == 0);
    memcpy(mine, kept, (size_t)n);
    bsp_scan(compose, mine, mine, n);
    CHECK(memcmp(mine, prefix, (size_t)n) == 0);
    free(mine);
    free(kept);
    free(total);
    free(prefix);
    free(result);
}

int main(void)
{
    static const int sizes[] = {0, 1, 2, 5, 500, 1365, 1366, 50000};

    bsp_begin(0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        one_size(sizes[i], (unsigned)i);
    CHECK(bsp_any(calls) == (bsp_nprocs() > 1));
    bsp_end();
    puts("ok");
    return 0;
}
