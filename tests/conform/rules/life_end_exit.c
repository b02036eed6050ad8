/* Life cycle: behind bsp_end only process 0 goes on; the others leave through exit(0), so their
 * atexit handlers run and their stdio is flushed; the job's status is that of process 0.
 *
 * STATUS: 7
 * OUT-EACH: pid ${i}: leaving
 * OUT-EACH: handler in ${i}
 * OUT-ANY: behind the end
 */
#include <bsp.h>
#include <stdlib.h>

static int me;

static void handler(void)
{
    printf("handler in %d\n", me);
}

int main(void)
{
    atexit(handler);
    bsp_begin(0);
    me = bsp_pid();
    printf("pid %d: leaving\n", me);
    bsp_end();
    printf("behind the end\n");
    return 7;
}
