/* Registration: a pop never touches the memory it names; it may be unmapped already, and the same
 * address may have been registered again before the barrier.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <sys/mman.h>

static char *page(char *wanted)
{
    char *got = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (got == MAP_FAILED)
        bsp_abort("mmap failed");
    return got;
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p;
    char *area = page(NULL), *again, letter = (char)('a' + me);

    bsp_push_reg(area, 4096);
    bsp_sync();
    bsp_put(right, &letter, area, 7, 1);
    bsp_sync();
    munmap(area, 4096);
    bsp_pop_reg(area); /* nothing is there any more */
    again = page(area);
    bsp_push_reg(again, 4096);
    bsp_sync();
    bsp_put(right, &letter, again, 4095, 1);
    bsp_sync();
    CHECK_INT(again[4095], 'a' + (me + p - 1) % p);
    bsp_pop_reg(again);
    munmap(again, 4096);
    bsp_sync();
    bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
