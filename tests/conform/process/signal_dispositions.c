/* Process model: in the SPMD part HUP, INT, TERM, USR1 and USR2 that were at default are ignored by
 * the program itself, handlers the program has set stay, and default is back behind bsp_end and in
 * programs it executes.
 *
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void own(int signal_number)
{
    (void)signal_number;
}

static void (*handler_of(int number))(int)
{
    struct sigaction now;

    sigaction(number, NULL, &now);
    return now.sa_handler;
}

static const int forwarded[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR2};

int main(void)
{
    signal(SIGUSR1, own);
    for (unsigned i = 0; i < 4; i++)
        signal(forwarded[i], SIG_DFL);
    bsp_begin(0);
    for (unsigned i = 0; i < 4; i++)
        raise(forwarded[i]); /* none of them ends the process */
    CHECK(handler_of(SIGUSR1) == own);
    CHECK(handler_of(SIGQUIT) == SIG_DFL && handler_of(SIGSEGV) == SIG_DFL);
    int status = system("kill -TERM $$; exit 4");

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    bsp_sync();
    conform_done();
    bsp_end();
    for (unsigned i = 0; i < 4; i++)
        CHECK(handler_of(forwarded[i]) == SIG_DFL);
    CHECK(handler_of(SIGUSR1) == own);
    return conform_end();
}
