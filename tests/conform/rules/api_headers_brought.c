/* Header: bsp.h brings stdio.h, stddef.h, stdint.h and stdarg.h, under MulticoreBSP's name, too.
 *
 * CASE: bsp.h
 * OUT-EACH: pid ${i}: 8 3
 *
 * CASE: mcbsp.h
 * CC: -DMCBSP
 * OUT-EACH: pid ${i}: 8 3
 *
 * CASE: old C
 * CC: -std=gnu89
 * OUT-EACH: pid ${i}: 8 3
 */
#ifdef MCBSP
#include <mcbsp.h>
#else
#include <bsp.h>
#endif

static int last(int count, ...)
{
    va_list arguments;
    int value = 0;

    va_start(arguments, count);
    while (count-- > 0)
        value = va_arg(arguments, int);
    va_end(arguments);
    return value;
}

int main(void)
{
    uint64_t number = UINT64_C(1) << 40;
    ptrdiff_t difference = 0;

    bsp_begin(0);
    printf("pid %d: %d %d\n", bsp_pid(), (int)(sizeof number + (size_t)difference),
           last(3, 1, 2, 3));
    bsp_end();
    return 0;
}
