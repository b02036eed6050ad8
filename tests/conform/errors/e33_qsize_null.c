/* Error 33: none.  NULL for a result of bsp_qsize says that it is not wanted, with every type of the
 * other one; that one is right.  (Other libraries took NULL for a mistake.)
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), packets = -1, bytes = -1, *nowhere = NULL;
    unsigned unsigned_packets = 77;
    size_t wide_packets = 77, wide_bytes = 77;

    for (int to = 0; to < p; to++)
        bsp_send(to, NULL, "payload", 7);
    bsp_sync();
    bsp_qsize(&packets, NULL);
    bsp_qsize(NULL, &bytes);
    CHECK_INT(packets, p);
    CHECK_INT(bytes, 7 * p);
    packets = bytes = -1;
    bsp_qsize(&packets, nowhere);
    bsp_qsize(nowhere, &bytes);
    CHECK_INT(packets, p);
    CHECK_INT(bytes, 7 * p);
    packets = -1;
    bsp_qsize(&packets, 0);
    CHECK_INT(packets, p);
    bsp_qsize(&unsigned_packets, NULL);
    CHECK_INT(unsigned_packets, p);
    bsp_qsize(&wide_packets, NULL);
    CHECK_INT((int)wide_packets, p);
    bsp_qsize(NULL, &wide_bytes);
    CHECK_INT((int)wide_bytes, 7 * p);
    bsp_qsize(NULL, NULL);
    packets = bytes = -1;
    (bsp_qsize)(&packets, NULL);
    (bsp_qsize)(NULL, &bytes);
    bsp_bsmp_info(NULL, &bytes);
    CHECK_INT(packets, p);
    CHECK_INT(bytes, 7 * p);
    conform_done();
    bsp_end();
    return 0;
}
