// C++ with the headers inside an extern "C" of the program's own, as most C++ programs for BSPlib have
// it, and under the name that MulticoreBSP gives them.
//
// @flags -std=c++98 -Wall -Wextra
// @flags -std=c++20 -Wall -Wextra -DMCBSP
// @flags -overridec++ clang++ -std=c++17 -Wall -Wextra
extern "C" {
#ifdef MCBSP
#include <mcbsp.h>
#else
#include <bsp.h>
#endif
#include <bsp_level1.h>
}

#include "check.h"

static void add(double *result, double *left, double *right, int *)
{
    *result = *left + *right;
}

int main()
{
    double value, sum = 0;
    double *payload;
    void *tag;
    int packets;

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    value = me + 1;
    bsp_push_reg(&value, sizeof(value));
    bsp_sync();
    bsp_fold(add, &value, &sum, sizeof(sum));
    CHECK(sum == p * (p + 1) / 2.0);
    CHECK(bsp_sumI(1) == p);
    bsp_send((me + 1) % p, NULL, &value, sizeof(value));
    bsp_sync();
    bsp_qsize(&packets, NULL);
    CHECK(packets == 1);
    CHECK(bsp_hpmove(&tag, &payload) == sizeof(value));
    bsp_put((me + 1) % p, &sum, &value, 0, sizeof(sum));
    bsp_sync();
    CHECK(value == sum);
    bsp_end();
    puts("ok");
    return 0;
}
