/* DRMA: transfers of every size and alignment arrive byte for byte and touch nothing beside.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { SIZE = 200 };
static unsigned char area[SIZE], source[SIZE], fetched[SIZE];

static unsigned char value(int pid, int i)
{
    return (unsigned char)(pid * 31 + i * 7 + 1);
}

static void one(int offset, int length)
{
    int p = bsp_nprocs(), me = bsp_pid(), left = (me + p - 1) % p, right = (me + 1) % p;

    memset(area, 0, SIZE);
    memset(fetched, 0, SIZE);
    bsp_sync();
    bsp_put(right, source + length % 5, area, offset, length);
    bsp_sync();
    for (int i = 0; i < SIZE; i++)
        CHECK_INT(area[i],
                  i >= offset && i < offset + length ? value(left, i - offset + length % 5) : 0);
    bsp_get(right, area, offset, fetched + length % 3, length);
    bsp_sync();
    for (int i = 0; i < SIZE; i++)
        CHECK_INT(fetched[i], i >= length % 3 && i < length % 3 + length
                                  ? value(me, i - length % 3 + length % 5)
                                  : 0);
}

int main(void)
{
    bsp_begin(0);
    for (int i = 0; i < SIZE; i++)
        source[i] = value(bsp_pid(), i);
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (int length = 1; length < 40; length++)
        one(length * 3 % 17, length);
    conform_done();
    bsp_end();
    return 0;
}
