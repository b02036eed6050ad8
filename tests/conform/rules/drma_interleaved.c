/* DRMA: thousands of puts, gets and messages to all processes in turn, so that none of them lies
 * beside the one before for the same process, all arrive, in order.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { COUNT = 3000, MAX_P = 7 };
static int area[MAX_P][COUNT], fixed[COUNT], fetched[MAX_P][COUNT], shifted[MAX_P][COUNT];

static void issue_all(int me, int p)
{
    for (int i = 0; i < COUNT; i++)
        for (int to = 0; to < p; to++) {
            int value = me * 100000 + i, at = i * 7 % COUNT;

            bsp_put(to, &value, area[me], i * (int)sizeof(int), sizeof(int));
            bsp_send(to, NULL, &value, 1 + i % 4);
            bsp_get(to, fixed, at * (int)sizeof(int), &shifted[to][i], sizeof(int));
            bsp_get(to, fixed, i * (int)sizeof(int), &fetched[to][i], sizeof(int));
        }
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();

    for (int from = 0; from < MAX_P; from++)
        bsp_push_reg(area[from], sizeof area[from]);
    bsp_push_reg(fixed, sizeof fixed);
    for (int i = 0; i < COUNT; i++)
        fixed[i] = -(me * 100000 + i);
    bsp_sync();
    issue_all(me, p);
    bsp_sync();
    for (int from = 0; from < p; from++)
        for (int i = 0; i < COUNT; i++) {
            int status, value = from * 100000 + i, got = 0;

            CHECK_INT(area[from][i], value);
            CHECK_INT(fetched[from][i], -value);
            CHECK_INT(shifted[from][i], -(from * 100000 + i * 7 % COUNT));
            bsp_get_tag(&status, NULL);
            CHECK_INT(status, 1 + i % 4);
            bsp_move(&got, sizeof got);
            CHECK(memcmp(&got, &value, (size_t)status) == 0);
        }
    conform_done();
    bsp_end();
    return 0;
}
