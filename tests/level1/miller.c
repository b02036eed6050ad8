/* The Miller library: statics on both sides of the reference byte, and memory that is neither
 * static nor registered, are stored to and fetched from; reduction and broadcast.
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int in_bss[16];
static int in_data[16] = {1};
static double wide[1000];

static void subtract_later(double *result, double *left, double *right, int n)
{
    /* Composes x -> a*x + b. */
    for (int i = 0; i < n / (int)sizeof(double); i += 2) {
        result[i] = left[i] * right[i];
        result[i + 1] = left[i] * right[i + 1] + left[i + 1];
    }
}

static void store_and_fetch(int p, int me)
{
    int right = (me + 1) % p, left = (me + p - 1) % p;
    int mine = me + 100, got[2] = {0, 0};
    ptrdiff_t distance = (char *)&in_data[3] - &_bsp_miller_reference;
    int *heap = malloc(sizeof(int) * 4);

    CHECK(distance < 0 || (char *)&in_bss[0] - &_bsp_miller_reference != 0);
    bspstore(right, &mine, &in_bss[5], sizeof(int));
    bspstore(right, &mine, in_data + 3, sizeof(int));
    heap[1] = -1;
    bspsstep_end(1);
    CHECK(in_bss[5] == left + 100);
    CHECK(in_data[3] == left + 100);
    CHECK(in_bss[4] == 0 && in_bss[6] == 0);

    bspsstep(2);
    bspfetch(left, &in_bss[5], &got[0], sizeof(int));
    bspfetch(left, in_data + 3, got + 1, sizeof(int));
    bspsstep_end(2);
    CHECK(got[0] == (left + p - 1) % p + 100);
    CHECK(got[1] == got[0]);

    /* In a process that is a copy of the first, the same address is the same distance away. */
    static int *block;
    if (block == NULL)
        block = in_bss;
    (bspstore)(right, &me, &block[7], sizeof(int));
    bsp_sync();
    CHECK(in_bss[7] == left);
    free(heap);
}

static void reduce(int p, int me)
{
    double maps[4], total[4], expected[4] = {1, 0, 1, 0};

    for (int i = 0; i < 4; i++)
        maps[i] = 1 + (me + i) % 3;
    for (int pid = 0; pid < p; pid++)
        for (int i = 0; i < 4; i += 2) {
            expected[i + 1] = expected[i] * (1 + (pid + i + 1) % 3) + expected[i + 1];
            expected[i] *= 1 + (pid + i) % 3;
        }
    bspreduce(subtract_later, maps, total, sizeof(maps));
    CHECK(memcmp(total, expected, sizeof(total)) == 0);
}

static void broadcast(int p, int me)
{
    for (int root = 0; root < p; root++) {
        int word = me == root ? 4711 + root : -1, got = 0;
        bspbroadcast(root, &word, &got, sizeof(word));
        CHECK(got == 4711 + root);
        for (int i = 0; i < 1000; i++)
            wide[i] = me == root ? i + root : 0;
        bspbroadcast(root, wide, wide, sizeof(wide));
        for (int i = 0; i < 1000; i++)
            CHECK(wide[i] == i + root);
    }
}

/* The broadcast's own registration is gone, the program's counts again. */
static void broadcast_to_registered(int p, int me)
{
    double first = 0.5, last = me;

    bsp_push_reg(wide, sizeof(wide));
    bsp_sync();
    bspbroadcast(0, &first, wide, sizeof(first));
    bsp_sync();
    bsp_put((me + 1) % p, &last, wide, sizeof(wide) - sizeof(last), sizeof(last));
    bsp_sync();
    CHECK(wide[0] == 0.5 && wide[999] == (me + p - 1) % p);
    bsp_pop_reg(wide);
    bsp_sync();
}

int main(int argc, char **argv)
{
    int p = -1, me = -1;

    bspstart(argc, argv, 0, &p, &me);
    CHECK(p == bsp_nprocs() && me == bsp_pid());
    store_and_fetch(p, me);
    reduce(p, me);
    broadcast(p, me);
    broadcast_to_registered(p, me);
    CHECK(bspdtime() >= 0);
    double before = bsptime();
    CHECK(before > 0 && bsptime() >= before);
    bspfinish();
    puts("ok");
    return 0;
}
