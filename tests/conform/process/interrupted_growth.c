/* Process model: a timer that is quicker than the kernel can provide the memory of a large superstep
 * delays it, but does not stop it.
 *
 * P: 1 2
 * MEMORY: 1
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <signal.h>
#include <sys/time.h>

#define BYTES (64 << 20)

static void tick(int signal_number)
{
    (void)signal_number;
}

int main(void)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    char *from = malloc(BYTES), *to = calloc(BYTES, 1);
    int p, me;

    CHECK(from && to);
    memset(from, 7, BYTES);
    sigaction(SIGALRM, &action, NULL);
    bsp_begin(0);
    p = bsp_nprocs();
    me = bsp_pid();
    bsp_push_reg(to, BYTES);
    bsp_sync();
    setitimer(ITIMER_REAL, &often, NULL);
    bsp_put((me + 1) % p, from, to, 0, BYTES);
    setitimer(ITIMER_REAL, &never, NULL);
    bsp_sync();
    CHECK(memcmp(from, to, BYTES) == 0);
    conform_done();
    bsp_end();
    return 0;
}
