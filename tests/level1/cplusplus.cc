// The collectives from C++: operators with the types of their items, lambdas, templates with commas
// in their names, position defaults; next to names of the program's own in namespaces.
#include <bsp.h>
#include <bsp_level1.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "check.h"

namespace mine
{
static int bsp_sum(int x)
{
    return x + 1;
}
} // namespace mine

struct Range {
    double low, high;
};

static void widen(Range *result, const Range *left, const Range *right, int *)
{
    result->low = std::min(left->low, right->low);
    result->high = std::max(left->high, right->high);
}

static int by_high(const Range *a, const Range *b, int *)
{
    return a->high < b->high;
}

int main()
{
    bsp_begin(0);
    const int p = bsp_nprocs(), me = bsp_pid();
    std::vector<std::pair<int, double>> pairs(p), copy(p);
    bsp_push_reg(pairs.data(), pairs.size() * sizeof(pairs[0]));
    bsp_push_reg(copy.data(), copy.size() * sizeof(copy[0]));
    bsp_sync();

    std::pair<int, double> own(me, me * 0.5);
    bsp_gather(p - 1, &own, pairs.data(), sizeof(std::pair<int, double>));
    bsp_bcast(p - 1, pairs.data(), copy.data(), pairs.size() * sizeof(pairs[0]));
    for (int pid = 0; pid < p; pid++)
        CHECK(copy[pid] == std::make_pair(pid, pid * 0.5));
    std::pair<int, double> back;
    bsp_scatter(0, copy.data(), &back, sizeof(back));
    CHECK(back == own);

    Range range = {double(-me), double(me * me)}, all, upto;
    bsp_fold(widen, &range, &all, sizeof(range));
    CHECK(all.low == 1 - p && all.high == (p - 1) * (p - 1));
    bsp_scan(widen, &range, &upto, sizeof(range));
    CHECK(upto.low == -me && upto.high == me * me);
    range.high = -me;
    bsp_sort(by_high, &range, &all, sizeof(range));
    CHECK(all.high == me - p + 1);

    long product = me + 1, factorial = 1;
    bsp_fold(
        [](void *result, void *left, void *right, int *) {
            *static_cast<long *>(result) = *static_cast<long *>(left) * *static_cast<long *>(right);
        },
        &product, &product, sizeof(product));
    for (int i = 2; i <= p; i++)
        factorial *= i;
    CHECK(product == factorial);

    CHECK(bsp_sumD(std::sqrt(4.0)) == 2.0 * p);
    CHECK(bsp_any(me == 0) && bsp_sortC(char('z' - me)) == 'z' - p + 1 + me);
    CHECK(bsp_s() > 0 && bsp_nhalf() > 0);
    CHECK(mine::bsp_sum(1) == 2);
    bsp_end();
    std::puts("ok");
    return 0;
}
