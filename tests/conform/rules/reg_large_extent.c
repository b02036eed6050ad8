/* Registration: sizes beyond two gigabytes are kept; offsets are 64-bit through the macros.
 *
 * P: 1 2
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <sys/mman.h>

int main(void)
{
    size_t size = 3UL << 30;
    char *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (area == MAP_FAILED)
        bsp_abort("mmap failed");
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid();
    char letter = (char)('a' + me), seen = 0;

    bsp_push_reg(area, size);
    bsp_sync();
    bsp_put((me + 1) % p, &letter, area, size - 1, 1);
    bsp_put((me + 1) % p, &letter, area, (2UL << 30) + 5, 1);
    bsp_sync();
    CHECK_INT(area[size - 1], 'a' + (me + p - 1) % p);
    CHECK_INT(area[(2UL << 30) + 5], 'a' + (me + p - 1) % p);
    bsp_get((me + 1) % p, area, size - 1, &seen, 1);
    bsp_sync();
    CHECK_INT(seen, 'a' + me);
    conform_done();
    bsp_end();
    return 0;
}
