/* Process model: SIGCHLD ignored (or blocked) before bsp_begin neither disturbs the start nor is
 * changed by it.
 *
 * CASE: ignored
 * ARGS: ignored
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: blocked
 * ARGS: blocked
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void unchanged(int ignored)
{
    struct sigaction now;
    sigset_t mask, pending;

    sigaction(SIGCHLD, NULL, &now);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    CHECK(now.sa_handler == (ignored ? SIG_IGN : SIG_DFL));
    CHECK_INT(sigismember(&mask, SIGCHLD), !ignored);
    CHECK_INT(sigismember(&pending, SIGCHLD), 0);
}

int main(int argc, char **argv)
{
    int ignored = argc > 1 && strcmp(argv[1], "ignored") == 0;
    sigset_t mask;

    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    if (ignored)
        signal(SIGCHLD, SIG_IGN);
    else
        sigprocmask(SIG_BLOCK, &mask, NULL);
    bsp_begin(0);
    unchanged(ignored);
    bsp_sync();
    if (ignored && fork() == 0)
        _exit(0);
    CHECK_INT(wait(NULL), -1); /* where it is ignored, the child is reaped by itself */
    conform_done();
    bsp_end();
    unchanged(ignored);
    return conform_end();
}
