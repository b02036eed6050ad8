/* program.c - a BSP program that does nothing. */
#include <bsp.h>

int main(void)
{
    bsp_begin(bsp_nprocs());
    bsp_end();
    return 0;
}
