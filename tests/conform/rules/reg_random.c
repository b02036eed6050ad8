/* Registration: random pushes and pops over few addresses, within and across supersteps, against a
 * model of the stack per address.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { ADDRESSES = 5, DEPTH = 400, ROUNDS = 200 };

static unsigned char area[ADDRESSES][64];
static unsigned long long state = 99;

static int below(int bound)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned)bound);
}

/* sizes[a] is the stack of registered sizes of address a, in program order. */
static int sizes[ADDRESSES][DEPTH], depth[ADDRESSES];

static void change(void)
{
    for (int k = below(6); k > 0; k--) {
        int a = below(ADDRESSES);

        if (depth[a] > 0 && (depth[a] >= DEPTH || below(2))) {
            bsp_pop_reg(area[a]);
            depth[a]--;
        } else {
            int size = 8 + 8 * below(7);

            bsp_push_reg(area[a], size);
            sizes[a][depth[a]++] = size;
        }
    }
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int effective_depth[ADDRESSES] = {0}, effective_size[ADDRESSES] = {0};

    for (int round = 0; round < ROUNDS; round++) {
        unsigned char value = (unsigned char)(round + me);

        for (int a = 0; a < ADDRESSES; a++) {
            effective_depth[a] = depth[a];
            effective_size[a] = depth[a] ? sizes[a][depth[a] - 1] : 0;
        }
        change();
        for (int a = 0; a < ADDRESSES; a++)
            if (effective_depth[a]) /* the last byte of the newest effective registration */
                bsp_put(right, &value, area[a], effective_size[a] - 1, 1);
        bsp_sync();
        for (int a = 0; a < ADDRESSES; a++)
            if (effective_depth[a])
                CHECK_INT(area[a][effective_size[a] - 1], (unsigned char)(round + left));
    }
    conform_done();
    bsp_end();
    return 0;
}
