/* Process model: signals with handlers arrive while a process waits in bsp_sync and do no harm.
 *
 * P: 1 2 4
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void tick(int signal_number)
{
    (void)signal_number;
    ticks++;
}

int main(void)
{
    struct sigaction action = {.sa_handler = tick}; /* without SA_RESTART */
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int value = 0, p, me;

    sigaction(SIGALRM, &action, NULL);
    bsp_begin(0);
    p = bsp_nprocs();
    me = bsp_pid();
    bsp_push_reg(&value, sizeof value);
    bsp_sync();
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 1;; round++) {
        int go_on = 1;

        /* as long as process 0 wants: everybody does the same number of rounds */
        value = 0;
        bsp_sync();
        if (me == 0 && (round + 1 < 500 || ticks < 20))
            for (int to = 0; to < p; to++)
                bsp_put(to, &go_on, &value, 0, sizeof go_on);
        bsp_sync();
        if (!value)
            break;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
