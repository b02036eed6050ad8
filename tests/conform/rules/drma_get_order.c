/* DRMA: the results of one process's gets are written in the order in which it issued them,
 * whoever owns the data: where destinations overlap, the last one stays.  Gets that continue each
 * other share a request, and those of many processes are noted in more than one block.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

#define MANY 1000

static int values[MANY], got[MANY + 1], expected[MANY + 1];

/* The value of element k of process `owner`. */
static int value(int owner, int k)
{
    return 10000 * owner + k;
}

static void descending(int p)
{
    int target = 0, twice = 0;

    for (int k = 0; k < p; k++)
        bsp_get((p - k) % p, values, 0, &target, sizeof(int));
    bsp_get(p - 1, values, 0, &twice, sizeof(int));
    bsp_get(p - 1, values, sizeof(int), &twice, sizeof(int));
    bsp_sync();
    CHECK_INT(target, value(p > 1 ? 1 : 0, 0));
    CHECK_INT(twice, value(p - 1, 1));
}

/* The gets from one owner continue each other, and one from another lies between any two of them and
 * over both. */
static void interleaved(int p)
{
    for (int k = 0; k < MANY; k++) {
        bsp_get(p - 1, values, k * (int)sizeof(int), &got[k], sizeof(int));
        expected[k] = value(p - 1, k);
        if (k % 7 == 3) {
            bsp_get(k % p, values, (k - 1) * (int)sizeof(int), &got[k], 2 * sizeof(int));
            expected[k] = value(k % p, k - 1);
            expected[k + 1] = value(k % p, k);
        }
    }
    bsp_sync();
    for (int k = 0; k < MANY; k++)
        CHECK_INT(got[k], expected[k]);
}

/* From all in turn, each into a part of its own, but for the last byte of the last one. */
static void touching(int p)
{
    static char parts[8 * 1000 + 8];
    char last = 0;

    for (int k = 0; k < MANY / p; k++)
        for (int from = p - 1; from >= 0; from--)
            bsp_get(from, values, k * (int)sizeof(int), parts + from * (MANY / p * 4) + 4 * k, 4);
    bsp_get(0, values, 4, parts + (MANY / p * 4) - 1, 4);
    bsp_sync();
    for (int from = 0; from < p; from++)
        for (int k = 0; k < MANY / p; k++) {
            int is;

            memcpy(&is, parts + from * (MANY / p * 4) + 4 * k, 4);
            if (k > 0 && k < MANY / p - 1)
                CHECK_INT(is, value(from, k));
        }
    memcpy(&last, parts + (MANY / p * 4) + 2, 1);
    CHECK_INT(last, 0); /* the highest byte of 1 */
    memcpy(&last, parts + (MANY / p * 4) - 1, 1);
    CHECK_INT(last, 1);
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs();

    for (int k = 0; k < MANY; k++)
        values[k] = value(bsp_pid(), k);
    bsp_push_reg(values, sizeof values);
    bsp_sync();
    descending(p);
    interleaved(p);
    touching(p);
    interleaved(p);
    conform_done();
    bsp_end();
    return 0;
}
