/* Messages: bsp_hpmove points at tag and payload, both aligned to 16 for every tag size, which stay
 * valid until the next barrier; it returns the length, or -1 when nothing is left.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <stdint.h>

enum { COUNT = 6 };

static void round_with(int tag_size)
{
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int previous = tag_size;
    char tag[40], payload[40], *tags[COUNT], *payloads[COUNT];

    bsp_set_tagsize(&previous);
    bsp_sync();
    for (int k = 0; k < COUNT; k++) {
        memset(tag, 'a' + k, sizeof tag);
        memset(payload, 'A' + k + me, sizeof payload);
        bsp_send(right, tag, payload, 5 * k);
    }
    bsp_sync();
    for (int k = 0; k < COUNT; k++) {
        CHECK_INT(bsp_hpmove(&tags[k], &payloads[k]), 5 * k);
        CHECK_INT((uintptr_t)tags[k] % 16, 0);
        CHECK_INT((uintptr_t)payloads[k] % 16, 0);
    }
    void *no_tag, *no_payload;
    CHECK_INT(bsp_hpmove(&no_tag, &no_payload), -1);
    for (int k = 0; k < COUNT; k++) { /* all of them are still there */
        for (int i = 0; i < tag_size; i++)
            CHECK_INT(tags[k][i], 'a' + k);
        for (int i = 0; i < 5 * k; i++)
            CHECK_INT(payloads[k][i], 'A' + k + left);
    }
}

int main(void)
{
    bsp_begin(0);
    for (int tag_size = 0; tag_size <= 33; tag_size++)
        round_with(tag_size);
    conform_done();
    bsp_end();
    return 0;
}
