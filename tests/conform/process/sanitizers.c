/* Process model: a program built with the address and undefined behaviour sanitizers runs as
 * without; registering stack variables and popping them late is no reason for a complaint, and a
 * real fault of the program is reported.
 *
 * CC: -fsanitize=address,undefined -fno-omit-frame-pointer
 * P: 1 3
 *
 * CASE: clean
 * ARGS: clean
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: faulty
 * ARGS: faulty
 * STATUS: failed
 * ERR-RE: AddressSanitizer: heap-buffer-overflow
 */
#include "../check.h"

static int reverse(int x)
{
    bsp_push_reg(&x, sizeof x);
    bsp_sync();
    bsp_put(bsp_nprocs() - 1 - bsp_pid(), &x, &x, 0, sizeof x);
    bsp_sync();
    bsp_pop_reg(&x); /* x is gone before this takes effect */
    return x;
}

static int sum_of_block(const int *block, int length)
{
    int sum = 0;

    for (int i = 0; i < length; i++)
        sum += block[i];
    return sum;
}

int main(int argc, char **argv)
{
    int faulty = argc > 1 && strcmp(argv[1], "faulty") == 0;

    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), *block = malloc(10 * sizeof(int));

    for (int i = 0; i < 10; i++)
        block[i] = i;
    for (int round = 0; round < 5; round++)
        CHECK_INT(reverse(me), p - 1 - me);
    bsp_push_reg(block, 10 * sizeof(int));
    bsp_sync();
    bsp_hpput((me + 1) % p, block, block, 0, 10 * sizeof(int));
    bsp_send((me + 1) % p, NULL, block, 10 * sizeof(int));
    bsp_sync();
    bsp_pop_reg(block);
    CHECK_INT(sum_of_block(block, faulty ? 11 : 10), 45);
    free(block);
    bsp_sync();
    conform_done();
    bsp_end();
    return conform_end();
}
