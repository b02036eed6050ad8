/* Life cycle: statics, globals and heap are private to each process.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

static int counter = 100;
int shared_looking[1000];

int main(void)
{
    int *heap = calloc(1000, sizeof(int));

    bsp_begin(0);
    counter += bsp_pid();
    for (int i = 0; i < 1000; i++) {
        shared_looking[i] = bsp_pid();
        heap[i] = -bsp_pid();
    }
    bsp_sync();
    CHECK_INT(counter, 100 + bsp_pid());
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(shared_looking[i], bsp_pid());
        CHECK_INT(heap[i], -bsp_pid());
    }
    conform_done();
    bsp_end();
    return 0;
}
