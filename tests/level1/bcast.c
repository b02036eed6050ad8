/* bsp_bcast of every size and root, in one phase and in two, in place and not.
 *
 * @env BSP_SLG=100,1e9,1,1
 * @env BSP_SLG=100,1,1000,1
 * @env BSP_SLG=100,3000,12,8
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void fill(unsigned char *bytes, int n, unsigned seed)
{
    for (int i = 0; i < n; i++)
        bytes[i] = (unsigned char)next_number(&seed);
}

static void one_size(int n)
{
    int p = bsp_nprocs(), me = bsp_pid();
    unsigned char *src = malloc((size_t)n + 1), *dst = malloc((size_t)n + 1);
    unsigned char *expected = malloc((size_t)n + 1);

    bsp_push_reg(dst, n);
    bsp_sync();
    for (int root = 0; root < p; root++) {
        fill(expected, n, (unsigned)(n + root));
        memset(src, 0, (size_t)n);
        memset(dst, 0xee, (size_t)n + 1);
        if (me == root)
            memcpy(src, expected, (size_t)n);
        bsp_bcast(root, me == root ? src : NULL, dst, n);
        CHECK(memcmp(dst, expected, (size_t)n) == 0);
        CHECK(dst[n] == 0xee);

        memset(dst, me == root ? 0 : 0xee, (size_t)n);
        if (me == root)
            memcpy(dst, expected, (size_t)n);
        bsp_bcast(root, dst, dst, n);
        CHECK(memcmp(dst, expected, (size_t)n) == 0);
        CHECK(dst[n] == 0xee);
    }
    bsp_pop_reg(dst);
    bsp_sync();
    free(src);
    free(dst);
    free(expected);
}

int main(void)
{
    static const int sizes[] = {0, 1, 3, 7, 8, 100, 4096, 65537, 1000003};

    bsp_begin(0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        one_size(sizes[i]);
    bsp_end();
    puts("ok");
    return 0;
}
