/* Idiom 16: a function sets its own tag size, sends, reads one bsp_get_tag more than there are
 * messages, and sets the old size back without a barrier; it is called twice in a row.
 *
 * OUT-EACH: ${i}: first ${p} second ${p} restored 6
 */
#include "bsp.h"

int exchange()
{
    int tagsz = sizeof(int), status, tag, p = bsp_nprocs(), s = bsp_pid(), t, count = 0;
    double value;

    bsp_set_tagsize(&tagsz);
    bsp_sync();
    for (t = 0; t < p; t++) {
        value = 100.0 * s + t;
        bsp_send(t, &s, &value, sizeof(double));
    }
    bsp_sync();
    bsp_get_tag(&status, &tag);
    while (status != -1) {
        bsp_move(&value, sizeof(double));
        if (value == 100.0 * tag + s)
            count++;
        bsp_get_tag(&status, &tag);
    }
    bsp_set_tagsize(&tagsz);
    return count;
}

int main()
{
    int mine = 6, first, second, now = 0;

    bsp_begin(bsp_nprocs());
    bsp_set_tagsize(&mine);
    bsp_sync();
    first = exchange();
    second = exchange();
    bsp_set_tagsize(&now);
    printf("%d: first %d second %d restored %d\n", bsp_pid(), first, second, now);
    bsp_end();
    return 0;
}
