/* Every operation on one value per process, against its serial definition. */
#include <bsp.h>
#include <bsp_level1.h>

#include "check.h"

#define ROUNDS 20

/* Small whole numbers: sums and products are exact in any order, also as float. */
static int value(int pid, int round)
{
    unsigned state = (unsigned)(pid * 1000 + round);

    next_number(&state);
    return (int)(next_number(&state) % 5) - 2;
}

#define SUM(a, b)     ((a) + (b))
#define PRODUCT(a, b) ((a) * (b))
#define MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MAX(a, b)     ((a) > (b) ? (a) : (b))
#define ANY(a, b)     ((a) || (b))
#define ALL(a, b)     ((a) && (b))

#define CHECK_REDUCTION(name, prefix_name, type, operation)                                        \
    do {                                                                                           \
        type total = (type)value(0, round), prefix = total, mine = (type)value(me, round);         \
        for (int pid = 1; pid < p; pid++) {                                                        \
            total = operation(total, (type)value(pid, round));                                     \
            if (pid <= me)                                                                         \
                prefix = operation(prefix, (type)value(pid, round));                               \
        }                                                                                          \
        CHECK(name(mine) == total);                                                                \
        CHECK(prefix_name(mine) == prefix);                                                        \
    } while (0)

#define CHECK_TYPES(name, operation)                                                               \
    do {                                                                                           \
        CHECK_REDUCTION(name##I, name##I_prefix, int, operation);                                  \
        CHECK_REDUCTION(name##R, name##R_prefix, float, operation);                                \
        CHECK_REDUCTION(name##D, name##D_prefix, double, operation);                               \
    } while (0)

static void check_truth(int p, int me, int round)
{
    int any = 0, all = 1, any_prefix = 0, all_prefix = 1;

    for (int pid = 0; pid < p; pid++) {
        any = any || value(pid, round);
        all = all && value(pid, round);
        if (pid <= me) {
            any_prefix = any;
            all_prefix = all;
        }
    }
    CHECK(bsp_any(value(me, round)) == any);
    CHECK(bsp_all(value(me, round)) == all);
    CHECK(bsp_any_prefix(value(me, round)) == any_prefix);
    CHECK(bsp_all_prefix(value(me, round)) == all_prefix);
}

static void check_constant(int p, int me)
{
    CHECK(bsp_constantI(-5) == 1);
    for (int odd = 0; odd < p; odd++)
        CHECK(bsp_constantI(me == odd ? 1 : 2) == (p == 1));
    CHECK(bsp_constantI(me) == (p == 1));
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_TYPES(bsp_sum, SUM);
        CHECK_TYPES(bsp_product, PRODUCT);
        CHECK_TYPES(bsp_min, MIN);
        CHECK_TYPES(bsp_max, MAX);
        check_truth(p, me, round);
    }
    check_constant(p, me);
    CHECK(bsp_sumD(0.5) == 0.5 * p);
    CHECK(bsp_maxR(-1.5f - (float)me) == -1.5f);
    bsp_end();
    puts("ok");
    return 0;
}
