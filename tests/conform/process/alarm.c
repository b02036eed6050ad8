/* Process model: an alarm set before bsp_begin stays with process 0; with no handler it ends the
 * job, which then names it.
 *
 * CASE: handled
 * ARGS: handled
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: default
 * ARGS: default
 * P: 1 3
 * STATUS: failed
 * ERR-RE: (?i)pid 0\b.*(has died|signal 14|alarm|SIGALRM)
 */
#include "../check.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t rings;

static void ring(int signal_number)
{
    (void)signal_number;
    rings++;
}

int main(int argc, char **argv)
{
    struct itimerval soon = {{0, 0}, {0, 200000}}, now;
    sigset_t blocked, before;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    if (argc > 1 && strcmp(argv[1], "handled") == 0)
        signal(SIGALRM, ring);
    setitimer(ITIMER_REAL, &soon, NULL);
    bsp_begin(0);
    if (bsp_pid() == 0) {
        while (rings == 0)
            sigsuspend(&before);
    } else {
        getitimer(ITIMER_REAL, &now);
        CHECK(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    bsp_sync();
    CHECK_INT(rings, bsp_pid() == 0);
    conform_done();
    bsp_end();
    return conform_end();
}
